//! Rounds of the same computation by ONNX's `Loop`.

use modelexport_graph::{DType, Dim};

use crate::attrs;
use crate::builder::Builder;
use crate::ir::ValueId;

/// The states after `count` rounds (a 0-D integer). The body gets the number of the round, a 0-D tensor, and the states, whose
/// types and shapes stay what they are.
pub(crate) fn repeat<const N: usize>(
    b: &mut Builder,
    count: ValueId,
    initial: [ValueId; N],
    body: impl FnOnce(&mut Builder, ValueId, [ValueId; N]) -> [ValueId; N],
) -> [ValueId; N] {
    looped(b, Some(count), initial, |b, number, states| (None, body(b, number, states)))
}

/// The same for at most `count` rounds, if there is such a bound; the body says first whether there is another one.
pub(crate) fn repeat_while<const N: usize>(
    b: &mut Builder,
    count: Option<ValueId>,
    initial: [ValueId; N],
    body: impl FnOnce(&mut Builder, ValueId, [ValueId; N]) -> (ValueId, [ValueId; N]),
) -> [ValueId; N] {
    looped(b, count, initial, |b, number, states| {
        let (goes_on, states) = body(b, number, states);
        (Some(goes_on), states)
    })
}

fn looped<const N: usize>(
    b: &mut Builder,
    count: Option<ValueId>,
    initial: [ValueId; N],
    body: impl FnOnce(&mut Builder, ValueId, [ValueId; N]) -> (Option<ValueId>, [ValueId; N]),
) -> [ValueId; N] {
    let first = count.is_none().then(|| b.const_scalar(DType::Bool, true));
    b.open();
    let (number, goes_on) = (b.new_value(), b.new_value());
    for (value, dtype) in [(number, DType::I64), (goes_on, DType::Bool)] {
        b.set_dtype(value, dtype);
        b.set_shape(value, Vec::new());
    }
    let formal = initial.map(|state| value_like(b, state));
    let (next, states) = body(b, number, formal);
    let mut outputs = vec![b.emit("Identity", &[next.unwrap_or(goes_on)], vec![])];
    for (state, first) in states.into_iter().zip(initial) {
        let output = b.emit("Identity", &[state], vec![]);
        look_like(b, output, first);
        outputs.push(output);
    }
    let graph = b.close([vec![number, goes_on], formal.to_vec()].concat(), outputs);
    let results = initial.map(|state| value_like(b, state));
    let mut inputs = vec![count, first];
    inputs.extend(initial.map(Some));
    b.emit_into("Loop", &inputs, attrs![body = graph], results.to_vec());
    results
}

fn value_like(b: &mut Builder, other: ValueId) -> ValueId {
    let value = b.new_value();
    look_like(b, value, other);
    value
}

/// Gives `value` the type and, if known, the shape of `other`.
fn look_like(b: &mut Builder, value: ValueId, other: ValueId) {
    let dtype = b.dtype(other);
    b.set_dtype(value, dtype);
    if let Some(shape) = b.shape(other).map(<[Dim]>::to_vec) {
        b.set_shape(value, shape);
    }
}
