//! The gates of an LSTM as single nodes, and layers that are made of them.
//!
//! ONNX's `LSTM` cannot project its hidden state to fewer numbers at each step (`proj_size`). Such a layer is a `Scan`
//! over the time with the cell as its body, one for each direction; the products with the input are one `MatMul` for all
//! steps.

use modelexport_graph::{DType, Dim};

use super::compute::{formula_type, tensor_as};
use super::fill::{filled, is_filled_with_zero};
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::Outputs;

/// The hidden state and the memory after a step; `sum` has the gates side by side, `size` numbers for each.
pub(crate) fn gates(
    cx: &mut Context<'_, '_>,
    sum: ValueId,
    memory: ValueId,
    size: i64,
) -> Result<(ValueId, ValueId)> {
    let gates = cx.split(sum, &[size; 4], -1);
    let [input, forget, new, output] = gates.as_slice() else { return cx.refuse("has no gates") };
    let input = cx.emit("Sigmoid", &[*input], vec![]);
    let forget = cx.emit("Sigmoid", &[*forget], vec![]);
    let new = cx.emit("Tanh", &[*new], vec![]);
    let output = cx.emit("Sigmoid", &[*output], vec![]);
    let kept = cx.emit("Mul", &[forget, memory], vec![]);
    let added = cx.emit("Mul", &[input, new], vec![]);
    let memory = cx.emit("Add", &[kept, added], vec![]);
    let bounded = cx.emit("Tanh", &[memory], vec![]);
    Ok((cx.emit("Mul", &[output, bounded], vec![]), memory))
}

/// Layers with projected hidden states, from the arguments of `lstm.input`.
pub(crate) fn projected(cx: &mut Context<'_, '_>, layers: i64, directions: i64) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = formula_type(dtype);
    let batch_first = cx.bool("batch_first")?;
    let parameters: Vec<ValueId> =
        cx.tensors("params")?.into_iter().map(|value| cx.cast(value, compute)).collect();
    let (states, metas) = (cx.tensors("hx")?, cx.metas("hx"));
    let ([hidden, memory], [hidden_meta, memory_meta]) = (states.as_slice(), metas.as_slice()) else {
        return cx.wrong("hx", "two tensors", states.len());
    };
    let looks = [hidden_meta, memory_meta].map(|meta| meta.sizes.get(1..).unwrap_or_default().to_vec());
    let size = match looks.each_ref().map(Vec::as_slice) {
        [[_, _], [_, size]] => size.as_static(),
        _ => None,
    };
    let Some(size) = size else { return cx.wrong("hx", "states of known size", &metas) };
    let cells = layers * directions;
    let [hidden_look, memory_look] = &looks;
    let hiddens = by_cell(cx, *hidden, hidden_look, compute, cells)?;
    let memories = by_cell(cx, *memory, memory_look, compute, cells)?;

    let mut x = tensor_as(cx, "input", compute)?;
    if batch_first {
        x = cx.transpose(x, &[1, 0, 2]);
    }
    let count = parameters.len() / cells as usize;
    let starts = parameters.chunks(count).zip(hiddens.into_iter().zip(memories));
    let mut sequences = Vec::new();
    let mut last_states = [Vec::new(), Vec::new()];
    for (index, (weights, (hidden, memory))) in (0i64..).zip(starts) {
        let direction = index % directions;
        let layer =
            Layer { weights, start: [hidden, memory], looks: &looks, size, is_reversed: direction == 1 };
        let [last_hidden, last_memory, y] = layer.scan(cx, x)?;
        for (states, state) in last_states.iter_mut().zip([last_hidden, last_memory]) {
            states.push(cx.unsqueeze(state, &[0]));
        }
        sequences.push(y);
        if direction + 1 == directions {
            x = cx.concat(&sequences, 2);
            sequences.clear();
        }
    }
    if batch_first {
        x = cx.transpose(x, &[1, 0, 2]);
    }
    let mut results = vec![cx.cast(x, dtype)];
    for states in last_states {
        let state = cx.concat(&states, 0);
        results.push(cx.cast(state, dtype));
    }
    Ok(results.into())
}

