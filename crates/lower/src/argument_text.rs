//! Arguments and tensors of the program in the words of messages.

use modelexport_graph::aten::{Arg, Graph, Node, TensorMeta, ValueId};

/// What an argument is: `the tensor `x``, `the integers [1, 2]`.
pub fn describe(graph: &Graph, arg: &Arg) -> String {
    let name = |id: &ValueId| graph.value(*id).map_or("?", |value| &*value.name);
    match arg {
        Arg::None => "None".into(),
        Arg::Tensor(id) => format!("the tensor `{}`", name(id)),
        Arg::Tensors(ids) => format!("a list of {} tensors", ids.len()),
        Arg::OptionalTensors(ids) => format!("a list of {} optional tensors", ids.len()),
        Arg::NestedTensors(_) => "lists of tensors".into(),
        Arg::Int(value) => format!("the integer {value}"),
        Arg::Ints(values) => format!("the integers {values:?}"),
        Arg::IntLists(_) => "lists of integers".into(),
        Arg::SymInt(id) | Arg::SymFloat(id) => format!("the symbolic number `{}`", name(id)),
        Arg::SymInts(_) | Arg::SymFloats(_) => "a list of symbolic numbers".into(),
        Arg::Float(value) => format!("the number {value:?}"),
        Arg::Floats(values) => format!("the numbers {values:?}"),
        Arg::FloatLists(_) => "lists of numbers".into(),
        Arg::Bool(value) => value.to_string(),
        Arg::Bools(values) => format!("the truth values {values:?}"),
        Arg::SymBool(id) => format!("the symbolic truth value `{}`", name(id)),
        Arg::SymBools(_) => "a list of symbolic truth values".into(),
        Arg::Complex { real, imag } => format!("the complex number {real}{imag:+}j"),
        Arg::Str(text) => format!("the string {text:?}"),
        Arg::Strs(texts) => format!("the strings {texts:?}"),
        Arg::DType(dtype) => format!("the element type {dtype}"),
        Arg::MemoryFormat(_) => "a memory format".into(),
        Arg::Layout(_) => "a layout".into(),
        Arg::Device(device) => format!("the device {:?}", device.kind),
        Arg::Graph(_) => "a graph".into(),
        Arg::CustomObject(_) => "an object".into(),
        Arg::Operator(target) => format!("the operator {target:?}"),
        Arg::Dict(_) => "a dictionary".into(),
    }
}

/// Whether an argument is or has the tensor `id`.
pub fn holds(arg: &Arg, id: ValueId) -> bool {
    match arg {
        Arg::Tensor(own) => *own == id,
        Arg::Tensors(ids) => ids.contains(&id),
        Arg::OptionalTensors(ids) => ids.contains(&Some(id)),
        _ => false,
    }
}

/// The tensors among the arguments of a node and its results: ``input` is float32[2, 3], the result is float32[2]`.
pub fn shapes(graph: &Graph, node: &Node) -> String {
    let tensor = |id: &ValueId| graph.tensor(*id).map(tensor_text);
    let all = |arg: &Arg| -> Vec<String> {
        match arg {
            Arg::Tensor(id) => tensor(id).into_iter().collect(),
            Arg::Tensors(ids) => ids.iter().filter_map(tensor).collect(),
            Arg::OptionalTensors(ids) => ids.iter().flatten().filter_map(tensor).collect(),
            _ => Vec::new(),
        }
    };
    let given =
        node.args.iter().map(|argument| (format!("argument `{}`", argument.name), all(&argument.arg)));
    let made = node.outputs.iter().map(|output| ("the result".to_owned(), all(output)));
    let parts = given.chain(made).filter(|(_, tensors)| !tensors.is_empty());
    parts.map(|(what, tensors)| format!("{what} is {}", tensors.join(" and "))).collect::<Vec<_>>().join(", ")
}

/// `float32[2, s0]`.
fn tensor_text(meta: &TensorMeta) -> String {
    let sizes: Vec<String> = meta.sizes.iter().map(ToString::to_string).collect();
    format!("{}[{}]", meta.dtype, sizes.join(", "))
}
