//! Shapes that contradict each other, found where the nodes for one ATen node were emitted: operands that do not
//! broadcast, a product of matrices that do not fit, a result of another shape than the program says.
//!
//! Only numbers can contradict each other; a symbolic size fits everything. Operators that are not listed here are
//! believed.

use modelexport_graph::Dim;

use crate::ir::{Attr, Ir, Node, ValueId};

/// A shape as far as it is known.
type Sizes = Vec<Option<i64>>;

/// True if the known shapes of what `node` reads and gives cannot be.
pub fn contradict(ir: &Ir, node: &Node) -> bool {
    if !node.domain.is_empty() || have_one_shape(ir, node) {
        return false;
    }
    match expected(ir, node) {
        Expected::Impossible => true,
        Expected::Unknown => false,
        Expected::Shape(wanted) => match node.outputs.first().and_then(|&output| sizes(ir, output)) {
            Some(found) => !fit(&wanted, &found),
            None => false,
        },
    }
}

/// Operands and result of one shape, which most operators on elements have. Only these operators: a product of matrices
/// of one shape may well be wrong.
fn have_one_shape(ir: &Ir, node: &Node) -> bool {
    let is_on_elements = matches!(&*node.op, "Add" | "Sub" | "Mul" | "Div");
    let shape = node.outputs.first().and_then(|&output| ir.shape(output));
    is_on_elements
        && shape.is_some()
        && node.inputs.iter().all(|input| input.and_then(|value| ir.shape(value)) == shape)
}

enum Expected {
    Unknown,
    Shape(Sizes),
    Impossible,
}

impl From<Option<Sizes>> for Expected {
    /// `None`: no shape fits.
    fn from(shape: Option<Sizes>) -> Self {
        shape.map_or(Expected::Impossible, Expected::Shape)
    }
}

fn sizes(ir: &Ir, value: ValueId) -> Option<Sizes> {
    ir.shape(value).map(|shape| shape.iter().map(Dim::as_static).collect())
}

fn fit(a: &[Option<i64>], b: &[Option<i64>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(*a, *b))
}

/// Whether two sizes may be equal.
fn same(a: Option<i64>, b: Option<i64>) -> bool {
    a.is_none() || b.is_none() || a == b
}

fn expected(ir: &Ir, node: &Node) -> Expected {
    let input = |i: usize| node.inputs.get(i).copied().flatten().and_then(|value| sizes(ir, value));
    match &*node.op {
        "Add" | "Sub" | "Mul" | "Div" | "Pow" | "Mod" | "Equal" | "Less" | "LessOrEqual" | "Greater"
        | "GreaterOrEqual" | "And" | "Or" | "Xor" | "Where" | "Min" | "Max" => {
            let operands: Option<Vec<Sizes>> = (0..node.inputs.len()).map(input).collect();
            operands.map_or(Expected::Unknown, |operands| broadcast(&operands).into())
        }
        "MatMul" => match (input(0), input(1)) {
            (Some(a), Some(b)) => product(&a, &b),
            _ => Expected::Unknown,
        },
        "Gemm" => match (input(0), input(1)) {
            (Some(a), Some(b)) => gemm(node, &a, &b),
            _ => Expected::Unknown,
        },
        "Concat" => {
            let parts: Option<Vec<Sizes>> = (0..node.inputs.len()).map(input).collect();
            match (parts, node.attribute("axis")) {
                (Some(parts), Some(Attr::Int(axis))) => joined(&parts, *axis).into(),
                _ => Expected::Unknown,
            }
        }
        "Reshape" => match (input(0), node.inputs.get(1).copied().flatten()) {
            (Some(from), Some(target)) => reshaped(ir, node, &from, target),
            _ => Expected::Unknown,
        },
        "Conv" => match (input(0), input(1)) {
            (Some(x), Some(weight)) => convolved(node, &x, &weight),
            _ => Expected::Unknown,
        },
        "Relu"
        | "Sigmoid"
        | "Tanh"
        | "Erf"
        | "Exp"
        | "Log"
        | "Sqrt"
        | "Neg"
        | "Abs"
        | "Gelu"
        | "Softmax"
        | "LogSoftmax"
        | "Cast"
        | "LayerNormalization"
        | "BatchNormalization"
        | "InstanceNormalization"
        | "RMSNormalization" => input(0).map_or(Expected::Unknown, Expected::Shape),
        _ => Expected::Unknown,
    }
}

/// Aligned at the last axis; sizes of 1 stretch. `None` if they do not fit.
fn broadcast(operands: &[Sizes]) -> Option<Sizes> {
    let rank = operands.iter().map(Vec::len).max().unwrap_or(0);
    (0..rank)
        .rev()
        .map(|behind| {
            let sizes = operands.iter().filter_map(|sizes| sizes.iter().rev().nth(behind).copied());
            let mut known: Vec<Option<i64>> = sizes.filter(|size| *size != Some(1)).collect();
            known.sort_unstable();
            known.dedup();
            match known.as_slice() {
                [] => Some(Some(1)),
                [one] => Some(*one),
                // A symbolic size beside a number: the number, or the size is 1.
                [None, Some(number)] => Some(Some(*number)),
                _ => None,
            }
        })
        .collect()
}

