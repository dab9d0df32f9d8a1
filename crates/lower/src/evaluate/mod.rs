//! What an ONNX node gives for constant inputs. Operators that are not known here are simply not folded.

mod array;
mod elementwise;
mod layout;
mod reduce;
mod scatter;

use modelexport_graph::DType;

use crate::ir::{Attr, Node};
use crate::literal::{Literal, Number};
use array::Array;

/// The results of `node` for `inputs`, none of them with more than `most` elements; `None` if it cannot be computed.
pub fn evaluate(node: &Node, inputs: &[Option<&Literal>], most: usize) -> Option<Vec<Literal>> {
    if !node.domain.is_empty() || !is_known(&node.op) {
        return None;
    }
    let arrays: Vec<Option<Array>> = inputs
        .iter()
        .map(|literal| match literal {
            None => Some(None),
            Some(literal) => Array::from_literal(literal).map(Some),
        })
        .collect::<Option<_>>()?;
    let results = compute(node, &arrays, most)?;
    let mut literals = Vec::with_capacity(results.len());
    for array in &results {
        if array.data.len() > most {
            return None;
        }
        literals.push(array.to_literal()?);
    }
    (literals.len() >= node.outputs.len()).then_some(literals)
}

/// The same elements with the axes in another order.
pub fn transposed(literal: &Literal, axes: &[usize]) -> Option<Literal> {
    let axes: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
    layout::transpose(&Array::from_literal(literal)?, &axes)?.to_literal()
}

/// Checked before inputs are converted, which costs time.
fn is_known(op: &str) -> bool {
    !matches!(op, "Conv" | "Gemm" | "If" | "Loop" | "Scan" | "RandomNormal" | "RandomUniform" | "Resize")
}

fn compute(node: &Node, inputs: &[Option<Array>], most: usize) -> Option<Vec<Array>> {
    let input = |i: usize| inputs.get(i).and_then(Option::as_ref);
    let ints = |i: usize| input(i).map(Array::ints);
    let int = |name: &str, default: i64| match node.attribute(name) {
        Some(Attr::Int(value)) => *value,
        _ => default,
    };
    let x = input(0)?;
    let one = |array: Option<Array>| array.map(|array| vec![array]);
    match &*node.op {
        "Add" | "Sub" | "Mul" | "Div" | "Mod" | "Pow" | "And" | "Or" | "Xor" | "BitwiseAnd" | "BitwiseOr"
        | "BitwiseXor" | "Equal" | "Less" | "LessOrEqual" | "Greater" | "GreaterOrEqual" => {
            if int("fmod", 0) != 0 {
                return None;
            }
            one(elementwise::binary(&node.op, x, input(1)?))
        }
        "Max" | "Min" => {
            let mut result = x.clone();
            for other in inputs.iter().skip(1) {
                result = elementwise::binary(&node.op, &result, other.as_ref()?)?;
            }
            Some(vec![result])
        }
        "Clip" => {
            let mut result = x.clone();
            for (op, bound) in [("Max", input(1)), ("Min", input(2))] {
                if let Some(bound) = bound {
                    result = elementwise::binary(op, &result, bound)?;
                }
            }
            Some(vec![result])
        }
        "Where" => one(elementwise::choose(x, input(1)?, input(2)?)),
        "Cast" => {
            let to = DType::from_onnx_code(i32::try_from(int("to", 0)).ok()?)?;
            one(elementwise::cast(x, to))
        }
        "Reshape" => one(layout::reshape(x, &ints(1)?, int("allowzero", 0) != 0)),
        "Transpose" => match node.attribute("perm") {
            Some(Attr::Ints(permutation)) => one(layout::transpose(x, permutation)),
            _ => one(layout::transpose(x, &(0..x.rank() as i64).rev().collect::<Vec<_>>())),
        },
        "Unsqueeze" => one(layout::unsqueeze(x, &ints(1)?)),
        "Squeeze" => one(layout::squeeze(x, ints(1).as_deref())),
        "Expand" => {
            let target = ints(1)?;
            let count = target.iter().try_fold(1i64, |product, &dim| product.checked_mul(dim))?;
            if count > most as i64 {
                return None;
            }
            one(layout::expand(x, &target))
        }
        "Slice" => {
            let starts = ints(1)?;
            let axes = ints(3).unwrap_or_else(|| (0..starts.len() as i64).collect());
            let steps = ints(4).unwrap_or_else(|| vec![1; starts.len()]);
            one(layout::slice(x, &starts, &ints(2)?, &axes, &steps))
        }
        "Gather" => one(layout::gather(x, input(1)?, int("axis", 0))),
        "GatherElements" => one(layout::gather_elements(x, input(1)?, int("axis", 0))),
        "GatherND" if int("batch_dims", 0) == 0 => one(scatter::gather_nd(x, input(1)?)),
        "ScatterND" if overwrites(node) => one(scatter::scatter_nd(x, input(1)?, input(2)?)),
        "ScatterElements" if overwrites(node) => {
            one(scatter::scatter_elements(x, input(1)?, input(2)?, int("axis", 0)))
        }
        "Concat" => {
            let parts = inputs.iter().map(Option::as_ref).collect::<Option<Vec<&Array>>>()?;
            one(layout::concat(&parts, int("axis", 0)))
        }
        "Split" => layout::split(x, &ints(1)?, int("axis", 0)),
        "Tile" => one(layout::tile(x, &ints(1)?)),
        "Range" => one(layout::range(x, input(1)?, input(2)?, most)),
        "Trilu" => {
            let k = ints(1).and_then(|k| k.first().copied()).unwrap_or(0);
            one(layout::trilu(x, k, int("upper", 1) != 0))
        }
        "ConstantOfShape" => {
            let (value, dtype) = match node.attribute("value") {
                Some(Attr::Tensor(literal)) => (literal.numbers()?.first().copied()?, literal.dtype),
                _ => (Number::Float(0.0), DType::F32),
            };
            one(layout::filled(&x.ints(), value, dtype, most))
        }
        "ReduceSum" | "ReduceProd" | "ReduceMean" | "ReduceMax" | "ReduceMin" | "ReduceL1" | "ReduceL2"
        | "ReduceSumSquare" => {
            let axes = match (ints(1), node.attribute("axes")) {
                (Some(axes), _) => axes,
                (None, Some(Attr::Ints(axes))) => axes.clone(),
                (None, _) => Vec::new(),
            };
            one(reduce::reduce(&node.op, x, &axes, int("keepdims", 1) != 0))
        }
        "CumSum" if int("exclusive", 0) == 0 && int("reverse", 0) == 0 => {
            one(reduce::cumulative_sum(x, ints(1)?.first().copied()?))
        }
        "MatMul" => one(reduce::matmul(x, input(1)?)),
        op => one(elementwise::unary(op, x)),
    }
}

