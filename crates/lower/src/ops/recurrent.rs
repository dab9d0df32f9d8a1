//! `lstm`, `gru`, `rnn_tanh`, `rnn_relu` over padded sequences: one ONNX `LSTM`, `GRU` or `RNN` for each layer.
//!
//! ONNX orders the gates otherwise: the rows of weights and biases are gathered in its order (folded for weights that
//! are small, by the runtime otherwise). PyTorch's reset gate acts after the product (`linear_before_reset`).
//! Sequences have time first inside. An `lstm` with projected states is made of `Scan` (see `support/lstm.rs`). Packed
//! sequences are refused, and so is dropout between layers in training. `float64` has no kernels and is computed in
//! `float32`.

use modelexport_graph::{DType, Dim};

use super::support::compute::single_type;
use super::support::fill::is_filled_with_zero;
use super::support::lstm;
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::{Attrs, ValueId};
use crate::registry::{Outputs, Row};

macro_rules! schema {
    ($name:literal, $state:literal, $results:literal) => {
        concat!(
            "aten::",
            $name,
            ".input(Tensor input, ",
            $state,
            " hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> ",
            $results
        )
    };
}

pub static ROWS: &[Row] = &[
    Row::new(schema!("lstm", "Tensor[]", "(Tensor, Tensor, Tensor)"), |cx| lower(cx, &LSTM)),
    Row::new(schema!("gru", "Tensor", "(Tensor, Tensor)"), |cx| lower(cx, &GRU)),
    Row::new(schema!("rnn_tanh", "Tensor", "(Tensor, Tensor)"), |cx| lower(cx, &TANH)),
    Row::new(schema!("rnn_relu", "Tensor", "(Tensor, Tensor)"), |cx| lower(cx, &RELU)),
];

/// A kind of cell.
struct Cell {
    op: &'static str,
    /// For each gate of ONNX the place that it has in PyTorch's order.
    gates: &'static [i64],
    activation: Option<&'static str>,
}

/// Input, output, forget, cell; PyTorch has input, forget, cell, output.
static LSTM: Cell = Cell { op: "LSTM", gates: &[0, 3, 1, 2], activation: None };
/// Update, reset, new; PyTorch has reset, update, new.
static GRU: Cell = Cell { op: "GRU", gates: &[1, 0, 2], activation: None };
static TANH: Cell = Cell { op: "RNN", gates: &[0], activation: None };
static RELU: Cell = Cell { op: "RNN", gates: &[0], activation: Some("Relu") };

