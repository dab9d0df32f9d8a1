//! Spellings of attention, and what is close to one.

use insta::assert_snapshot;
use modelexport_graph::aten::{Arg, Program, TensorMeta, ValueId};
use modelexport_graph::{DType, Dim};

use crate::test_calls::lowered_program_at;
use crate::test_program::{TestProgram, contiguous, tensor};

/// A program under construction whose values are tensors of one type.
struct Model {
    program: TestProgram,
    dtype: DType,
}

impl Model {
    fn new(dtype: DType) -> Model {
        Model { program: TestProgram::new(), dtype }
    }

    fn meta(&self, sizes: &[i64]) -> TensorMeta {
        TensorMeta { dtype: self.dtype, ..tensor(sizes) }
    }

    fn input(&mut self, name: &str, sizes: &[i64]) -> ValueId {
        let meta = self.meta(sizes);
        self.program.input(name, meta)
    }

    fn mask(&mut self, name: &str, sizes: &[i64]) -> ValueId {
        self.program.input(name, TensorMeta { dtype: DType::Bool, ..tensor(sizes) })
    }

    fn node(&mut self, target: &str, args: &[(&str, Arg)], sizes: &[i64]) -> ValueId {
        let meta = self.meta(sizes);
        self.program.node(target, args, meta)
    }

    fn unary(&mut self, target: &str, x: ValueId, argument: (&str, Arg), sizes: &[i64]) -> ValueId {
        self.node(target, &[("self", Arg::Tensor(x)), argument], sizes)
    }

    fn binary(&mut self, target: &str, a: ValueId, b: ValueId, sizes: &[i64]) -> ValueId {
        self.unary(target, a, ("other", Arg::Tensor(b)), sizes)
    }

    fn times(&mut self, x: ValueId, number: f64, sizes: &[i64]) -> ValueId {
        self.unary("aten.mul.Tensor", x, ("other", Arg::Float(number)), sizes)
    }

    fn transpose(&mut self, x: ValueId, axes: (i64, i64), sizes: &[i64]) -> ValueId {
        let args = [("self", Arg::Tensor(x)), ("dim0", Arg::Int(axes.0)), ("dim1", Arg::Int(axes.1))];
        self.node("aten.transpose.int", &args, sizes)
    }

    fn view(&mut self, x: ValueId, sizes: &[i64]) -> ValueId {
        self.unary("aten.view.default", x, ("size", Arg::Ints(sizes.to_vec())), sizes)
    }

    /// `[batch, rows, heads * size]` as `[batch, heads, rows, size]`.
    fn heads(&mut self, x: ValueId, [batch, heads, rows, size]: [i64; 4]) -> ValueId {
        let apart = self.view(x, &[batch, rows, heads, size]);
        self.transpose(apart, (1, 2), &[batch, heads, rows, size])
    }

    /// The other way round.
    fn side_by_side(&mut self, x: ValueId, [batch, heads, rows, size]: [i64; 4]) -> ValueId {
        let rows_first = self.transpose(x, (1, 2), &[batch, rows, heads, size]);
        self.view(rows_first, &[batch, rows, heads * size])
    }

    fn softmax(&mut self, x: ValueId, dim: i64, sizes: &[i64]) -> ValueId {
        let args = [("self", Arg::Tensor(x)), ("dim", Arg::Int(dim))];
        self.node("aten.softmax.int", &args, sizes)
    }

    fn attention(&mut self, [q, k, v]: [ValueId; 3], more: &[(&str, Arg)], sizes: &[i64]) -> ValueId {
        let operands = [("query", Arg::Tensor(q)), ("key", Arg::Tensor(k)), ("value", Arg::Tensor(v))];
        self.node("aten.scaled_dot_product_attention.default", &[&operands, more].concat(), sizes)
    }

    fn lowered(self, outputs: &[ValueId]) -> String {
        lowered(self.program.outputs(outputs))
    }
}

fn lowered(program: Program) -> String {
    lowered_program_at(program, 23)
}

/// Queries, keys and values, two batches of three heads.
const Q: [i64; 4] = [2, 3, 4, 8];
const K: [i64; 4] = [2, 3, 5, 8];
const V: [i64; 4] = [2, 3, 5, 6];
const SCORES: [i64; 4] = [2, 3, 4, 5];
const Y: [i64; 4] = [2, 3, 4, 6];

