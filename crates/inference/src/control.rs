//! Operators that hold graphs: branches, loops, and functions of sequences.

use modelexport_graph::DType;
use modelexport_graph::onnx::Graph;

use crate::node::Bound;
use crate::operation::{Attributes, Operation};
use crate::size::{Size, index};
use crate::value_type::{Form, ValueType};
use crate::walk::{Around, Values, Visit, Walker};

/// The types of the outputs. Each graph is visited once.
pub(crate) fn outputs(
    walker: &Walker<'_>,
    node: &Bound<'_>,
    operation: &Operation<'_>,
    values: &Values<'_>,
    around: Around<'_>,
    visit: &mut Visit<'_>,
) -> Vec<ValueType> {
    let is_branch = (operation.domain, operation.op_type) == ("", "If");
    let around = if is_branch { around.conditional() } else { around };
    let mut run =
        |graph: &Graph, arguments: &[ValueType]| walker.graph(graph, arguments, Some(values), around, visit);
    let inputs: Vec<ValueType> =
        operation.inputs.iter().map(|input| input.clone().unwrap_or_default()).collect();
    let body = node.graph("body");
    match (operation.domain, operation.op_type, body) {
        ("", "Loop", Some(body)) => {
            let initial = inputs.get(2..).unwrap_or_default();
            looped(initial, |arguments| run(body, arguments))
        }
        ("", "Scan", Some(body)) => scanned(node, operation, &inputs, |arguments| run(body, arguments)),
        ("", "SequenceMap", Some(body)) => {
            let element = |input: &ValueType| match input.form {
                Form::Sequence => ValueType { form: Form::Tensor, ..input.clone() },
                _ => input.clone(),
            };
            let arguments: Vec<ValueType> = inputs.iter().map(element).collect();
            let found = run(body, &arguments).into_iter();
            found.map(|element| ValueType { form: Form::Sequence, content: None, ..element }).collect()
        }
        _ => {
            let branches = node.node.subgraphs().map(|graph| run(graph, &[]));
            let common = |a: Vec<ValueType>, b: Vec<ValueType>| {
                a.into_iter().zip(&b).map(|(a, b)| a.common(b)).collect()
            };
            let found = branches.reduce(common).unwrap_or_default();
            if is_branch { found } else { Vec::new() }
        }
    }
}

/// What is carried from one run to the next may change its shape. A loop may run not at all.
fn looped(initial: &[ValueType], body: impl FnOnce(&[ValueType]) -> Vec<ValueType>) -> Vec<ValueType> {
    let scalar = |dtype| ValueType::tensor(Some(dtype), Some(Vec::new()));
    let mut arguments = vec![scalar(DType::I64), scalar(DType::Bool)];
    arguments.extend(initial.iter().map(|state| ValueType { dims: None, content: None, ..state.clone() }));
    let found = body(&arguments).into_iter().skip(1).enumerate();
    let collected = |(i, found): (usize, ValueType)| match initial.get(i) {
        Some(initial) => found.common(initial),
        None => with_axis(found, 0, Size::Unknown),
    };
    found.map(collected).collect()
}

fn scanned(
    node: &Bound<'_>,
    operation: &Operation<'_>,
    inputs: &[ValueType],
    body: impl FnOnce(&[ValueType]) -> Vec<ValueType>,
) -> Vec<ValueType> {
    // In opset 8, everything had a batch axis and the lengths of sequences came first.
    let has_batch = operation.opset < 9;
    let inputs = if has_batch { inputs.get(1..).unwrap_or_default() } else { inputs };
    let scanned = usize::try_from(operation.int("num_scan_inputs", 0)).unwrap_or(0);
    let states = inputs.len().saturating_sub(scanned);
    let (input_axes, output_axes) = (node.ints("scan_input_axes"), node.ints("scan_output_axes"));
    let axis = |axes: &Option<std::borrow::Cow<'_, [i64]>>, i: usize| {
        axes.as_ref().and_then(|axes| axes.get(i)).copied().unwrap_or(0)
    };
    let mut length = Size::Unknown;
    let argument = |(i, input): (usize, &ValueType)| {
        let mut argument = ValueType { content: None, ..input.clone() };
        if has_batch {
            argument.dims = None;
        } else if let (Some(i), Some(dims)) = (i.checked_sub(states), &mut argument.dims) {
            match index(axis(&input_axes, i), dims.len()) {
                Some(axis) => length = length.or(dims.remove(axis)),
                None => argument.dims = None,
            }
        }
        argument
    };
    let arguments: Vec<ValueType> = inputs.iter().enumerate().map(argument).collect();
    let result = |(i, found): (usize, ValueType)| match i.checked_sub(states) {
        _ if has_batch => ValueType { dims: None, ..found },
        None => ValueType { content: None, ..found },
        Some(i) => with_axis(found, axis(&output_axes, i), length),
    };
    body(&arguments).into_iter().enumerate().map(result).collect()
}

/// What a body gives in each run, put together along a new axis.
fn with_axis(found: ValueType, axis: i64, length: Size) -> ValueType {
    let dims = found.dims.and_then(|mut dims| {
        dims.insert(index(axis, dims.len() + 1)?, length);
        Some(dims)
    });
    ValueType { dims, content: None, ..found }
}
