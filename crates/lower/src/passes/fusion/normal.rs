//! What RMS normalisation and layer normalisation have in common: `x / sqrt(mean(x^2) + epsilon)`, a weight and a bias.

use modelexport_graph::shape::{static_numel, static_shape};
use modelexport_graph::{DType, Dim};

use super::search::{Search, input};
use crate::builder::Builder;
use crate::ir::{Node, ValueId};
use crate::literal::{Literal, Number};

/// `x / sqrt(mean(x^2) + epsilon)`.
pub struct Normal {
    pub x: ValueId,
    pub epsilon: f64,
    /// How many of the last axes are normalised.
    pub axes: usize,
}

impl Normal {
    /// The sizes of the axes that are normalised, which are those of the weight.
    pub fn sizes<'a>(&self, search: &Search<'a>) -> Option<&'a [Dim]> {
        let sizes = search.shape(self.x)?;
        sizes.get(sizes.len().checked_sub(self.axes)?..)
    }
}

/// The normalisation whose last node makes `y`.
///
/// ```text
/// Mul(x, Reciprocal(Sqrt(Add(ReduceMean(Pow(x, 2), axes, keepdims=1), epsilon))))
/// ```
///
/// The root may also divide, or be `Pow` by -1/2; the square may be a product; the mean may be a sum over the count;
/// casts between float types may stand between any two nodes. The axes are the last ones.
pub fn normal(search: &mut Search<'_>, y: ValueId) -> Option<Normal> {
    if let Some(product) = search.node(y, "Mul") {
        return search.either(product, |search, x, factor| {
            let factor = search.before_casts(factor);
            let sum = inverse_root(search, factor)?;
            mean_square(search, x, sum)
        });
    }
    let quotient = search.node(y, "Div")?;
    let (x, root) = (input(quotient, 0)?, input(quotient, 1)?);
    let root = search.before_casts(root);
    let sum = square_root(search, root)?;
    mean_square(search, x, sum)
}

/// What one over its square root is `value`.
fn inverse_root(search: &mut Search<'_>, value: ValueId) -> Option<ValueId> {
    let root = if let Some(reciprocal) = search.node(value, "Reciprocal") {
        input(reciprocal, 0)?
    } else if let Some(quotient) = search.node(value, "Div") {
        search.is_number(input(quotient, 0)?, 1.0).then(|| input(quotient, 1))??
    } else {
        return power(search, value, -0.5);
    };
    let root = search.before_casts(root);
    square_root(search, root)
}

fn square_root(search: &mut Search<'_>, value: ValueId) -> Option<ValueId> {
    match search.node(value, "Sqrt") {
        Some(root) => input(root, 0),
        None => power(search, value, 0.5),
    }
}

/// What to the power of `exponent` is `value`.
fn power(search: &mut Search<'_>, value: ValueId, exponent: f64) -> Option<ValueId> {
    let node = search.node(value, "Pow")?;
    search.is_number(input(node, 1)?, exponent).then(|| input(node, 0))?
}

/// The normalisation of `x`, if `sum` is the mean of its squares and a number.
fn mean_square(search: &mut Search<'_>, x: ValueId, sum: ValueId) -> Option<Normal> {
    let sum = search.before_casts(sum);
    let (mean, epsilon) = search.node(sum, "Add").and_then(|sum| search.with_number(sum))?;
    let mean = search.before_casts(mean);
    let (squared, axes) = match search.node(mean, "ReduceMean") {
        Some(mean) => {
            let squares = search.before_casts(input(mean, 0)?);
            let squared = match search.node(squares, "Mul") {
                Some(product) => input(product, 0).filter(|&factor| input(product, 1) == Some(factor))?,
                None => power(search, squares, 2.0)?,
            };
            (squared, search.reduced_axes(mean)?)
        }
        None => sum_of_squares(search, mean)?,
    };
    let are_last = axes.iter().copied().eq(-(axes.len() as i64)..0) && !axes.is_empty();
    let is_same = search.before_casts(squared) == search.before_casts(x);
    (are_last && is_same && epsilon > 0.0).then_some(Normal { x, epsilon, axes: axes.len() })
}

