//! The JSON of an exported program, as defined by `torch/_export/serde/schema.py`.
//!
//! Fields that are not needed are omitted. Unknown fields are ignored, because torch adds fields in compatible minor
//! versions.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::json::{Bound, Float, Map, Pieces, Text};

pub(super) use super::argument::{Argument, GraphArgument};

#[derive(Deserialize)]
pub(super) struct ExportedProgram<'a> {
    #[serde(borrow)]
    pub graph_module: GraphModule<'a>,
    #[serde(borrow)]
    pub range_constraints: Map<'a, RangeConstraint>,
    pub schema_version: SchemaVersion,
    #[serde(borrow, default)]
    pub torch_version: Text<'a>,
}

/// Only the versions, for programs that cannot be read otherwise.
#[derive(Deserialize)]
pub(super) struct VersionsOnly<'a> {
    pub schema_version: SchemaVersion,
    #[serde(borrow, default)]
    pub torch_version: Text<'a>,
}

#[derive(Deserialize, Clone, Copy)]
pub(super) struct SchemaVersion {
    pub major: i64,
    pub minor: i64,
}

#[derive(Deserialize)]
pub(super) struct RangeConstraint {
    pub min_val: Bound,
    pub max_val: Bound,
}

#[derive(Deserialize)]
pub(super) struct GraphModule<'a> {
    #[serde(borrow)]
    pub graph: Graph<'a>,
    #[serde(borrow)]
    pub signature: GraphSignature<'a>,
    #[serde(borrow)]
    pub module_call_graph: Vec<ModuleCallEntry<'a>>,
    #[serde(borrow, default)]
    pub treespec_namedtuple_fields: Map<'a, NamedTupleDef<'a>>,
}

#[derive(Deserialize)]
pub(super) struct NamedTupleDef<'a> {
    #[serde(borrow)]
    pub field_names: Vec<Text<'a>>,
}

#[derive(Deserialize)]
pub(super) struct ModuleCallEntry<'a> {
    #[serde(borrow)]
    pub fqn: Text<'a>,
    #[serde(borrow, default)]
    pub signature: Option<ModuleCallSignature<'a>>,
}

#[derive(Deserialize)]
pub(super) struct ModuleCallSignature<'a> {
    #[serde(borrow)]
    pub in_spec: Text<'a>,
    #[serde(borrow)]
    pub out_spec: Text<'a>,
    #[serde(borrow, default)]
    pub forward_arg_names: Option<Vec<Text<'a>>>,
}

/// The metadata of a tensor is long and repeats from layer to layer, so it stays as it stands in the JSON until a new
/// one is met.
#[derive(Deserialize)]
pub(super) struct Graph<'a> {
    #[serde(borrow)]
    pub inputs: Vec<Argument<'a>>,
    #[serde(borrow)]
    pub outputs: Vec<Argument<'a>>,
    #[serde(borrow)]
    pub nodes: Pieces<Node<'a>>,
    #[serde(borrow)]
    pub tensor_values: Map<'a, &'a RawValue>,
    #[serde(borrow)]
    pub sym_int_values: Map<'a, SymInt<'a>>,
    #[serde(borrow)]
    pub sym_bool_values: Map<'a, SymBool<'a>>,
    #[serde(default)]
    pub is_single_tensor_return: bool,
    #[serde(borrow, default)]
    pub custom_obj_values: Map<'a, CustomObject<'a>>,
    #[serde(borrow, default)]
    pub sym_float_values: Map<'a, SymFloat<'a>>,
}

#[derive(Deserialize)]
pub(super) struct Node<'a> {
    #[serde(borrow)]
    pub target: Text<'a>,
    #[serde(borrow)]
    pub inputs: Box<[NamedArgument<'a>]>,
    #[serde(borrow)]
    pub outputs: Box<[Argument<'a>]>,
    #[serde(borrow)]
    pub metadata: NodeMetadata<'a>,
    /// Of higher-order operators: whether the one result is the node itself and not the first of a tuple.
    #[serde(default)]
    pub is_hop_single_tensor_return: Option<bool>,
    /// Older torch leaves it out.
    #[serde(borrow, default)]
    pub name: Option<Text<'a>>,
}

/// A stack trace is most of a node's text and repeats from node to node, so it stays as it stands in the JSON until
/// a new one is met.
#[derive(Deserialize)]
pub(super) struct NodeMetadata<'a> {
    #[serde(borrow, default)]
    pub stack_trace: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub nn_module_stack: Option<Text<'a>>,
}

#[derive(Deserialize)]
pub(super) struct NamedArgument<'a> {
    #[serde(borrow)]
    pub name: Text<'a>,
    #[serde(borrow)]
    pub arg: Argument<'a>,
    #[serde(default)]
    pub kind: Option<i64>,
}

/// `NamedArgument.kind` of an argument given by keyword.
pub(super) const KEYWORD: i64 = 2;

