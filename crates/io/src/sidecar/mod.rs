//! The sidecar `<stem>_hierarchy.json`: modules, nodes and their relations, for tools that do not read ONNX.
//!
//! The types here define the format: `docs/sidecar.schema.json` is generated from them. The file contains nothing that
//! differs between two exports of the same input (no time, no folder), so its bytes are reproducible.

mod fit;
mod read;
mod write;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use modelexport_graph::{Method, Name, module_tree};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use fit::{Fit, FitInterface, FitOperators, FitParameters};
pub use read::{Error, MAX_BYTES, parse, read};
pub use write::{GiveLines, NodeLines, TakeLines};

/// Version of the format. Readers accept every minor version of the same major one.
pub const SCHEMA_VERSION: &str = "1.0";

/// Where the sidecar of `model.onnx` lies: `model_hierarchy.json` beside it.
pub fn path_beside(onnx: &Path) -> PathBuf {
    let mut name = onnx.file_stem().unwrap_or_default().to_owned();
    name.push("_hierarchy.json");
    onnx.with_file_name(name)
}

/// What modelexport knows about the nodes of an ONNX file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "modelexport sidecar")]
pub struct Sidecar {
    /// `major.minor`.
    pub schema_version: String,
    pub generator: Generator,
    pub source: Source,
    /// How the nodes' modules were found: `native`, or the name of a strategy.
    pub strategy: String,
    pub policy: Policy,
    /// The root first, parents before children.
    pub modules: Vec<Module>,
    /// In the order of the file, subgraphs after the node that holds them, functions last.
    pub nodes: Vec<Node>,
    pub statistics: Statistics,
}

/// The program that wrote the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Generator {
    pub name: String,
    pub version: String,
}

/// What the ONNX file was made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// `pt2`, `onnx` or `module` (a live `nn.Module`).
    pub kind: String,
    /// The file's name without its folder; absent for a live module.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The version of PyTorch that captured the model, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torch_version: Option<String>,
}

/// Which modules show in tags, and in which form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Policy {
    /// The preset: `model`, `huggingface` or `all`.
    pub modules: String,
    /// Classes of `torch.nn` that show although the preset hides `torch.nn`.
    pub torch_nn_exceptions: Vec<String>,
    /// The rules file's name without its folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<String>,
    /// `instance` or `class`.
    pub tag_format: String,
}

/// One `nn.Module` instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Module {
    /// Qualified path, such as `encoder.layer.0`; empty for the root.
    pub path: Name,
    /// Other paths under which the model holds the same instance, where a trace told them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<Name>,
    /// `package.module.Class`; empty if nothing told it.
    pub class: Name,
    /// The tag of its nodes: its own, or that of the nearest module above that shows in tags.
    pub tag: Name,
    /// Whether the module itself is a segment of tags.
    pub visible: bool,
    /// Path of the module that holds this one; `null` for the root.
    pub parent: Option<Name>,
    pub executed: bool,
    /// Position in the order of first execution; `null` if not executed.
    pub order: Option<u32>,
    /// How often the model called it.
    pub calls: u32,
    /// Its own parameters and buffers, not those of modules below.
    pub parameters: Vec<Parameter>,
    pub nodes: NodeCount,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Parameter {
    /// Qualified: `encoder.layer.0.attention.self.query.weight`.
    pub name: Name,
    pub elements: u64,
    pub bytes: u64,
    /// A buffer or constant, not trained.
    pub buffer: bool,
    /// The name under which the same tensor is listed before; absent if this is the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tied_to: Option<Name>,
}

impl From<&Parameter> for module_tree::Parameter {
    fn from(entry: &Parameter) -> Self {
        module_tree::Parameter {
            name: entry.name.clone(),
            elements: entry.elements,
            bytes: entry.bytes,
            is_buffer: entry.buffer,
            tied_to: entry.tied_to.clone(),
        }
    }
}

impl From<&module_tree::Parameter> for Parameter {
    fn from(parameter: &module_tree::Parameter) -> Self {
        Parameter {
            name: parameter.name.clone(),
            elements: parameter.elements,
            bytes: parameter.bytes,
            buffer: parameter.is_buffer,
            tied_to: parameter.tied_to.clone(),
        }
    }
}

/// ONNX nodes of a module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeCount {
    /// Nodes that ran in the module itself.
    pub own: u64,
    /// These and the nodes of all modules below.
    pub total: u64,
}

/// One ONNX node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    pub name: Name,
    /// With its domain before it unless that is ONNX's own: `com.microsoft.Gelu`.
    pub op_type: Name,
    /// Path of the deepest module whose call made the node.
    pub module: Name,
    /// Which call of each module, from the root down to `module`: `[0, 1]` is the second call of a child of the
    /// root. Absent if all are first calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<u32>,
    /// The tag.
    pub path: Name,
    /// The tag, and the tags that rules add.
    pub tags: Vec<Name>,
    pub method: Method,
    /// From 0 (a guess) to 1 (certain).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: f32,
    /// The ATen node that the node was made for; absent if it stands for several or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Name>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Statistics {
    pub modules: u64,
    pub executed_modules: u64,
    /// Modules that show in tags.
    pub visible_modules: u64,
    /// Elements of the parameters of all modules, whatever the file holds of them. One that is tied counts once.
    #[serde(default)]
    pub parameters: u64,
    /// All nodes of the file, subgraphs and functions included.
    pub nodes: u64,
    /// Nodes that have a module.
    pub attributed_nodes: u64,
    /// `attributed_nodes / nodes`, from 0 to 1; 1 for a file without nodes.
    pub coverage: f64,
    /// Nodes whose tag ends in a module that the policy chose. A root that shows only because a root always does
    /// is not counted.
    pub tagged_operations: u64,
    /// Nodes by method; methods that did not occur are left out.
    pub by_method: BTreeMap<String, u64>,
    /// Time that the work took. Absent where reproducible bytes matter more, as in every export.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// How well the evidence fitted the graph; absent where no evidence was needed, as in every export.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit>,
}

/// The JSON Schema of the format, as text.
pub fn json_schema() -> Result<String, serde_json::Error> {
    let schema = schemars::schema_for!(Sidecar);
    serde_json::to_string_pretty(&schema).map(|text| text + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn method_names_are_those_of_the_shared_type() {
        for method in Method::ALL {
            let text = serde_json::to_string(&method).expect("serialises");
            assert_eq!(text, format!("\"{}\"", method.name()));
        }
    }

    /// `BLESS=1 cargo test -p modelexport_io` rewrites the file.
    #[test]
    fn published_schema_is_fresh() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sidecar.schema.json");
        let expected = json_schema().expect("serialises");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(path, &expected).expect("docs can be written");
        }
        let found = std::fs::read_to_string(path).unwrap_or_default();
        assert_eq!(found, expected, "docs/sidecar.schema.json is stale: run `BLESS=1 cargo test sidecar`");
    }
}