/// `[cells, batch, size]` as one tensor for each cell, which has the shape `look`.
fn by_cell(
    cx: &mut Context<'_, '_>,
    state: ValueId,
    look: &[Dim],
    dtype: DType,
    cells: i64,
) -> Result<Vec<ValueId>> {
    if is_filled_with_zero(cx, state) {
        return Ok(vec![filled(cx, look, dtype, 0.0, None)?; cells as usize]);
    }
    let state = cx.cast(state, dtype);
    if cells == 1 {
        return Ok(vec![cx.squeeze(state, &[0])]);
    }
    let taken = (0..cells).map(|cell| {
        let index = cx.const_int(cell);
        cx.emit("Gather", &[state, index], attrs![axis = 0])
    });
    Ok(taken.collect())
}

/// One layer in one direction.
struct Layer<'a> {
    /// Of the input and of the hidden state, both biases if there are any, and of the projection.
    weights: &'a [ValueId],
    /// The hidden state and the memory before the first step.
    start: [ValueId; 2],
    /// Their shapes.
    looks: &'a [Vec<Dim>; 2],
    /// How many numbers the memory has.
    size: i64,
    is_reversed: bool,
}

impl Layer<'_> {
    /// The last hidden state and memory, and the hidden states of all steps of `x`, which has time first.
    fn scan(&self, cx: &mut Context<'_, '_>, x: ValueId) -> Result<[ValueId; 3]> {
        let (from_input, from_state, biases, projection) = match self.weights {
            [from_input, from_state, projection] => (*from_input, *from_state, None, *projection),
            [from_input, from_state, first, second, projection] => {
                (*from_input, *from_state, Some([*first, *second]), *projection)
            }
            weights => return cx.wrong("params", "3 or 5 for each layer and direction", weights.len()),
        };
        let transposed = cx.transpose(from_input, &[1, 0]);
        let mut products = cx.emit("MatMul", &[x, transposed], vec![]);
        if let Some(biases) = biases {
            let bias = cx.emit("Add", &biases, vec![]);
            products = cx.emit("Add", &[products, bias], vec![]);
        }
        let dtype = cx.dtype(products);
        let [hidden_look, memory_look] = self.looks;
        let batch: Vec<Dim> = memory_look.iter().take(1).cloned().collect();
        let step_look = [batch, vec![Dim::Static(4 * self.size)]].concat();

        cx.open();
        let formal = [hidden_look, memory_look, &step_look].map(|look| {
            let value = cx.new_value();
            cx.set_dtype(value, dtype);
            cx.set_shape(value, look.clone());
            value
        });
        let [hidden, memory, step] = formal;
        let sum = cx.emit("Gemm", &[hidden, from_state, step], attrs![transB = 1]);
        let (whole, memory) = gates(cx, sum, memory, self.size)?;
        let hidden = cx.emit("Gemm", &[whole, projection], attrs![transB = 1]);
        let shown = cx.emit("Identity", &[hidden], vec![]);
        // onnxruntime wants to know the shape of everything that a body gives.
        for (value, look) in [(hidden, hidden_look), (memory, memory_look), (shown, hidden_look)] {
            cx.set_shape(value, look.clone());
        }
        let body = cx.close(formal.to_vec(), vec![hidden, memory, shown]);

        let mut attributes = attrs![body = body, num_scan_inputs = 1];
        if self.is_reversed {
            attributes
                .extend(attrs![scan_input_directions = vec![1i64], scan_output_directions = vec![1i64]]);
        }
        let [hidden, memory] = self.start;
        let results = cx.emit_many("Scan", &[Some(hidden), Some(memory), Some(products)], attributes, 3);
        let [hidden, memory, shown] = results.as_slice() else { return cx.refuse("has no results") };
        for &result in &results {
            cx.set_dtype(result, dtype);
        }
        Ok([*hidden, *memory, *shown])
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use crate::test_calls::lowered_call;

    #[test]
    fn projected_states_as_onnx() {
        let call = "aten.lstm.input(input: f32[s0, s1, 3], hx: [f32[2, s0, 2], f32[2, s0, 5]], params: param [f32[20, 3], f32[20, 2], f32[20], f32[20], f32[2, 5], f32[20, 3], f32[20, 2], f32[20], f32[20], f32[2, 5]], has_biases=True, num_layers=1, dropout=0.0, train=False, bidirectional=True, batch_first=True) -> (f32[s0, s1, 4], f32[2, s0, 2], f32[2, s0, 5])";
        assert_snapshot!(lowered_call(call));
    }
}
