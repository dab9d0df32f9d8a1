//! Rounds of the same computation by ONNX's `Loop`.

use modelexport_graph::{DType, Dim};

use crate::attrs;
use crate::builder::Builder;
use crate::context::Context;
use crate::ir::ValueId;

/// What a round leaves: the states, and whether another round follows; `None` if only the number of rounds decides.
pub(crate) struct Round {
    pub states: Vec<ValueId>,
    pub goes_on: Option<ValueId>,
}

/// The states after at most `rounds` rounds (a 0-D integer), or as many as the rounds themselves want. The body gets the
/// number of the round, from 0 on, and the states; their types and shapes stay what they are.
pub(crate) fn repeat(
    cx: &mut Context<'_, '_>,
    rounds: Option<ValueId>,
    initial: &[ValueId],
    body: impl FnOnce(&mut Builder, ValueId, &[ValueId]) -> Round,
) -> Vec<ValueId> {
    let looks: Vec<(DType, Option<Vec<Dim>>)> =
        initial.iter().map(|&state| (cx.dtype(state), cx.shape(state).map(<[Dim]>::to_vec))).collect();
    let goes_on = cx.const_scalar(DType::Bool, true);
    cx.open();
    let number = formal(cx, DType::I64, Some(&[]));
    let before = formal(cx, DType::Bool, Some(&[]));
    let states: Vec<ValueId> =
        looks.iter().map(|(dtype, shape)| formal(cx, *dtype, shape.as_deref())).collect();
    let round = body(cx, number, &states);
    let mut outputs = vec![round.goes_on.unwrap_or_else(|| cx.emit("Identity", &[before], vec![]))];
    outputs.extend(round.states);
    let mut inputs = vec![number, before];
    inputs.extend(states);
    let graph = cx.close(inputs, outputs);
    let inputs: Vec<Option<ValueId>> =
        [rounds, Some(goes_on)].into_iter().chain(initial.iter().copied().map(Some)).collect();
    let results = cx.emit_many("Loop", &inputs, attrs![body = graph], initial.len());
    for (&result, (dtype, shape)) in results.iter().zip(looks) {
        cx.set_dtype(result, dtype);
        if let Some(shape) = shape {
            cx.set_shape(result, shape);
        }
    }
    results
}

fn formal(builder: &mut Builder, dtype: DType, shape: Option<&[Dim]>) -> ValueId {
    let value = builder.new_value();
    builder.set_dtype(value, dtype);
    if let Some(shape) = shape {
        builder.set_shape(value, shape.to_vec());
    }
    value
}
