use std::sync::OnceLock;

use modelexport::TaggedFile;

use crate::mutate::{self, text};
use crate::{Target, Verdict, files, seeds};

pub static TARGET: Target = Target {
    name: "selectors_choose_or_explain",
    property: "A selector chooses modules in the order of the tree, or says which of its parts chooses nothing and why.",
    seeds: Vec::new,
    mutate: |input, random| {
        mutate::formatted(input, random, |input, random| text::mutate(input, random, &WORDS))
    },
    check,
};

const WORDS: [&str; 34] = [
    "encoder",
    "layer",
    "embeddings",
    "attention",
    "self",
    "query",
    "pooler",
    "0",
    "1",
    ".",
    "*",
    "**",
    "?",
    ",",
    "class:",
    "depth:",
    "/",
    "/BertModel",
    "BertLayer",
    "BertLayer.0",
    "Linear",
    "torch.nn.modules",
    "{",
    "}",
    "[",
    "]",
    "!",
    "\\",
    "-",
    "a",
    "18446744073709551616",
    " ",
    "é",
    "^",
];

fn check(input: &[u8]) -> Verdict {
    let Ok(selector) = std::str::from_utf8(input) else { return Verdict::Refused };
    let file = file();
    match file.select(selector) {
        Ok(chosen) => {
            assert!(!chosen.is_empty(), "a selector chooses nothing and is no error");
            assert!(chosen.is_sorted_by(|a, b| a < b), "modules out of order or twice: {chosen:?}");
            Verdict::Accepted
        }
        Err(error) => {
            let message = error.to_string();
            let named = format!("{}: selector ", file.path.display());
            assert!(message.starts_with(&named), "{message}");
            Verdict::Refused
        }
    }
}

fn file() -> &'static TaggedFile {
    static FILE: OnceLock<TaggedFile> = OnceLock::new();
    FILE.get_or_init(|| {
        let path = seeds::exported_fixture("bert_tiny", &files::folder("selectors"));
        TaggedFile::open(&path).expect("an export has tags")
    })
}
