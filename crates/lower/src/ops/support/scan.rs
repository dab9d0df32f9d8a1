//! Running results along an axis by ONNX's `Scan`: a body that sees the state and one slice of the input.

use modelexport_graph::{DType, Dim};

use crate::attrs;
use crate::builder::Builder;
use crate::context::Context;
use crate::ir::ValueId;

/// The state after each slice. `initial` has one value for each state; `slices` are pairs of an input and the axis
/// along which it is cut. `body` makes the new states from the old ones and the slices; results have them side by side
/// along `axis`.
pub(crate) fn scan(
    cx: &mut Context<'_, '_>,
    axis: i64,
    initial: &[ValueId],
    slices: &[(ValueId, i64)],
    body: impl FnOnce(&mut Builder, &[ValueId], &[ValueId]) -> Vec<ValueId>,
) -> Vec<ValueId> {
    let count = initial.len();
    let inputs: Vec<ValueId> = initial.iter().copied().chain(slices.iter().map(|slice| slice.0)).collect();
    // onnxruntime wants to know the shape of everything that a body gives.
    let shapes: Vec<Option<Vec<Dim>>> = initial
        .iter()
        .map(|&state| cx.shape(state).map(<[Dim]>::to_vec))
        .chain(slices.iter().map(|&(value, axis)| cx.shape(value).map(|sizes| without(sizes, axis))))
        .collect();
    let dtypes: Vec<DType> = inputs.iter().map(|&input| cx.dtype(input)).collect();
    cx.open();
    let mut formal = Vec::with_capacity(inputs.len());
    for (dtype, shape) in dtypes.into_iter().zip(&shapes) {
        let value = cx.new_value();
        cx.set_dtype(value, dtype);
        shaped(cx, value, shape.as_deref());
        formal.push(value);
    }
    let states = body(cx, &formal[..count], &formal[count..]);
    let mut outputs = Vec::with_capacity(2 * count);
    for _ in 0..2 {
        for (&state, shape) in states.iter().zip(&shapes) {
            let output = cx.emit("Identity", &[state], vec![]);
            shaped(cx, output, shape.as_deref());
            outputs.push(output);
        }
    }
    let graph = cx.close(formal, outputs);
    let axes: Vec<i64> = slices.iter().map(|slice| slice.1).collect();
    let attributes = attrs![
        body = graph,
        num_scan_inputs = slices.len() as i64,
        scan_input_axes = axes,
        scan_output_axes = vec![axis; count],
    ];
    let inputs: Vec<Option<ValueId>> = inputs.into_iter().map(Some).collect();
    let dtypes: Vec<DType> = states.iter().map(|&state| cx.dtype(state)).collect();
    let results = cx.emit_many("Scan", &inputs, attributes, 2 * count);
    for (&result, dtype) in results.iter().zip(dtypes.iter().chain(&dtypes)) {
        cx.set_dtype(result, *dtype);
    }
    results[count..].to_vec()
}

fn shaped(cx: &mut Context<'_, '_>, value: ValueId, shape: Option<&[Dim]>) {
    if let Some(shape) = shape {
        cx.set_shape(value, shape.to_vec());
    }
}

/// The sizes of one slice along `axis`.
fn without(sizes: &[Dim], axis: i64) -> Vec<Dim> {
    sizes.iter().zip(0i64..).filter(|(_, at)| *at != axis).map(|(size, _)| size.clone()).collect()
}