/// `softmax(between(q @ k^T)) @ v`.
fn written(dtype: DType, between: impl FnOnce(&mut Model, ValueId) -> ValueId) -> String {
    let mut model = Model::new(dtype);
    let [q, k, v] = [("q", Q), ("k", K), ("v", V)].map(|(name, sizes)| model.input(name, &sizes));
    let k = model.transpose(k, (2, 3), &[2, 3, 8, 5]);
    let scores = model.binary("aten.matmul.default", q, k, &SCORES);
    let scores = between(&mut model, scores);
    let weights = model.softmax(scores, -1, &SCORES);
    let y = model.binary("aten.matmul.default", weights, v, &Y);
    model.lowered(&[y])
}

#[test]
fn scale_after_the_product() {
    let text = written(DType::F32, |model, scores| model.times(scores, 0.25, &SCORES));
    assert_snapshot!(text, @"Attention(q, k, v, scale=0.25)");
}

#[test]
fn a_quotient_as_scale_and_a_mask_that_is_added() {
    let text = written(DType::F16, |model, scores| {
        let scores = model.unary("aten.div.Tensor", scores, ("other", Arg::Float(4.0)), &SCORES);
        let mask = model.mask("mask", &[2, 1, 4, 5]);
        let (seen, hidden) = (Arg::Float(0.0), Arg::Float(-65504.0));
        let args = [("condition", Arg::Tensor(mask)), ("self", seen), ("other", hidden)];
        let mask = model.node("aten.where.Scalar", &args, &[2, 1, 4, 5]);
        model.binary("aten.add.Tensor", scores, mask, &SCORES)
    });
    assert_snapshot!(text, @"Attention(q, k, v, Where(mask, 0.0:f16, -60000.0:f16), scale=0.25)");
}

#[test]
fn scale_before_the_product_on_both_sides() {
    let mut model = Model::new(DType::F32);
    let [q, k, v] = [("q", Q), ("k", K), ("v", V)].map(|(name, sizes)| model.input(name, &sizes));
    let q = model.times(q, 0.5, &Q);
    let k = model.transpose(k, (2, 3), &[2, 3, 8, 5]);
    let k = model.times(k, 0.5, &[2, 3, 8, 5]);
    let scores = model.binary("aten.matmul.default", q, k, &SCORES);
    let weights = model.softmax(scores, 3, &SCORES);
    let y = model.binary("aten.matmul.default", weights, v, &Y);
    assert_snapshot!(model.lowered(&[y]), @"Attention(q, k, v, scale=0.25)");
}

#[test]
fn soft_cap_and_a_mask_of_one_row() {
    let text = written(DType::F32, |model, scores| {
        let scores = model.times(scores, 0.25, &SCORES);
        let scores = model.unary("aten.div.Tensor", scores, ("other", Arg::Float(50.0)), &SCORES);
        let scores = model.node("aten.tanh.default", &[("self", Arg::Tensor(scores))], &SCORES);
        let scores = model.times(scores, 50.0, &SCORES);
        let mask = model.input("mask", &[2, 1, 1, 5]);
        model.binary("aten.add.Tensor", scores, mask, &SCORES)
    });
    assert_snapshot!(text, @"Attention(q, k, v, Expand(Mul(mask, 0.99999994), [1, 1, 4, 1]), scale=0.25, softcap=50.0)");
}

#[test]
fn hidden_scores_are_filled() {
    let fill = |fill: f64| {
        written(DType::F32, |model, scores| {
            let mask = model.mask("mask", &[4, 5]);
            let args =
                [("self", Arg::Tensor(scores)), ("mask", Arg::Tensor(mask)), ("value", Arg::Float(fill))];
            model.node("aten.masked_fill.Scalar", &args, &SCORES)
        })
    };
    assert_snapshot!(fill(f64::NEG_INFINITY), @"Attention(q, k, v, Not(mask), scale=1.0)");
    assert_snapshot!(fill(f64::from(f32::MIN)), @"Attention(q, k, v, Where(mask, -3.4028233e38, 0.0), scale=1.0)");
    // A row of nothing but such numbers keeps its weights in PyTorch.
    assert!(!fill(-1e4).contains("Attention"));
}