fn product(a: &[Option<i64>], b: &[Option<i64>]) -> Expected {
    let ([.., inner_a], [.., inner_b]) = (a, b) else { return Expected::Impossible };
    let inner_b = if let [.., inner, _] = b { inner } else { inner_b };
    if !same(*inner_a, *inner_b) {
        return Expected::Impossible;
    }
    let batch = |sizes: &[Option<i64>]| sizes.iter().take(sizes.len().saturating_sub(2)).copied().collect();
    let Some(mut shape) = broadcast(&[batch(a), batch(b)]) else { return Expected::Impossible };
    if let [.., rows, _] = a {
        shape.push(*rows);
    }
    if let [.., _, columns] = b {
        shape.push(*columns);
    }
    Expected::Shape(shape)
}

fn gemm(node: &Node, a: &[Option<i64>], b: &[Option<i64>]) -> Expected {
    let turned = |name: &str| matches!(node.attribute(name), Some(Attr::Int(1)));
    let ([rows, inner_a], [inner_b, columns]) = (a, b) else { return Expected::Impossible };
    let (rows, inner_a) = if turned("transA") { (inner_a, rows) } else { (rows, inner_a) };
    let (inner_b, columns) = if turned("transB") { (columns, inner_b) } else { (inner_b, columns) };
    match same(*inner_a, *inner_b) {
        true => Expected::Shape(vec![*rows, *columns]),
        false => Expected::Impossible,
    }
}

/// `None` if the parts differ elsewhere than along `axis`.
fn joined(parts: &[Sizes], axis: i64) -> Option<Sizes> {
    let (first, rest) = parts.split_first()?;
    let axis = usize::try_from(if axis < 0 { axis + first.len() as i64 } else { axis }).ok()?;
    let mut shape = first.clone();
    for part in rest {
        if part.len() != shape.len() {
            return None;
        }
        for (i, (size, other)) in shape.iter_mut().zip(part).enumerate() {
            match i == axis {
                true => *size = size.zip(*other).map(|(a, b)| a + b),
                false if !same(*size, *other) => return None,
                false => *size = size.or(*other),
            }
        }
    }
    Some(shape)
}

/// A reshape to a shape that is known now keeps the number of elements.
fn reshaped(ir: &Ir, node: &Node, from: &[Option<i64>], target: ValueId) -> Expected {
    let Some(target) = ir.literal(target).and_then(|literal| literal.as_ints()) else {
        return Expected::Unknown;
    };
    let copies = !matches!(node.attribute("allowzero"), Some(Attr::Int(1)));
    let shape: Sizes = (target.iter().enumerate())
        .map(|(i, &size)| match size {
            0 if copies => from.get(i).copied().flatten(),
            -1 => None,
            size => Some(size),
        })
        .collect();
    let count = |sizes: &[Option<i64>]| -> Option<i64> {
        sizes.iter().try_fold(1i64, |product, size| product.checked_mul((*size)?))
    };
    match (count(from), count(&shape)) {
        (Some(have), Some(want)) if have != want => Expected::Impossible,
        _ => Expected::Shape(shape),
    }
}

/// Images, channels and rank; how the window moves is not looked at.
fn convolved(node: &Node, x: &[Option<i64>], weight: &[Option<i64>]) -> Expected {
    let group = match node.attribute("group") {
        Some(Attr::Int(group)) => *group,
        _ => 1,
    };
    let ([images, channels, spatial @ ..], [filters, depth, ..]) = (x, weight) else {
        return Expected::Impossible;
    };
    let fits = x.len() == weight.len() && same(*channels, depth.map(|depth| depth * group));
    if !fits {
        return Expected::Impossible;
    }
    Expected::Shape([*images, *filters].into_iter().chain(spatial.iter().map(|_| None)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(sizes: &[i64]) -> Sizes {
        sizes.iter().map(|&size| (size >= 0).then_some(size)).collect()
    }

    #[test]
    fn operands_stretch_from_behind() {
        assert_eq!(broadcast(&[shape(&[2, 1, 4]), shape(&[3, 1])]), Some(shape(&[2, 3, 4])));
        assert_eq!(broadcast(&[shape(&[2, 3]), shape(&[4])]), None);
        assert_eq!(broadcast(&[shape(&[-1, 3]), shape(&[5, 1])]), Some(shape(&[5, 3])));
        assert_eq!(broadcast(&[shape(&[0]), shape(&[1])]), Some(shape(&[0])));
    }

    #[test]
    fn matrices_share_their_inner_size() {
        let of = |a: &[i64], b: &[i64]| match product(&shape(a), &shape(b)) {
            Expected::Shape(shape) => Some(shape),
            _ => None,
        };
        assert_eq!(of(&[5, 2, 3], &[3, 4]), Some(shape(&[5, 2, 4])));
        assert_eq!(of(&[3], &[3]), Some(shape(&[])));
        assert_eq!(of(&[2, 3], &[3]), Some(shape(&[2])));
        assert_eq!(of(&[3], &[2, 3, 4]), Some(shape(&[2, 4])));
        assert_eq!(of(&[2, 3], &[4, 5]), None);
        assert_eq!(of(&[2, -1], &[4, 5]), Some(shape(&[2, 5])));
    }

    #[test]
    fn parts_differ_along_one_axis_only() {
        assert_eq!(joined(&[shape(&[2, 3]), shape(&[2, -1])], 1), Some(shape(&[2, -1])));
        assert_eq!(joined(&[shape(&[2, 3]), shape(&[4, 3])], -2), Some(shape(&[6, 3])));
        assert_eq!(joined(&[shape(&[2, 3]), shape(&[4, 5])], 0), None);
    }
}
