//! Singular vectors and eigenvectors beside their values.
//!
//! Vectors have no definite signs, nor directions where values are equal. They are given where they are random anyway
//! (`svd_lowrank` multiplies with random numbers first), and where nothing reads them; else refused.

use modelexport_graph::aten::ValueId as Tensor;
use modelexport_graph::hash::HashSet;
use modelexport_graph::{DType, Dim};

use super::support::fill::filled;
use super::support::jacobi::{
    eigenvalues, is_wide, orthogonalize, singular_values, sorted_eigenvalues, sorted_with_places, symmetric, upright,
};
use super::support::matrices::{Fill, Matrices, results_of_nothing};
use super::{random, random_integers};
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten._linalg_eigh.default",
        "_linalg_eigh(Tensor A, str UPLO=\"L\", bool compute_v=True) -> (Tensor eigenvalues, Tensor eigenvectors)",
        |cx| eigh(cx, "A"),
    ),
    Row::new(
        "aten._linalg_svd.default",
        "_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
        |cx| {
            let full = cx.bool("full_matrices")?;
            svd(cx, "A", full, true)
        },
    ),
    Row::new(
        "aten.linalg_eigh.default",
        "linalg_eigh(Tensor self, str UPLO=\"L\") -> (Tensor eigenvalues, Tensor eigenvectors)",
        |cx| eigh(cx, "self"),
    ),
    Row::new(
        "aten.linalg_svd.default",
        "linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
        |cx| {
            let full = cx.bool("full_matrices")?;
            svd(cx, "A", full, true)
        },
    ),
    Row::new(
        "aten.svd.default",
        "svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)",
        |cx| {
            let full = !cx.bool("some")?;
            svd(cx, "self", full, false)
        },
    ),
];

/// Whether the node's arguments depend on random numbers that its graph draws.
fn is_random(cx: &Context<'_, '_>) -> bool {
    let draws = |target: &str| {
        random::ROWS.iter().chain(random_integers::ROWS).any(|row| row.target == target)
    };
    let mut tainted: HashSet<Tensor> = HashSet::default();
    for node in &cx.graph.nodes {
        let mut depends = draws(&node.target);
        for argument in &node.args {
            argument.arg.for_each_tensor(&mut |id| depends |= tainted.contains(&id));
        }
        if std::ptr::eq(node, cx.node) {
            return depends;
        }
        if depends {
            for output in &node.outputs {
                output.for_each_tensor(&mut |id| {
                    tainted.insert(id);
                });
            }
        }
    }
    false
}

/// Whether the vectors among the results are wanted.
fn wants_vectors(cx: &Context<'_, '_>, results: &[usize], what: &str, instead: &str) -> Result<bool> {
    if !results.iter().any(|&index| cx.is_read(index)) {
        return Ok(false);
    }
    if is_random(cx) {
        return Ok(true);
    }
    cx.refuse(format!(
        "gives {what}, whose signs PyTorch does not define, so that no two libraries agree; the values alone (`{instead}`) are supported"
    ))
}

fn zeros(cx: &mut Context<'_, '_>) -> Result<Vec<ValueId>> {
    let mut results = Vec::new();
    for meta in cx.out_metas() {
        results.push(filled(cx, &meta.sizes, meta.dtype, 0.0, None)?);
    }
    Ok(results)
}

