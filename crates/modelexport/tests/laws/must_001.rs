//! MUST-001: no architecture, layer, node or parameter name in the logic.
//!
//! The product's sources are scanned, without comments and tests, for names that only models have: those of known
//! architectures, and those of the classes, modules and parameters of the fixtures.

use std::collections::{BTreeMap, BTreeSet};

use modelexport::policy::DEFAULT_TORCH_NN_EXCEPTIONS;

use crate::fixtures;
use crate::source_scan::{Token, sources, tokens, words};

/// Names of architectures that are no other word of this field.
const ARCHITECTURES: &[&str] = &[
    "albert",
    "bart",
    "beit",
    "bert",
    "convnext",
    "deberta",
    "deepseek",
    "deit",
    "densenet",
    "detr",
    "distilbert",
    "efficientnet",
    "falcon",
    "gemma",
    "gpt",
    "gpt2",
    "inception",
    "llama",
    "mamba",
    "mistral",
    "mixtral",
    "mobilenet",
    "qwen",
    "resnet",
    "resnext",
    "roberta",
    "segformer",
    "squeezenet",
    "swin",
    "t5",
    "unet",
    "vgg",
    "wav2vec2",
    "whisper",
    "yolo",
];

/// What the models of the fixtures call their parts.
struct ModelNames {
    /// Classes of model libraries, such as `BertSelfOutput`.
    classes: BTreeSet<String>,
    /// Attributes that hold modules, of several words such as `word_embeddings`; those of one word (`head`) are
    /// ordinary words too.
    attributes: BTreeSet<String>,
    /// Qualified names of modules and parameters with a dot, such as `encoder.layer.0`.
    paths: BTreeSet<String>,
}

impl ModelNames {
    fn of_fixtures() -> ModelNames {
        let mut names =
            ModelNames { classes: BTreeSet::new(), attributes: BTreeSet::new(), paths: BTreeSet::new() };
        for (_, hierarchy) in fixtures::all() {
            for (_, module) in hierarchy.tree.iter() {
                let library = module.class.split('.').next().unwrap_or_default();
                // A module that never ran has no class in the archive.
                if !["", "torch", "fixtures"].contains(&library) {
                    names.classes.insert(module.class_name().to_owned());
                }
                let parameters = module.parameters.iter().map(|parameter| &*parameter.name);
                for path in parameters.chain([&*module.path]).filter(|path| path.contains('.')) {
                    names.paths.insert(path.to_owned());
                }
                // A model chooses what it calls its modules; what a parameter of them is called, their class does.
                names
                    .attributes
                    .extend(module.path.split('.').filter(|part| part.contains('_')).map(str::to_owned));
            }
        }
        // Operators have arguments and results of such names; the registry may say them.
        for row in modelexport_lower::registry::rows() {
            for parameter in modelexport_lower::schema::parameters(row.schema()) {
                names.attributes.remove(parameter.name);
            }
        }
        for exception in DEFAULT_TORCH_NN_EXCEPTIONS {
            names.classes.remove(exception);
        }
        names
    }

    /// Why `token` may not stand in the logic.
    fn objection(&self, token: &Token) -> Option<String> {
        if let Some(word) = words(&token.text).iter().find(|word| ARCHITECTURES.contains(&word.as_str())) {
            return Some(format!("names the architecture {word}"));
        }
        if !token.is_literal {
            return None;
        }
        let parts = || token.text.split(|c: char| !c.is_alphanumeric() && c != '_');
        if let Some(class) = parts().find(|part| self.classes.contains(*part)) {
            return Some(format!("names the class {class} of a model"));
        }
        if let Some(attribute) = parts().find(|part| self.attributes.contains(*part)) {
            return Some(format!("names the module {attribute} of a model"));
        }
        self.paths.get(&token.text).map(|path| format!("names {path} of a model"))
    }
}

#[test]
fn sources_name_no_model_and_no_part_of_one() {
    let names = ModelNames::of_fixtures();
    let crates = fixtures::repository().join("crates");
    let files = sources(&crates);
    assert!(files.len() > 50, "only {} sources below {}", files.len(), crates.display());
    let mut objections: BTreeMap<String, String> = BTreeMap::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("sources are text");
        for token in tokens(&text) {
            if let Some(why) = names.objection(&token) {
                let place = file.strip_prefix(&crates).unwrap_or(&file).display().to_string();
                objections.insert(format!("{place}:{}", token.line), format!("{:?} {why}", token.text));
            }
        }
    }
    assert!(objections.is_empty(), "{objections:#?}");
}

#[test]
fn each_kind_of_name_is_recognised() {
    let names = ModelNames::of_fixtures();
    let objects_to = |text: &str, is_literal: bool| {
        names.objection(&Token { line: 1, text: text.to_owned(), is_literal }).is_some()
    };
    assert!(objects_to("is_bert", false));
    assert!(objects_to("BertModel", false));
    assert!(objects_to("/BertModel/Layer", true));
    assert!(objects_to("MixtralSparseMoeBlock", true));
    assert!(objects_to("word_embeddings", true));
    assert!(objects_to("recurrent.norm.weight", true));
    assert!(!objects_to("the weight of a norm", true));
    assert!(!objects_to("LayerNorm", true));
    assert!(!objects_to("word_embeddings", false), "an identifier is the author's own");
}
