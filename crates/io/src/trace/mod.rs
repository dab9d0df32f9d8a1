//! The trace: a record of one forward pass of a live model, written by `modelexport.TracingHierarchyBuilder`.
//!
//! Strategies use it as evidence. It lists the modules, the calls between them, and every operator in order with its module
//! call, inputs and outputs. The types here define the format: `docs/trace.schema.json` is generated from them, and
//! `docs/trace.md` explains it. A trace contains nothing that differs between two runs on the same model and inputs (no
//! addresses, no time, no folder).

mod fingerprint_text;
mod read;
mod records;
mod recurring_name;

use std::collections::BTreeMap;

use modelexport_graph::Name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::document::Error;
pub use crate::sidecar::Generator;
pub use read::{MAX_BYTES, parse, read};
pub use records::{OpView, Ops, TensorView, Tensors};

/// Version of the format. Readers accept every minor version of the same major one.
pub const SCHEMA_VERSION: &str = "1.0";

/// What one forward pass of a model did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "modelexport trace")]
pub struct Trace {
    /// `major.minor`.
    pub schema_version: String,
    pub generator: Generator,
    pub torch_version: String,
    /// All modules, executed or not: the root first, parents before children.
    pub modules: Vec<Module>,
    /// Every tensor that an operator read or made, in the order in which they were first seen.
    #[schemars(with = "Vec<Tensor>")]
    pub tensors: Tensors,
    /// Module calls, in the order in which they began. The first is the call of the root.
    pub calls: Vec<Call>,
    /// Operators in the order in which they ran.
    #[schemars(with = "Vec<Op>")]
    pub ops: Ops,
    /// Tensors that the user gave, in the order of the arguments.
    pub inputs: Vec<Binding>,
    /// Tensors that the model returned, in order.
    pub outputs: Vec<Binding>,
}

/// One `nn.Module` instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Module {
    /// Qualified path, such as `encoder.layer.0`; empty for the root.
    pub path: Name,
    /// Other paths under which the model holds the same instance.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<Name>,
    /// `package.module.Class`.
    #[serde(deserialize_with = "recurring_name::deserialize")]
    pub class: Name,
    pub executed: bool,
    /// Position in the order of first execution; `null` if not executed.
    pub order: Option<u32>,
    /// How often it was called.
    pub calls: u32,
    /// Its own tensors, not those of modules below.
    pub parameters: Vec<Parameter>,
}

/// A tensor that a module holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Parameter {
    /// Qualified: `encoder.layer.0.attention.self.query.weight`.
    pub name: Name,
    pub kind: ParameterKind,
    pub shape: Vec<u64>,
    /// PyTorch's name without `torch.`, such as `float32`.
    #[serde(deserialize_with = "recurring_name::deserialize")]
    pub dtype: Name,
    /// The content regardless of the order of elements; absent where it cannot be read (the meta device, sparse and
    /// quantised tensors).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<FingerprintSum>,
    /// The name under which the same tensor is listed before; absent if this is the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tied_to: Option<Name>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ParameterKind {
    Parameter,
    Buffer,
    /// A plain attribute that holds a tensor.
    Constant,
}

/// The sum of a [`Fingerprint`](crate::fingerprint::Fingerprint), as 16 hexadecimal digits; element type and number of
/// elements stand beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FingerprintSum(pub u64);

/// A tensor during the pass. What an in-place operator returns is another entry, in the same memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tensor {
    pub shape: Vec<u64>,
    /// PyTorch's name without `torch.`, such as `float32`.
    #[serde(deserialize_with = "recurring_name::deserialize")]
    pub dtype: Name,
    /// Entries with the same number share memory: views, and what in-place operators return.
    pub storage: u32,
    pub origin: Origin,
}

/// Where a tensor comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The operator with this index made it, the first of those that list it among their outputs.
    Op(u32),
    /// The parameter, buffer or tensor attribute with this name. Of tied ones, the first name.
    Parameter(Name),
    /// The user's input with this name.
    Input(Name),
    /// A tensor that came from neither: made outside of operators, such as `torch.tensor([1, 2])`.
    Constant {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fingerprint: Option<FingerprintSum>,
    },
}

/// One call of a module, inside the call that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Call {
    /// Index into `modules`.
    pub module: u32,
    /// 0 for the first call of this instance, 1 for the next.
    pub number: u32,
    /// Index into `calls`; `null` for the call of the root.
    pub parent: Option<u32>,
}

/// One operator that ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Op {
    /// Namespace, operator and overload, such as `aten.linear.default`.
    #[serde(deserialize_with = "recurring_name::deserialize")]
    pub target: Name,
    /// The innermost module call that it ran in: index into `calls`.
    pub call: u32,
    /// Tensors that it read, in the order of its schema. Tensors of a list repeat the argument's name.
    pub inputs: Vec<Input>,
    /// The other arguments that were given, by name. Element types, devices, layouts and memory formats are text
    /// (`float32`, `cpu`); numbers that JSON lacks are `"Infinity"`, `"-Infinity"` and `"NaN"`. A list of tensors is here
    /// only if some were left out, as `null` between `{"tensor": 3}`. What is nothing of that kind is `{"type": "…"}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: BTreeMap<String, serde_json::Value>,
    /// Tensors that it returned, in order, lists flattened; `null` for a result that is no tensor. An operator that had
    /// nothing to do returns its input, and one that runs others (`higher_order.cond`) what they made.
    pub outputs: Vec<Option<u32>>,
    /// Tensors among its inputs whose memory it wrote to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mutates: Vec<u32>,
}

/// A tensor argument of an operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Input {
    /// The argument's name in the operator's schema.
    #[serde(deserialize_with = "recurring_name::deserialize")]
    pub argument: Name,
    /// Index into `tensors`.
    pub tensor: u32,
}

/// A tensor at the border of the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Binding {
    /// The argument's name, with keys and positions inside it after underscores (`past_0_1`); for outputs the key
    /// that the model gave (`last_hidden_state`), or `output`.
    pub name: Name,
    /// Index into `tensors`.
    pub tensor: u32,
}

/// The JSON Schema of the format, as text.
pub fn json_schema() -> Result<String, serde_json::Error> {
    let schema = schemars::schema_for!(Trace);
    serde_json::to_string_pretty(&schema).map(|text| text + "\n")
}

#[cfg(test)]
mod tests;