/// What is squared in `mean`, a sum of squares over their count, and the axes.
fn sum_of_squares(search: &mut Search<'_>, mean: ValueId) -> Option<(ValueId, Vec<i64>)> {
    let quotient = search.node(mean, "Div")?;
    let sum = search.before_casts(input(quotient, 0)?);
    let sum = search.node(sum, "ReduceSumSquare")?;
    let (squared, axes) = (input(sum, 0)?, search.reduced_axes(sum)?);
    let sizes = search.centered_shape(squared)?;
    let count = static_numel(sizes.get(sizes.len().checked_sub(axes.len())?..)?)?;
    (search.number(input(quotient, 1)?)? == count as f64).then_some((squared, axes))
}

/// The mean of `x` over the last `axes` axes, if `value` is that.
pub fn is_mean_of(search: &mut Search<'_>, value: ValueId, x: ValueId, axes: usize) -> bool {
    let value = search.before_casts(value);
    search.node(value, "ReduceMean").is_some_and(|mean| {
        let from = input(mean, 0).map(|from| search.before_casts(from));
        from == Some(search.before_casts(x))
            && search.reduced_axes(mean).is_some_and(|found| found.into_iter().eq(-(axes as i64)..0))
    })
}

/// The operand of `node` with the sizes of the normalised axes, and what `find` finds in the other one.
pub fn with_parameter<'a>(
    search: &mut Search<'a>,
    node: &Node,
    find: impl Fn(&mut Search<'a>, ValueId) -> Option<(Normal, Parameters)>,
) -> Option<(Normal, Parameters, ValueId)> {
    search.either(node, |search, parameter, other| {
        let other = search.before_casts(other);
        let (normal, parameters) = find(search, other)?;
        (search.shape(parameter)? == normal.sizes(search)?).then_some((normal, parameters, parameter))
    })
}

/// What a normalised value is multiplied by, and what is added.
#[derive(Clone, Copy, Default)]
pub struct Parameters {
    pub weight: Option<ValueId>,
    pub bias: Option<ValueId>,
}

/// What the operator computes: its input in a type that has a kernel, and ones where there is no weight.
pub struct Computation {
    pub x: ValueId,
    pub dtype: DType,
    ones: Option<Literal>,
    parameters: Parameters,
}

impl Computation {
    /// The operators compute in `float32` whatever their type, so that casts around them go. But for `bfloat16` there
    /// is no kernel: there the type is `float32`, and the casts stay.
    pub fn of(
        search: &mut Search<'_>,
        normal: &Normal,
        parameters: Parameters,
        y: ValueId,
    ) -> Option<Computation> {
        let original = search.before_casts(normal.x);
        let result = search.dtype(y)?;
        let has_type = |value| search.dtype(value) == Some(result) && result != DType::BF16;
        let x = if !has_type(normal.x) && has_type(original) { original } else { normal.x };
        let dtype = search.dtype(x).filter(|&dtype| dtype != DType::BF16)?;
        let ones = match parameters.weight {
            Some(_) => None,
            None => {
                let sizes = normal.sizes(search)?;
                let count = usize::try_from(static_numel(sizes)?).ok()?;
                let ones = std::iter::repeat_n(Number::Float(1.0), count);
                Some(Literal::from_numbers(dtype, static_shape(sizes)?, ones)?)
            }
        };
        Some(Computation { x, dtype, ones, parameters })
    }

    /// `x`, weight and bias in the type of the computation.
    pub fn inputs(self, builder: &mut Builder) -> Vec<ValueId> {
        let weight = match self.ones {
            Some(ones) => Some(builder.constant(ones)),
            None => self.parameters.weight,
        };
        let mut inputs = vec![self.x];
        inputs.extend(
            [weight, self.parameters.bias].into_iter().flatten().map(|value| builder.cast(value, self.dtype)),
        );
        inputs
    }
}