/// The third result is `Vᵀ` if `turned`, else `V`.
fn svd(cx: &mut Context<'_, '_>, name: &str, full: bool, turned: bool) -> Result<Outputs> {
    // Vectors of nothing are those of the identity, if the call gives them.
    let fill = |index: usize| match cx.out_at(index).map(|meta| meta.sizes.len()) {
        Some(rank) if rank >= 2 => Fill::Identity,
        _ => Fill::Number(0.0),
    };
    let fills = [fill(0), Fill::Number(0.0), fill(2)];
    if let Some(results) = results_of_nothing(cx, name, &fills)? {
        return Ok(results);
    }
    // What a call leaves out (`compute_uv=False`) is zeros, or has no elements.
    let leaves_out = cx.arg("compute_uv").is_some() && !cx.bool("compute_uv")?;
    let wants = !leaves_out && wants_vectors(cx, &[0, 2], "singular vectors", "linalg.svdvals")?;
    let dtype = cx.out()?.dtype;
    let a = Matrices::argument_as(cx, name, DType::F64)?;
    if !wants {
        let values = singular_values(cx, &a)?;
        let mut results = zeros(cx)?;
        if let Some(result) = results.get_mut(1) {
            *result = cx.cast(values, dtype);
        }
        return Ok(results.into());
    }
    if full && a.rows != a.columns {
        return cx.refuse("gives vectors beyond those of the singular values (`full_matrices`), which nothing defines");
    }
    let count = a.diagonal_length();
    let tall = upright(cx, &a);
    let found = orthogonalize(cx, &tall)?;
    let values = cx.squeeze(found.values, &[-2]);
    let [values, places] = sorted_with_places(cx, values, &count, true)?;
    let lengths = cx.emit("Div", &[found.left.value, found.values], vec![]);
    let left = Matrices { value: lengths, ..found.left };
    let mut vectors =
        [columns_at(cx, &left, places, &count)?, columns_at(cx, &found.right, places, &count)?];
    if is_wide(&a) {
        vectors.reverse();
    }
    let [u, v] = vectors;
    let v = if turned { v.transposed(cx) } else { v };
    Ok([u.value, values, v.value].map(|value| cx.cast(value, dtype)).into())
}

/// The columns of `matrices` in the order `places`.
fn columns_at(cx: &mut Context<'_, '_>, matrices: &Matrices, places: ValueId, count: &Dim) -> Result<Matrices> {
    let sizes = matrices.with_sizes(&[&matrices.rows, count]);
    let places = cx.unsqueeze(places, &[-2]);
    let shape = cx.shape_value(&sizes)?;
    let places = cx.emit("Expand", &[places, shape], vec![]);
    let value = cx.emit("GatherElements", &[matrices.value, places], attrs![axis = -1]);
    Matrices::of(cx, value, &sizes)
}