#[test]
fn what_is_no_attention_stays() {
    let fused =
        |between: &dyn Fn(&mut Model, ValueId) -> ValueId| written(DType::F32, between).contains("Attention");
    assert!(fused(&|_, scores| scores));
    // A mask that has a row for each query, but not a column for each key.
    assert!(!fused(&|model, scores| {
        let mask = model.input("mask", &[2, 1, 4, 1]);
        model.binary("aten.add.Tensor", scores, mask, &SCORES)
    }));
    // Scores below a cap that is not the one above.
    assert!(!fused(&|model, scores| {
        let scores = model.times(scores, 0.1, &SCORES);
        let scores = model.node("aten.tanh.default", &[("self", Arg::Tensor(scores))], &SCORES);
        model.times(scores, 50.0, &SCORES)
    }));
    assert!(!fused(&|model, scores| model.times(scores, -0.25, &SCORES)));
    assert!(!written(DType::F64, |_, scores| scores).contains("Attention"));
}

#[test]
fn a_scale_that_is_a_tensor_stays_a_product() {
    let text = written(DType::F32, |model, scores| {
        let scale = model.input("scale", &[3, 1, 1]);
        model.binary("aten.mul.Tensor", scores, scale, &SCORES)
    });
    assert!(!text.contains("Attention"), "{text}");
}

#[test]
fn weights_that_are_read_and_other_axes_stay() {
    let built = |dim: i64, is_read: bool| {
        let mut model = Model::new(DType::F32);
        let [q, k, v] = [("q", Q), ("k", K), ("v", V)].map(|(name, sizes)| model.input(name, &sizes));
        let k = model.transpose(k, (2, 3), &[2, 3, 8, 5]);
        let scores = model.binary("aten.matmul.default", q, k, &SCORES);
        let weights = model.softmax(scores, dim, &SCORES);
        let y = model.binary("aten.matmul.default", weights, v, &Y);
        let outputs = if is_read { vec![y, weights] } else { vec![y] };
        model.lowered(&outputs)
    };
    assert!(built(-1, false).contains("Attention"));
    assert!(!built(-1, true).contains("Attention"));
    assert!(!built(2, false).contains("Attention"));
}

/// Attention of side by side heads, with keys and values of `key_heads`, each repeated where that is fewer.
fn packed(dtype: DType, rows: i64, key_heads: i64, past: i64) -> String {
    let (heads, size, keys) = (4, 8, rows + past);
    let mut model = Model::new(dtype);
    let q = model.input("q", &[2, rows, heads * size]);
    let q = model.heads(q, [2, heads, rows, size]);
    let mut present = Vec::new();
    let [k, v] = ["k", "v"].map(|name| {
        let new = model.input(name, &[2, rows, key_heads * size]);
        let mut x = model.heads(new, [2, key_heads, rows, size]);
        if past > 0 {
            let old = model.input(&format!("past_{name}"), &[2, key_heads, past, size]);
            let args = [("tensors", Arg::Tensors(vec![old, x])), ("dim", Arg::Int(-2))];
            x = model.node("aten.cat.default", &args, &[2, key_heads, keys, size]);
        }
        present.push(x);
        if key_heads < heads {
            let groups = heads / key_heads;
            let thin = [2, key_heads, 1, keys, size];
            let wide = [2, key_heads, groups, keys, size];
            let thin = model.unary("aten.unsqueeze.default", x, ("dim", Arg::Int(2)), &thin);
            let wide_again = Arg::Ints(wide.to_vec());
            let wide = model.unary("aten.expand.default", thin, ("size", wide_again), &wide);
            let sizes = [2, heads, keys, size];
            x = model.unary("aten.reshape.default", wide, ("shape", Arg::Ints(sizes.to_vec())), &sizes);
        }
        x
    });
    let mask = model.mask("mask", &[2, 1, rows, keys]);
    let sizes = [2, heads, rows, size];
    let y = model.attention([q, k, v], &[("attn_mask", Arg::Tensor(mask))], &sizes);
    let y = model.side_by_side(y, sizes);
    model.lowered(&[&[y], present.as_slice()].concat())
}