/// Whether a scatter puts its updates in the place of what is there.
fn overwrites(node: &Node) -> bool {
    match node.attribute("reduction") {
        None => true,
        Some(Attr::Str(reduction)) => reduction == "none",
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attrs;
    use crate::ir::{Attrs, ValueId};
    use modelexport_graph::Scopes;
    use modelexport_graph::onnx::Origin;

    fn run(op: &'static str, inputs: &[Literal], attributes: Attrs) -> Option<Literal> {
        let node = Node {
            op: op.into(),
            domain: "".into(),
            inputs: vec![],
            outputs: vec![ValueId(0)],
            attributes,
            origin: Origin::direct(Scopes::ROOT, None),
            shared_by: Vec::new(),
        };
        let inputs: Vec<Option<&Literal>> = inputs.iter().map(Some).collect();
        evaluate(&node, &inputs, 1000)?.into_iter().next()
    }

    fn floats(dims: &[i64], values: &[f64]) -> Literal {
        Literal::from_numbers(DType::F32, dims.to_vec(), values.iter().map(|&v| v.into())).unwrap()
    }

    fn values(literal: Option<Literal>) -> (Vec<i64>, Vec<f64>) {
        let literal = literal.unwrap();
        (literal.dims.clone(), literal.numbers().unwrap().into_iter().map(Number::as_f64).collect())
    }

    #[test]
    fn broadcasting_arithmetic() {
        let sum = run("Add", &[floats(&[2, 1], &[1.0, 2.0]), floats(&[3], &[10.0, 20.0, 30.0])], vec![]);
        assert_eq!(values(sum), (vec![2, 3], vec![11.0, 21.0, 31.0, 12.0, 22.0, 32.0]));
        assert!(run("Add", &[floats(&[2], &[1.0, 2.0]), floats(&[3], &[1.0, 2.0, 3.0])], vec![]).is_none());
    }

    #[test]
    fn integer_modulo_has_the_sign_of_the_divisor() {
        let rest = run("Mod", &[Literal::ints(&[-7, 7]), Literal::ints(&[3, -3])], vec![]);
        assert_eq!(values(rest).1, [2.0, -2.0]);
        assert!(run("Div", &[Literal::ints(&[1]), Literal::ints(&[0])], vec![]).is_none());
    }

    #[test]
    fn negative_steps_and_places() {
        let x = Literal::ints(&[0, 1, 2, 3, 4]);
        let inputs =
            [x, Literal::ints(&[-1]), Literal::ints(&[i64::MIN]), Literal::ints(&[0]), Literal::ints(&[-2])];
        assert_eq!(values(run("Slice", &inputs, vec![])).1, [4.0, 2.0, 0.0]);
    }

    #[test]
    fn gather_takes_an_axis_away_for_a_scalar() {
        let x = floats(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
        let index = Literal::scalar(DType::I64, (-1i64).into()).unwrap();
        assert_eq!(values(run("Gather", &[x, index], attrs![axis = 1])), (vec![2], vec![2.0, 4.0]));
    }

    #[test]
    fn scatters_write_rows_and_elements() {
        let x = floats(&[3, 2], &[0.0; 6]);
        let indices = Literal { dims: vec![2, 1], ..Literal::ints(&[-1, 0]) };
        let rows = floats(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
        let written = run("ScatterND", &[x.clone(), indices.clone(), rows], vec![]);
        assert_eq!(values(written.clone()), (vec![3, 2], vec![3.0, 4.0, 0.0, 0.0, 1.0, 2.0]));
        let read = run("GatherND", &[written.unwrap(), indices.clone()], vec![]);
        assert_eq!(values(read), (vec![2, 2], vec![1.0, 2.0, 3.0, 4.0]));
        let elements = floats(&[2, 1], &[7.0, 8.0]);
        let written = run("ScatterElements", &[x.clone(), indices, elements], attrs![axis = 0]);
        assert_eq!(values(written).1, [8.0, 0.0, 0.0, 0.0, 7.0, 0.0]);
        let outside = Literal { dims: vec![1, 1], ..Literal::ints(&[3]) };
        assert!(run("ScatterND", &[x, outside, floats(&[1, 2], &[1.0, 2.0])], vec![]).is_none());
    }

    #[test]
    fn norms_along_an_axis() {
        let x = floats(&[2, 2], &[3.0, -4.0, 0.0, 2.0]);
        let norm = |op| values(run(op, &[x.clone(), Literal::ints(&[1])], attrs![keepdims = 0]));
        assert_eq!(norm("ReduceL1"), (vec![2], vec![7.0, 2.0]));
        assert_eq!(norm("ReduceL2"), (vec![2], vec![5.0, 2.0]));
        assert_eq!(norm("ReduceSumSquare"), (vec![2], vec![25.0, 4.0]));
    }

    #[test]
    fn a_clip_keeps_to_the_bounds_that_it_has() {
        let (x, low, high) = (floats(&[3], &[-2.0, 0.5, 2.0]), floats(&[], &[-1.0]), floats(&[], &[1.0]));
        assert_eq!(values(run("Clip", &[x.clone(), low.clone(), high], vec![])).1, [-1.0, 0.5, 1.0]);
        assert_eq!(values(run("Clip", &[x, low], vec![])).1, [-1.0, 0.5, 2.0]);
    }

    /// PyTorch: `torch.tensor([0.0, 8.0]).log().long()` is `[-9223372036854775808, 2]`.
    #[test]
    fn minus_infinity_is_the_smallest_integer_and_what_depends_on_the_machine_is_left() {
        let to_int = |value| run("Cast", &[floats(&[2], &[value, 2.07])], attrs![to = 7i64]);
        assert_eq!(to_int(f64::NEG_INFINITY).unwrap().as_ints().unwrap(), [i64::MIN, 2]);
        for value in [f64::INFINITY, f64::NAN, 1e30] {
            assert!(to_int(value).is_none(), "{value}");
        }
        assert!(run("Cast", &[floats(&[1], &[f64::NEG_INFINITY])], attrs![to = 6i64]).is_none());
    }

    /// PyTorch: `torch.tensor([3e9]).int()` and `torch.tensor([-1.0, 300.0]).byte()` wrap or saturate by the processor.
    #[test]
    fn numbers_that_an_integer_type_cannot_hold_are_left_to_the_machine() {
        let to = |dtype: DType, values: &[f64]| {
            run("Cast", &[floats(&[values.len() as i64], values)], attrs![to = dtype])
        };
        assert!(to(DType::I32, &[3e9]).is_none());
        assert!(to(DType::U8, &[-1.0]).is_none());
        assert!(to(DType::U8, &[256.0]).is_none());
        assert_eq!(values(to(DType::U8, &[-0.9, 255.9])).1, [0.0, 255.0]);
        assert_eq!(values(to(DType::I8, &[-128.9, 127.9])).1, [-128.0, 127.0]);
        assert_eq!(values(to(DType::Bool, &[f64::NAN, -0.0])).1, [1.0, 0.0]);
    }

    fn bits(literal: Option<Literal>) -> Vec<u64> {
        values(literal).1.into_iter().map(f64::to_bits).collect()
    }

    fn as_bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    /// PyTorch: `maximum`, `amax`, `clamp` and `sign` of NaN are NaN, NaN, NaN and 0.
    #[test]
    fn nan_is_kept_but_by_sign() {
        let x = floats(&[3], &[1.0, f64::NAN, 2.0]);
        for op in ["ReduceMax", "ReduceMin"] {
            assert!(
                values(run(op, &[x.clone(), Literal::ints(&[0])], attrs![keepdims = 0])).1[0].is_nan(),
                "{op}"
            );
        }
        for op in ["Max", "Min"] {
            for pair in [[x.clone(), floats(&[3], &[5.0; 3])], [floats(&[3], &[5.0; 3]), x.clone()]] {
                let is_nan: Vec<bool> = values(run(op, &pair, vec![])).1.iter().map(|x| x.is_nan()).collect();
                assert_eq!(is_nan, [false, true, false], "{op}");
            }
        }
        let bounds = [x.clone(), floats(&[], &[f64::NAN])];
        assert!(values(run("Clip", &bounds, vec![])).1.iter().all(|x| x.is_nan()));
        assert_eq!(values(run("Sign", &[x], vec![])).1, [1.0, 0.0, 1.0]);
    }

    /// PyTorch: of `[-0.0, 0.0]`, `relu` and `clamp(0, 1)` are the same numbers; `sum` and `cumsum` of `[-0.0]` are 0.0.
    #[test]
    fn zeros_keep_their_signs_but_in_sums() {
        let x = floats(&[2], &[-0.0, 0.0]);
        let (zero, one) = (floats(&[], &[0.0]), floats(&[], &[1.0]));
        assert_eq!(bits(run("Relu", std::slice::from_ref(&x), vec![])), as_bits(&[-0.0, 0.0]));
        assert_eq!(bits(run("Clip", &[x, zero, one], vec![])), as_bits(&[-0.0, 0.0]));
        let negative = floats(&[1], &[-0.0]);
        for op in ["ReduceSum", "ReduceMean", "CumSum"] {
            assert_eq!(
                bits(run(op, &[negative.clone(), Literal::ints(&[0])], vec![])),
                as_bits(&[0.0]),
                "{op}"
            );
        }
    }

    /// PyTorch: `torch.tensor([[2**62, 3]]) @ torch.tensor([[2], [1]])` is `-2**63 + 3`.
    #[test]
    fn integer_products_wrap_and_keep_all_digits() {
        let row = Literal { dims: vec![1, 2], ..Literal::ints(&[1 << 62, 3]) };
        let column = Literal { dims: vec![2, 1], ..Literal::ints(&[2, 1]) };
        assert_eq!(run("MatMul", &[row, column], vec![]).unwrap().as_ints().unwrap(), [i64::MIN + 3]);
    }

    #[test]
    fn unsigned_numbers_above_the_signed_ones_are_not_folded() {
        let large = Literal::from_numbers(DType::U64, vec![1], [Number::Int(-1)]).unwrap();
        let one = Literal::from_numbers(DType::U64, vec![1], [Number::Int(1)]).unwrap();
        assert!(run("Less", &[large.clone(), one.clone()], vec![]).is_none());
        assert!(run("Div", &[one.clone(), large], vec![]).is_none());
        assert!(run("Div", &[one.clone(), one], vec![]).is_some());
    }

    #[test]
    fn softplus_of_large_numbers_is_the_number() {
        let y = values(run("Softplus", &[floats(&[3], &[0.0, 1000.0, -1000.0])], vec![])).1;
        assert_eq!(y, [f64::from(std::f32::consts::LN_2), 1000.0, 0.0]);
    }

    #[test]
    fn matrix_product_with_a_batch() {
        let a = floats(&[1, 2, 2], &[1.0, 2.0, 3.0, 4.0]);
        let b = floats(&[2, 1], &[1.0, -1.0]);
        assert_eq!(values(run("MatMul", &[a, b], vec![])), (vec![1, 2, 1], vec![-1.0, -1.0]));
    }

    #[test]
    fn results_above_the_limit_are_not_made() {
        let bounds = [0i64, 1001, 1].map(|value| Literal::scalar(DType::I64, value.into()).unwrap());
        assert!(run("Range", &bounds, vec![]).is_none());
        let shape = Literal::ints(&[1_000_000_000, 1_000_000_000, 1_000_000_000]);
        assert!(run("ConstantOfShape", &[shape], vec![]).is_none());
    }
}