fn eigh(cx: &mut Context<'_, '_>, name: &str) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, name, &[Fill::Number(0.0); 2])? {
        return Ok(results);
    }
    let leaves_out = cx.arg("compute_v").is_some() && !cx.bool("compute_v")?;
    let wants = !leaves_out && wants_vectors(cx, &[1], "eigenvectors", "linalg.eigvalsh")?;
    let (a, dtype) = (Matrices::argument_as(cx, name, DType::F64)?, cx.out()?.dtype);
    let upper = cx.str_opt("UPLO")?.is_some_and(|side| side.eq_ignore_ascii_case("U"));
    let a = symmetric(cx, &a, upper);
    if !wants {
        let values = sorted_eigenvalues(cx, &a)?;
        let mut results = zeros(cx)?;
        if let Some(result) = results.first_mut() {
            *result = cx.cast(values, dtype);
        }
        return Ok(results.into());
    }
    let (values, vectors) = eigenvalues(cx, &a)?;
    let values = cx.squeeze(values, &[-2]);
    let [values, places] = sorted_with_places(cx, values, &a.columns, false)?;
    let vectors = columns_at(cx, &vectors, places, &a.columns)?;
    Ok([values, vectors.value].map(|value| cx.cast(value, dtype)).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @"
        aten._linalg_eigh.default(A: f32[2, 3, 3]) -> (f32[2, 3], unread f32[2, 3, 3])
            t1 = Trilu(Cast(A, to=f64), upper=0)
            t2 = Add(t1, Trilu(Transpose(t1, perm=[0, 2, 1]), 1, upper=1))
            t3 = ReduceMax(ReduceL1(t2, [-1], keepdims=1), [-2], keepdims=1)
            t4 = Where([[true, false, false], [false, true, false], [false, false, true]], t3, 0.0:f64)
            t27, _, _ = Loop(120, None, Add(t2, t4), f64[2, 3, 3], false, body=(t5, _, t6, t7, t8) {
                t9 = Unsqueeze(t5, [0])
                t10 = Mod(Sub(t9, [0, 1, 2]), [3])
                t11 = Gather(t6, t10, axis=-1)
                t12 = ReduceSumSquare(t6, [-2], keepdims=1)
                t13 = Gather(t12, t10, axis=-1)
                t14 = Where(Equal([0, 1, 2], t10), 0.0:f64, ReduceSum(Mul(t6, t11), [-2], keepdims=1))
                t15 = Sub(t13, t12)
                t16 = Where(Equal(t15, 0.0:f64), Where(Less([0, 1, 2], t10), 1.0:f64, -1.0:f64), Sign(t15))
                t17 = Add(t14, t14)
                t18 = Mul(t17, t17)
                t19 = Add(Abs(t15), Sqrt(Add(t18, Mul(t15, t15))))
                t20 = Div(Mul(t17, t16), Where(Equal(t19, 0.0:f64), 1.0:f64, t19))
                t21 = ReduceMax(t12, [-1], keepdims=1)
                t22 = Add(Mul(Mul(t12, t13), 1e-24:f64), Mul(Mul(t21, t21), 1e-30:f64))
                t23 = Cast(ReduceMax(Cast(Greater(t18, t22), to=f64), keepdims=0), to=bool)
                t24 = Sqrt(Add(Mul(t20, t20), 1.0:f64))
                t25 = Mod(t9, [3])
                t26 = Or(And(Not(Squeeze(Equal(t25, [0]), [0])), t8), t23)
                Or(Squeeze(Less(Add(t25, [1]), [3]), [0]), t26), Div(Sub(t6, Mul(t20, t11)), t24), Div(Sub(t7, Mul(t20, Gather(t7, t10, axis=-1))), t24), t26
            })
            t28, _ = TopK(Squeeze(Sub(ReduceL2(t27, [-2], keepdims=1), t3), [-2]), [3], axis=-1, largest=0, sorted=1)
            Cast(t28, to=f32)
        aten._linalg_svd.default(A: f32[2, 4, 3]) -> (unread f32[2, 4, 3], f32[2, 3], unread f32[2, 3, 3])
            t23, _, _ = Loop(120, None, Cast(A, to=f64), f64[2, 3, 3], false, body=(t1, _, t2, t3, t4) {
                t5 = Unsqueeze(t1, [0])
                t6 = Mod(Sub(t5, [0, 1, 2]), [3])
                t7 = Gather(t2, t6, axis=-1)
                t8 = ReduceSumSquare(t2, [-2], keepdims=1)
                t9 = Gather(t8, t6, axis=-1)
                t10 = Where(Equal([0, 1, 2], t6), 0.0:f64, ReduceSum(Mul(t2, t7), [-2], keepdims=1))
                t11 = Sub(t9, t8)
                t12 = Where(Equal(t11, 0.0:f64), Where(Less([0, 1, 2], t6), 1.0:f64, -1.0:f64), Sign(t11))
                t13 = Add(t10, t10)
                t14 = Mul(t13, t13)
                t15 = Add(Abs(t11), Sqrt(Add(t14, Mul(t11, t11))))
                t16 = Div(Mul(t13, t12), Where(Equal(t15, 0.0:f64), 1.0:f64, t15))
                t17 = ReduceMax(t8, [-1], keepdims=1)
                t18 = Add(Mul(Mul(t8, t9), 1e-24:f64), Mul(Mul(t17, t17), 1e-30:f64))
                t19 = Cast(ReduceMax(Cast(Greater(t14, t18), to=f64), keepdims=0), to=bool)
                t20 = Sqrt(Add(Mul(t16, t16), 1.0:f64))
                t21 = Mod(t5, [3])
                t22 = Or(And(Not(Squeeze(Equal(t21, [0]), [0])), t4), t19)
                Or(Squeeze(Less(Add(t21, [1]), [3]), [0]), t22), Div(Sub(t2, Mul(t16, t7)), t20), Div(Sub(t3, Mul(t16, Gather(t3, t6, axis=-1))), t20), t22
            })
            t24, _ = TopK(Squeeze(ReduceL2(t23, [-2], keepdims=1), [-2]), [3], axis=-1, largest=1, sorted=1)
            Cast(t24, to=f32)
        aten.linalg_eigh.default(self: f32[4, 4]) -> (f32[4], unread f32[4, 4])
            t1 = Trilu(Cast(self, to=f64), upper=0)
            t2 = Add(t1, Trilu(Transpose(t1, perm=[1, 0]), 1, upper=1))
            t3 = ReduceMax(ReduceL1(t2, [-1], keepdims=1), [-2], keepdims=1)
            t26, _, _ = Loop(160, None, Add(t2, Where(bool[4, 4], t3, 0.0:f64)), f64[4, 4], false, body=(t4, _, t5, t6, t7) {
                t8 = Unsqueeze(t4, [0])
                t9 = Mod(Sub(t8, [0, 1, 2, 3]), [4])
                t10 = Gather(t5, t9, axis=-1)
                t11 = ReduceSumSquare(t5, [-2], keepdims=1)
                t12 = Gather(t11, t9, axis=-1)
                t13 = Where(Equal([0, 1, 2, 3], t9), 0.0:f64, ReduceSum(Mul(t5, t10), [-2], keepdims=1))
                t14 = Sub(t12, t11)
                t15 = Where(Equal(t14, 0.0:f64), Where(Less([0, 1, 2, 3], t9), 1.0:f64, -1.0:f64), Sign(t14))
                t16 = Add(t13, t13)
                t17 = Mul(t16, t16)
                t18 = Add(Abs(t14), Sqrt(Add(t17, Mul(t14, t14))))
                t19 = Div(Mul(t16, t15), Where(Equal(t18, 0.0:f64), 1.0:f64, t18))
                t20 = ReduceMax(t11, [-1], keepdims=1)
                t21 = Add(Mul(Mul(t11, t12), 1e-24:f64), Mul(Mul(t20, t20), 1e-30:f64))
                t22 = Cast(ReduceMax(Cast(Greater(t17, t21), to=f64), keepdims=0), to=bool)
                t23 = Sqrt(Add(Mul(t19, t19), 1.0:f64))
                t24 = Mod(t8, [4])
                t25 = Or(And(Not(Squeeze(Equal(t24, [0]), [0])), t7), t22)
                Or(Squeeze(Less(Add(t24, [1]), [4]), [0]), t25), Div(Sub(t5, Mul(t19, t10)), t23), Div(Sub(t6, Mul(t19, Gather(t6, t9, axis=-1))), t23), t25
            })
            t27, _ = TopK(Squeeze(Sub(ReduceL2(t26, [-2], keepdims=1), t3), [-2]), [4], axis=-1, largest=0, sorted=1)
            Cast(t27, to=f32)
        aten.linalg_svd.default(A: f32[4, 3]) -> (unread f32[4, 4], f32[3], unread f32[3, 3])
            t23, _, _ = Loop(120, None, Cast(A, to=f64), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]:f64, false, body=(t1, _, t2, t3, t4) {
                t5 = Unsqueeze(t1, [0])
                t6 = Mod(Sub(t5, [0, 1, 2]), [3])
                t7 = Gather(t2, t6, axis=-1)
                t8 = ReduceSumSquare(t2, [-2], keepdims=1)
                t9 = Gather(t8, t6, axis=-1)
                t10 = Where(Equal([0, 1, 2], t6), 0.0:f64, ReduceSum(Mul(t2, t7), [-2], keepdims=1))
                t11 = Sub(t9, t8)
                t12 = Where(Equal(t11, 0.0:f64), Where(Less([0, 1, 2], t6), 1.0:f64, -1.0:f64), Sign(t11))
                t13 = Add(t10, t10)
                t14 = Mul(t13, t13)
                t15 = Add(Abs(t11), Sqrt(Add(t14, Mul(t11, t11))))
                t16 = Div(Mul(t13, t12), Where(Equal(t15, 0.0:f64), 1.0:f64, t15))
                t17 = ReduceMax(t8, [-1], keepdims=1)
                t18 = Add(Mul(Mul(t8, t9), 1e-24:f64), Mul(Mul(t17, t17), 1e-30:f64))
                t19 = Cast(ReduceMax(Cast(Greater(t14, t18), to=f64), keepdims=0), to=bool)
                t20 = Sqrt(Add(Mul(t16, t16), 1.0:f64))
                t21 = Mod(t5, [3])
                t22 = Or(And(Not(Squeeze(Equal(t21, [0]), [0])), t4), t19)
                Or(Squeeze(Less(Add(t21, [1]), [3]), [0]), t22), Div(Sub(t2, Mul(t16, t7)), t20), Div(Sub(t3, Mul(t16, Gather(t3, t6, axis=-1))), t20), t22
            })
            t24, _ = TopK(Squeeze(ReduceL2(t23, [-2], keepdims=1), [-2]), [3], axis=-1, largest=1, sorted=1)
            Cast(t24, to=f32)
        aten.linalg_svd.default(A: f32[s0, 3, 3]) -> (unread f32[s0, 3, 3], f32[s0, 3], unread f32[s0, 3, 3])
            t1 = Expand([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]:f64, Concat(Shape(A, start=0, end=1), [3, 3], axis=0))
            t24, _, _ = Loop(120, None, Cast(A, to=f64), t1, false, body=(t2, _, t3, t4, t5) {
                t6 = Unsqueeze(t2, [0])
                t7 = Mod(Sub(t6, [0, 1, 2]), [3])
                t8 = Gather(t3, t7, axis=-1)
                t9 = ReduceSumSquare(t3, [-2], keepdims=1)
                t10 = Gather(t9, t7, axis=-1)
                t11 = Where(Equal([0, 1, 2], t7), 0.0:f64, ReduceSum(Mul(t3, t8), [-2], keepdims=1))
                t12 = Sub(t10, t9)
                t13 = Where(Equal(t12, 0.0:f64), Where(Less([0, 1, 2], t7), 1.0:f64, -1.0:f64), Sign(t12))
                t14 = Add(t11, t11)
                t15 = Mul(t14, t14)
                t16 = Add(Abs(t12), Sqrt(Add(t15, Mul(t12, t12))))
                t17 = Div(Mul(t14, t13), Where(Equal(t16, 0.0:f64), 1.0:f64, t16))
                t18 = ReduceMax(t9, [-1], keepdims=1)
                t19 = Add(Mul(Mul(t9, t10), 1e-24:f64), Mul(Mul(t18, t18), 1e-30:f64))
                t20 = Cast(ReduceMax(Cast(Greater(t15, t19), to=f64), keepdims=0), to=bool)
                t21 = Sqrt(Add(Mul(t17, t17), 1.0:f64))
                t22 = Mod(t6, [3])
                t23 = Or(And(Not(Squeeze(Equal(t22, [0]), [0])), t5), t20)
                Or(Squeeze(Less(Add(t22, [1]), [3]), [0]), t23), Div(Sub(t3, Mul(t17, t8)), t21), Div(Sub(t4, Mul(t17, Gather(t4, t7, axis=-1))), t21), t23
            })
            t25, _ = TopK(Squeeze(ReduceL2(t24, [-2], keepdims=1), [-2]), [3], axis=-1, largest=1, sorted=1)
            Cast(t25, to=f32)
        aten.svd.default(self: f32[4, 3]) -> (unread f32[4, 3], f32[3], unread f32[3, 3])
            t23, _, _ = Loop(120, None, Cast(self, to=f64), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]:f64, false, body=(t1, _, t2, t3, t4) {
                t5 = Unsqueeze(t1, [0])
                t6 = Mod(Sub(t5, [0, 1, 2]), [3])
                t7 = Gather(t2, t6, axis=-1)
                t8 = ReduceSumSquare(t2, [-2], keepdims=1)
                t9 = Gather(t8, t6, axis=-1)
                t10 = Where(Equal([0, 1, 2], t6), 0.0:f64, ReduceSum(Mul(t2, t7), [-2], keepdims=1))
                t11 = Sub(t9, t8)
                t12 = Where(Equal(t11, 0.0:f64), Where(Less([0, 1, 2], t6), 1.0:f64, -1.0:f64), Sign(t11))
                t13 = Add(t10, t10)
                t14 = Mul(t13, t13)
                t15 = Add(Abs(t11), Sqrt(Add(t14, Mul(t11, t11))))
                t16 = Div(Mul(t13, t12), Where(Equal(t15, 0.0:f64), 1.0:f64, t15))
                t17 = ReduceMax(t8, [-1], keepdims=1)
                t18 = Add(Mul(Mul(t8, t9), 1e-24:f64), Mul(Mul(t17, t17), 1e-30:f64))
                t19 = Cast(ReduceMax(Cast(Greater(t14, t18), to=f64), keepdims=0), to=bool)
                t20 = Sqrt(Add(Mul(t16, t16), 1.0:f64))
                t21 = Mod(t5, [3])
                t22 = Or(And(Not(Squeeze(Equal(t21, [0]), [0])), t4), t19)
                Or(Squeeze(Less(Add(t21, [1]), [3]), [0]), t22), Div(Sub(t2, Mul(t16, t7)), t20), Div(Sub(t3, Mul(t16, Gather(t3, t6, axis=-1))), t20), t22
            })
            t24, _ = TopK(Squeeze(ReduceL2(t23, [-2], keepdims=1), [-2]), [3], axis=-1, largest=1, sorted=1)
            Cast(t24, to=f32)
        ");
    }
}