#[test]
fn heads_side_by_side() {
    assert_snapshot!(packed(DType::F32, 3, 4, 0), @"Attention(q, k, v, mask, scale=0.35355338, q_num_heads=4, kv_num_heads=4)");
    // The kernel for `float16` is slow there.
    assert_snapshot!(packed(DType::F16, 3, 4, 0), @r"
    t1 = Transpose(Reshape(k, [2, 3, 4, 8]), perm=[0, 2, 1, 3])
    t2 = Transpose(Reshape(v, [2, 3, 4, 8]), perm=[0, 2, 1, 3])
    t3 = Attention(Transpose(Reshape(q, [2, 3, 4, 8]), perm=[0, 2, 1, 3]), t1, t2, mask, scale=0.35355338)
    Reshape(Transpose(t3, perm=[0, 2, 1, 3]), [2, 3, 32]), t1, t2
    ");
}

#[test]
fn heads_that_are_repeated() {
    assert_snapshot!(packed(DType::F32, 3, 2, 0), @"Attention(q, k, v, mask, scale=0.35355338, q_num_heads=4, kv_num_heads=2)");
}

#[test]
fn a_cache_is_appended_to() {
    assert_snapshot!(packed(DType::F32, 3, 4, 7), @"Attention(q, k, v, mask, past_k, past_v, scale=0.35355338, q_num_heads=4, kv_num_heads=4)");
}

#[test]
fn one_row_of_queries_that_share_keys() {
    assert_snapshot!(packed(DType::F32, 1, 2, 7), @r"
    t1, t2, t3 = Attention(Reshape(q, [0, 2, 2, 8]), Reshape(k, [0, 2, 1, 8]), Reshape(v, [0, 2, 1, 8]), Expand(mask, [1, 1, 2, 1]), past_k, past_v, scale=0.35355338)
    Reshape(t1, [0, 1, 32]), t2, t3
    ");
}

#[test]
fn a_causal_node_has_no_past() {
    let mut model = Model::new(DType::F32);
    let q = model.input("q", &Q);
    let operands = ["k", "v"].map(|name| {
        let (past, new) =
            (model.input(&format!("past_{name}"), &[2, 3, 2, 8]), model.input(name, &[2, 3, 4, 8]));
        let args = [("tensors", Arg::Tensors(vec![past, new])), ("dim", Arg::Int(2))];
        model.node("aten.cat.default", &args, &[2, 3, 6, 8])
    });
    let y = model.attention([q, operands[0], operands[1]], &[("is_causal", Arg::Bool(true))], &Q);
    assert_snapshot!(model.lowered(&[y]), @"Attention(q, Concat(past_k, k, axis=2), Concat(past_v, v, axis=2), scale=0.35355338, is_causal=1)");
}

#[test]
fn sizes_may_be_symbols() {
    let mut model = Model::new(DType::F32);
    let (batch, rows) = (symbol("b"), symbol("s"));
    let flat = |columns: i64| contiguous(DType::F32, vec![batch.clone(), rows.clone(), columns.into()]);
    let inputs = ["q", "k", "v"].map(|name| model.program.input(name, flat(24)));
    let heads = inputs.map(|x| {
        let sizes = Arg::Ints(vec![2, -1, 3, 8]);
        let apart = contiguous(DType::F32, vec![batch.clone(), rows.clone(), 3.into(), 8.into()]);
        let args = [("self", Arg::Tensor(x)), ("size", sizes)];
        let apart = model.program.node("aten.view.default", &args, apart);
        let args = [("self", Arg::Tensor(apart)), ("dim0", Arg::Int(1)), ("dim1", Arg::Int(2))];
        let sizes = vec![batch.clone(), 3.into(), rows.clone(), 8.into()];
        model.program.node("aten.transpose.int", &args, contiguous(DType::F32, sizes))
    });
    let [q, k, v] = heads.map(Arg::Tensor);
    let sizes = contiguous(DType::F32, vec![batch.clone(), 3.into(), rows.clone(), 8.into()]);
    let args = [("query", q), ("key", k), ("value", v)];
    let y = model.program.node("aten.scaled_dot_product_attention.default", &args, sizes);
    let args = [("self", Arg::Tensor(y)), ("dim0", Arg::Int(1)), ("dim1", Arg::Int(2))];
    let sizes = vec![batch.clone(), rows.clone(), 3.into(), 8.into()];
    let y = model.program.node("aten.transpose.int", &args, contiguous(DType::F32, sizes));
    let args = [("self", Arg::Tensor(y)), ("size", Arg::Ints(vec![2, -1, 24]))];
    let y = model.program.node("aten.view.default", &args, flat(24));
    assert_snapshot!(model.lowered(&[y]), @"Attention(q, k, v, scale=0.35355338, q_num_heads=3, kv_num_heads=3)");
}

fn symbol(name: &str) -> Dim {
    Dim::Symbolic(modelexport_graph::SymExpr::Symbol(name.into()))
}