fn lower(cx: &mut Context<'_, '_>, cell: &Cell) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = single_type(dtype);
    let (layers, directions) = (cx.int("num_layers")?, if cx.bool("bidirectional")? { 2 } else { 1 });
    let has_biases = cx.bool("has_biases")?;
    if cx.bool("train")? && cx.float("dropout")? > 0.0 && layers > 1 {
        return cx.refuse("dropout between layers (`train=True`) is not supported");
    }
    let parameters = cx.tensors("params")?;
    let per_direction = if has_biases { 4 } else { 2 };
    let (given, cells) = (parameters.len() as i64, layers.saturating_mul(directions));
    let expected = cells.saturating_mul(per_direction);
    if cell.op == LSTM.op && cells > 0 && given == cells.saturating_add(expected) {
        return lstm::projected(cx, layers, directions);
    }
    if given != expected {
        let reason =
            format!("has {given} parameters where {layers} layers in {directions} directions have {expected}");
        return cx.refuse(reason);
    }
    let parameters: Vec<ValueId> = parameters.into_iter().map(|value| cx.cast(value, compute)).collect();
    let states = if cell.op == LSTM.op { cx.tensors("hx")? } else { vec![cx.tensor("hx")?] };
    let states: Vec<Vec<ValueId>> =
        states.into_iter().map(|state| by_layer(cx, state, compute, layers, directions)).collect();
    let hidden = hidden_size(cx, cell)?;

    let batch_first = cx.bool("batch_first")?;
    let x = cx.tensor("input")?;
    let mut x = cx.cast(x, compute);
    if batch_first {
        x = cx.transpose(x, &[1, 0, 2]);
    }
    let sizes = &cx.meta("input")?.sizes;
    let [outer, inner, _] = sizes.as_slice() else {
        return cx.wrong("input", "a batch of sequences", sizes);
    };
    let (time, batch) = if batch_first { (inner, outer) } else { (outer, inner) };
    let width = Dim::Static(directions * hidden);

    let result_count = states.len() + 1;
    let mut last_states: Vec<Vec<ValueId>> = vec![Vec::new(); states.len()];
    let mut weights = parameters.chunks((directions * per_direction) as usize);
    for layer in 0..layers {
        let Some(weights) = weights.next() else { break };
        let mut inputs = vec![Some(x)];
        inputs.extend(layer_weights(cx, cell, weights, per_direction as usize, hidden));
        inputs.push(None);
        inputs.extend(states.iter().map(|state| state.get(layer as usize).copied()));
        let results = cx.emit_many(cell.op, &inputs, attributes(cell, hidden, directions), result_count);
        let mut results = results.into_iter();
        let Some(y) = results.next() else { break };
        for (kept, state) in last_states.iter_mut().zip(results) {
            kept.push(state);
        }
        // `[time, direction, batch, hidden]`; the last layer goes over to the order that is wanted.
        let is_last = layer + 1 == layers;
        x = match (directions, batch_first && is_last) {
            (1, false) => cx.squeeze(y, &[1]),
            (1, true) => {
                let y = cx.squeeze(y, &[1]);
                cx.transpose(y, &[1, 0, 2])
            }
            (_, false) => {
                let y = cx.transpose(y, &[0, 2, 1, 3]);
                merge(cx, y, [time, batch], hidden, &width)?
            }
            (_, true) => {
                let y = cx.transpose(y, &[2, 0, 1, 3]);
                merge(cx, y, [batch, time], hidden, &width)?
            }
        };
    }
    let mut results = vec![cx.cast(x, dtype)];
    for states in last_states {
        let state = cx.concat(&states, 0);
        results.push(cx.cast(state, dtype));
    }
    Ok(results.into())
}

/// Puts the directions side by side.
fn merge(cx: &mut Context<'_, '_>, y: ValueId, lead: [&Dim; 2], hidden: i64, width: &Dim) -> Result<ValueId> {
    let [first, second] = lead;
    cx.set_shape(y, vec![first.clone(), second.clone(), Dim::Static(2), Dim::Static(hidden)]);
    cx.reshape(y, &[first.clone(), second.clone(), width.clone()])
}

fn attributes(cell: &Cell, hidden: i64, directions: i64) -> Attrs {
    let mut attributes = attrs![hidden_size = hidden];
    if directions == 2 {
        attributes.extend(attrs![direction = "bidirectional"]);
    }
    if cell.op == "GRU" {
        attributes.extend(attrs![linear_before_reset = 1]);
    }
    if let Some(activation) = cell.activation {
        attributes.extend(attrs![activations = vec![activation; directions as usize]]);
    }
    attributes
}

fn hidden_size(cx: &Context<'_, '_>, cell: &Cell) -> Result<i64> {
    let weights = cx.metas("params");
    let rows = weights.first().and_then(|meta| meta.sizes.first()).and_then(Dim::as_static);
    match rows {
        Some(rows) => Ok(rows / cell.gates.len() as i64),
        None => cx.wrong("params", "weights of known size", weights.len()),
    }
}

/// `[layers * directions, batch, hidden]` as one tensor for each layer; none where ONNX starts from the same by itself.
fn by_layer(
    cx: &mut Context<'_, '_>,
    state: ValueId,
    dtype: DType,
    layers: i64,
    directions: i64,
) -> Vec<ValueId> {
    if is_filled_with_zero(cx, state) {
        return Vec::new();
    }
    let state = cx.cast(state, dtype);
    let sizes: Vec<i64> = (0..layers).map(|_| directions).collect();
    cx.split(state, &sizes, 0)
}

