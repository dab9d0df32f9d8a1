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
        "aten::_linalg_eigh(Tensor A, str UPLO=\"L\", bool compute_v=True) -> (Tensor eigenvalues, Tensor eigenvectors)",
        |cx| eigh(cx, "A"),
    ),
    Row::new(
        "aten::_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
        |cx| {
            let full = cx.bool("full_matrices")?;
            svd(cx, "A", full, true)
        },
    ),
    Row::new("aten::linalg_eigh(Tensor self, str UPLO=\"L\") -> (Tensor eigenvalues, Tensor eigenvectors)", |cx| {
        eigh(cx, "self")
    }),
    Row::new(
        "aten::linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
        |cx| {
            let full = cx.bool("full_matrices")?;
            svd(cx, "A", full, true)
        },
    ),
    Row::new("aten::svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)", |cx| {
        let full = !cx.bool("some")?;
        svd(cx, "self", full, false)
    }),
];

/// Whether the node's arguments depend on random numbers that its graph draws.
fn is_random(cx: &Context<'_, '_>) -> bool {
    let random: HashSet<String> = random::ROWS.iter().chain(random_integers::ROWS).map(Row::target).collect();
    let mut tainted: HashSet<Tensor> = HashSet::default();
    for node in &cx.graph.nodes {
        let mut depends = random.contains(&*node.target);
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
        assert_snapshot!(lowered(ROWS));
    }
}
