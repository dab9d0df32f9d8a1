//! Arguments of the nodes that the step makes.

use modelexport_graph::aten::{Arg, Graph, NamedArg, SymOr, ValueId, ValueKind};
use modelexport_graph::{Dim, SymExpr, SymOp};

/// An argument with a name.
pub(super) fn named(name: &str, arg: Arg) -> NamedArg {
    NamedArg { name: name.into(), arg, is_keyword: false }
}

/// The number or the expression of an integer argument.
pub(super) fn dim_of(graph: &Graph, arg: &Arg) -> Option<Dim> {
    match arg {
        Arg::Int(value) => Some(Dim::Static(*value)),
        Arg::SymInt(id) => match &graph.value(*id)?.kind {
            ValueKind::SymInt(SymExpr::Int(value)) => Some(Dim::Static(*value)),
            ValueKind::SymInt(expr) => Some(Dim::Symbolic(expr.clone())),
            _ => None,
        },
        _ => None,
    }
}

/// The number of elements.
pub(super) fn element_count(sizes: &[Dim]) -> Dim {
    let numbers = sizes.iter().filter_map(Dim::as_static).fold(1i64, i64::saturating_mul);
    let mut factors: Vec<SymExpr> =
        sizes.iter().filter(|size| size.as_static().is_none()).map(Dim::to_expr).collect();
    if factors.is_empty() || numbers == 0 {
        return Dim::Static(numbers);
    }
    if numbers != 1 {
        factors.insert(0, SymExpr::Int(numbers));
    }
    match factors.pop() {
        Some(only) if factors.is_empty() => Dim::Symbolic(only),
        Some(last) => {
            factors.push(last);
            Dim::Symbolic(SymExpr::Call(SymOp::Mul, factors))
        }
        None => Dim::Static(numbers),
    }
}

/// A size as an argument; a symbolic one becomes a value that no node makes, since its expression says all.
pub(super) fn dim_arg(graph: &mut Graph, dim: &Dim) -> Arg {
    match dim {
        Dim::Static(value) => Arg::Int(*value),
        Dim::Symbolic(expr) => Arg::SymInt(symbol_value(graph, expr)),
    }
}

/// Sizes as an argument.
pub(super) fn dims_arg(graph: &mut Graph, dims: &[Dim]) -> Arg {
    if let Some(values) = modelexport_graph::shape::static_shape(dims) {
        return Arg::Ints(values);
    }
    let sizes = dims.iter().map(|dim| match dim {
        Dim::Static(value) => SymOr::Const(*value),
        Dim::Symbolic(expr) => SymOr::Value(symbol_value(graph, expr)),
    });
    Arg::SymInts(sizes.collect())
}

fn symbol_value(graph: &mut Graph, expr: &SymExpr) -> ValueId {
    // FX names are identifiers, so that a dot makes a name that nothing else has.
    let name = format!("size.{}", graph.values.len());
    graph.add_value(name.into(), ValueKind::SymInt(expr.clone()))
}
