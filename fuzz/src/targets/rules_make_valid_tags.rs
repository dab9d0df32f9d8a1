use std::collections::HashSet;
use std::path::Path;
use std::sync::OnceLock;

use modelexport::TaggedFile;
use modelexport::policy::Policy;
use modelexport::rules;
use modelexport::tags::{TagFormat, Tags};
use modelexport_graph::{ModuleTree, check_tag};

use crate::mutate::{self, text};
use crate::{Target, Verdict, files, seeds};

pub static TARGET: Target = Target {
    name: "rules_make_valid_tags",
    property: "With any rules that are accepted, tags are valid and no two visible modules share one; a refusal names the file.",
    seeds: Vec::new,
    mutate: |input, random| {
        mutate::formatted(input, random, |input, random| text::mutate(input, random, &WORDS))
    },
    check,
};

const WORDS: [&str; 38] = [
    "extends",
    "=",
    "\"model\"",
    "\"all\"",
    "\"huggingface\"",
    "torch-nn-exceptions",
    "include",
    "exclude",
    "boundaries",
    "[[rename]]",
    "[[domain]]",
    "[[operator]]",
    "class",
    "name",
    "operator",
    "tag",
    "target",
    "domain",
    "op-type",
    "version",
    "\n",
    "\"*\"",
    "\"class:*\"",
    "\"**\"",
    "\"{a,b}\"",
    "\"[!a]\"",
    "\"\\\\\"",
    "\"/a/b\"",
    "\"\"",
    "[",
    "]",
    "{",
    "}",
    ",",
    "'",
    "\"\"\"",
    "1",
    "9223372036854775808",
];

fn check(input: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(input) else { return Verdict::Refused };
    let rules = match rules::parse(text, Path::new("rules.toml")) {
        Ok(rules) => rules,
        Err(error) => {
            files::assert_names(&error.to_string(), "rules.toml");
            return Verdict::Refused;
        }
    };
    let tree = tree();
    let policy = Policy::new(None, None, rules);
    policy.boundaries(tree);
    let tags = Tags::new(tree, &policy, TagFormat::Instance);
    let mut seen = HashSet::new();
    for (id, module) in tree.iter() {
        let tag = tags.tag(id);
        assert_eq!(check_tag(tag), Ok(()), "the tag of {:?} is {tag:?}", module.path);
        assert!(!tags.is_visible(id) || seen.insert(tag), "two modules have the tag {tag:?}");
    }
    Verdict::Accepted
}

fn tree() -> &'static ModuleTree {
    static TREE: OnceLock<ModuleTree> = OnceLock::new();
    TREE.get_or_init(|| {
        let path = seeds::exported_fixture("bert_tiny", &files::folder("rules"));
        TaggedFile::open(&path).expect("an export has tags").hierarchy.tree
    })
}