/// Weights of the input, of the hidden state, and biases, each with an axis for the directions.
fn layer_weights(
    cx: &mut Context<'_, '_>,
    cell: &Cell,
    parameters: &[ValueId],
    per_direction: usize,
    hidden: i64,
) -> Vec<Option<ValueId>> {
    let (mut inputs, mut hiddens, mut biases) = (Vec::new(), Vec::new(), Vec::new());
    for direction in parameters.chunks(per_direction) {
        let ordered: Vec<ValueId> = direction.iter().map(|&value| reorder(cx, cell, value, hidden)).collect();
        let mut ordered = ordered.into_iter();
        inputs.extend(ordered.next());
        hiddens.extend(ordered.next());
        let both: Vec<ValueId> = ordered.collect();
        if !both.is_empty() {
            biases.push(cx.concat(&both, 0));
        }
    }
    [inputs, hiddens, biases]
        .into_iter()
        .map(|parts| {
            if parts.is_empty() {
                return None;
            }
            let parts: Vec<ValueId> = parts.into_iter().map(|part| cx.unsqueeze(part, &[0])).collect();
            Some(cx.concat(&parts, 0))
        })
        .collect()
}

/// The rows of all gates in ONNX's order.
fn reorder(cx: &mut Context<'_, '_>, cell: &Cell, value: ValueId, hidden: i64) -> ValueId {
    if cell.gates.len() == 1 {
        return value;
    }
    let rows: Vec<i64> = cell.gates.iter().flat_map(|gate| gate * hidden..(gate + 1) * hidden).collect();
    let rows = cx.const_ints(&rows);
    cx.emit("Gather", &[value, rows], attrs![axis = 0])
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use modelexport_graph::aten::Arg;

    use super::ROWS;
    use crate::test_calls::{lowered, lowered_program};
    use crate::test_program::{TestProgram, tensor};

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS));
    }

    /// A layer that starts from what `target` fills; there is no node for small tensors, which are constants.
    fn started_from(target: &str) -> String {
        let mut program = TestProgram::new();
        let x = program.input("x", tensor(&[6, 2000, 3]));
        let shape = Arg::Ints(vec![1, 2000, 5]);
        let state = program.node(target, &[("size", shape)], tensor(&[1, 2000, 5]));
        let parameters = [("w", vec![5, 3]), ("r", vec![5, 5])];
        let parameters = parameters.map(|(name, sizes)| program.parameter(name, tensor(&sizes)));
        let arguments = [
            ("input", Arg::Tensor(x)),
            ("hx", Arg::Tensor(state)),
            ("params", Arg::Tensors(parameters.to_vec())),
            ("has_biases", Arg::Bool(false)),
            ("num_layers", Arg::Int(1)),
            ("dropout", Arg::Float(0.0)),
            ("train", Arg::Bool(false)),
            ("bidirectional", Arg::Bool(false)),
            ("batch_first", Arg::Bool(false)),
        ];
        let metas = [tensor(&[6, 2000, 5]), tensor(&[1, 2000, 5])];
        let results = program.nodes("aten.rnn_tanh.input", &arguments, &metas);
        lowered_program(program.outputs(&results))
    }

    #[test]
    fn a_state_of_zeros_is_left_out() {
        assert_snapshot!(started_from("aten.zeros.default"), @r"
        t1, t2 = RNN(x, w, r, hidden_size=5)
        Squeeze(t1, [1]), t2
        ");
        assert_snapshot!(started_from("aten.ones.default"), @r"
        t1, t2 = RNN(x, w, r, None, None, f32[1, 2000, 5], hidden_size=5)
        Squeeze(t1, [1]), t2
        ");
    }
}