/// Tensors, and the tokens and constants that also have only a name.
#[derive(Deserialize)]
pub(super) struct Named<'a> {
    #[serde(borrow)]
    pub name: Text<'a>,
}

#[derive(Deserialize)]
pub(super) struct CustomObject<'a> {
    #[serde(borrow)]
    pub name: Text<'a>,
    #[serde(borrow)]
    pub class_fqn: Text<'a>,
}

#[derive(Deserialize)]
pub(super) struct Device<'a> {
    #[serde(borrow)]
    pub r#type: Text<'a>,
    #[serde(default)]
    pub index: Option<i64>,
}

#[derive(Deserialize)]
pub(super) struct TensorMeta<'a> {
    pub dtype: i64,
    #[serde(borrow)]
    pub sizes: Vec<SymInt<'a>>,
    #[serde(borrow)]
    pub strides: Vec<SymInt<'a>>,
    #[serde(borrow)]
    pub storage_offset: SymInt<'a>,
    pub layout: i64,
}

#[derive(Deserialize)]
pub(super) struct SymExpr<'a> {
    #[serde(borrow)]
    pub expr_str: Text<'a>,
}

#[derive(Deserialize)]
pub(super) enum SymInt<'a> {
    #[serde(rename = "as_expr", borrow)]
    Expr(Box<SymExpr<'a>>),
    #[serde(rename = "as_int")]
    Int(i64),
}

#[derive(Deserialize)]
pub(super) enum SymFloat<'a> {
    #[serde(rename = "as_expr", borrow)]
    Expr(Box<SymExpr<'a>>),
    #[serde(rename = "as_float")]
    Float(Float),
}

#[derive(Deserialize)]
pub(super) enum SymBool<'a> {
    #[serde(rename = "as_expr", borrow)]
    Expr(Box<SymExpr<'a>>),
    #[serde(rename = "as_bool")]
    Bool(bool),
}

#[derive(Deserialize)]
pub(super) struct GraphSignature<'a> {
    #[serde(borrow)]
    pub input_specs: Vec<InputSpec<'a>>,
    #[serde(borrow)]
    pub output_specs: Vec<OutputSpec<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum InputSpec<'a> {
    /// The graph has the same argument at the same place.
    UserInput(IgnoredAny),
    #[serde(borrow)]
    Parameter(ParameterSpec<'a>),
    #[serde(borrow)]
    Buffer(BufferSpec<'a>),
    #[serde(borrow)]
    TensorConstant(TensorConstantSpec<'a>),
    #[serde(borrow)]
    CustomObj(CustomObjSpec<'a>),
    Token(IgnoredAny),
    #[serde(borrow)]
    ConstantInput(Named<'a>),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OutputSpec<'a> {
    UserOutput(IgnoredAny),
    LossOutput(IgnoredAny),
    #[serde(borrow)]
    BufferMutation(BufferMutationSpec<'a>),
    #[serde(borrow)]
    GradientToParameter(ParameterSpec<'a>),
    #[serde(borrow)]
    GradientToUserInput(UserInputTargetSpec<'a>),
    #[serde(borrow)]
    UserInputMutation(UserInputTargetSpec<'a>),
    Token(IgnoredAny),
    #[serde(borrow)]
    ParameterMutation(ParameterSpec<'a>),
}

#[derive(Deserialize)]
pub(super) struct ParameterSpec<'a> {
    #[serde(borrow)]
    pub arg: Named<'a>,
    #[serde(borrow)]
    pub parameter_name: Text<'a>,
}

#[derive(Deserialize)]
pub(super) struct BufferSpec<'a> {
    #[serde(borrow)]
    pub arg: Named<'a>,
    #[serde(borrow)]
    pub buffer_name: Text<'a>,
    pub persistent: bool,
}

#[derive(Deserialize)]
pub(super) struct BufferMutationSpec<'a> {
    #[serde(borrow)]
    pub buffer_name: Text<'a>,
}

#[derive(Deserialize)]
pub(super) struct TensorConstantSpec<'a> {
    #[serde(borrow)]
    pub arg: Named<'a>,
    #[serde(borrow)]
    pub tensor_constant_name: Text<'a>,
}

#[derive(Deserialize)]
pub(super) struct CustomObjSpec<'a> {
    #[serde(borrow)]
    pub custom_obj_name: Text<'a>,
}

#[derive(Deserialize)]
pub(super) struct UserInputTargetSpec<'a> {
    #[serde(borrow)]
    pub user_input_name: Text<'a>,
}

/// `data/weights/*_weights_config.json` and `data/constants/*_constants_config.json`.
#[derive(Deserialize)]
pub(super) struct PayloadConfig<'a> {
    #[serde(borrow)]
    pub config: Map<'a, PayloadMeta<'a>>,
}

#[derive(Deserialize)]
pub(super) struct PayloadMeta<'a> {
    #[serde(borrow)]
    pub path_name: Text<'a>,
    pub is_param: bool,
    pub use_pickle: bool,
    #[serde(borrow)]
    pub tensor_meta: Option<TensorMeta<'a>>,
}
