//! Masks that onnxruntime's `Attention` takes as PyTorch does.
//!
//! The kernel wants the mask of every row. It gives zeros for a row that is masked altogether, where the softmax of
//! numbers that are the lowest one, or close to it, has equal weights: there the lowest number becomes the next one.
//! Minus infinity throughout a row gives NaN in PyTorch and zeros here.

use modelexport_graph::{DType, Dim};

use crate::attrs;
use crate::builder::Builder;
use crate::ir::ValueId;
use crate::passes::fusion::search::{Search, input, is};

/// Batch, heads, rows and columns.
pub type Sizes = [Dim; 4];

pub struct Mask {
    /// A value of the shape that the form has.
    mask: ValueId,
    form: Form,
    /// The mask has one row for all.
    is_one_row: bool,
}

enum Form {
    AsItIs(ValueId),
    /// A mask of `true` where nothing is seen.
    Hidden(ValueId),
    /// One operand where the condition holds, and the other one where it does not.
    Chosen {
        condition: ValueId,
        operands: [Operand; 2],
        dtype: DType,
    },
    /// A product with a number.
    Scaled {
        from: ValueId,
        factor: f64,
    },
}

#[derive(Clone, Copy)]
enum Operand {
    Number(f64),
    Value(ValueId),
}

impl Mask {
    /// A mask that is added to the scores.
    pub fn added(search: &mut Search<'_>, mask: ValueId, sizes: &Sizes, dtype: DType) -> Option<Mask> {
        let is_one_row = fits(search, mask, sizes)?;
        let source = search.look(|search| Some(search.before_casts(mask)))?;
        let form = if rows_see(search, mask, |number| number > lowest(dtype)) {
            Form::AsItIs(mask)
        } else if let Some(chosen) = chosen(search, source, mask, dtype) {
            chosen
        } else if let Some(from) = times_lowest(search, mask, dtype) {
            Form::Scaled { from, factor: almost_lowest(dtype) }
        } else if dtype == DType::F32 {
            Form::Scaled { from: mask, factor: f64::from(1.0_f32.next_down()) }
        } else {
            return None;
        };
        (search.dtype(mask) == Some(dtype)).then_some(Mask { mask, form, is_one_row })
    }

    /// A condition that gives the scores the number `fill`, where it holds (`hides`) or where it does not.
    pub fn chosen(
        search: &Search<'_>,
        condition: ValueId,
        fill: f64,
        hides: bool,
        sizes: &Sizes,
        dtype: DType,
    ) -> Option<Mask> {
        let is_one_row = fits(search, condition, sizes)?;
        let is_low = fill <= NO_WEIGHT && rows_see(search, condition, |number| (number != 0.0) != hides);
        let form = if is_low || fill == f64::NEG_INFINITY {
            if hides { Form::Hidden(condition) } else { Form::AsItIs(condition) }
        } else if fill <= NO_SCORE && dtype == DType::F32 {
            let fill = fill.max(almost_lowest(dtype));
            let numbers = if hides { [fill, 0.0] } else { [0.0, fill] };
            Form::Chosen { condition, operands: numbers.map(Operand::Number), dtype }
        } else {
            return None;
        };
        Some(Mask { mask: condition, form, is_one_row })
    }

    pub fn emit(self, builder: &mut Builder, sizes: &Sizes) -> ValueId {
        let mask = match self.form {
            Form::AsItIs(mask) => mask,
            Form::Hidden(mask) => {
                let seen = builder.emit("Not", &[mask], vec![]);
                with_shape_of(builder, seen, mask)
            }
            Form::Chosen { condition, operands, dtype } => {
                let [then, otherwise] = operands.map(|operand| match operand {
                    Operand::Number(number) => builder.const_scalar(dtype, number),
                    Operand::Value(value) => value,
                });
                let chosen = builder.emit("Where", &[condition, then, otherwise], vec![]);
                with_shape_of(builder, chosen, self.mask)
            }
            Form::Scaled { from, factor } => {
                let factor = builder.const_scalar(builder.dtype(from), factor);
                let scaled = builder.emit("Mul", &[from, factor], vec![]);
                with_shape_of(builder, scaled, from)
            }
        };
        match &sizes[2] {
            Dim::Static(rows) if self.is_one_row => repeat_rows(builder, mask, *rows),
            _ => mask,
        }
    }
}

/// A mask of one of two operands, of which one is a number; before it was cast it was `source`.
fn chosen(search: &Search<'_>, source: ValueId, mask: ValueId, dtype: DType) -> Option<Form> {
    let node = search.maker(source).filter(|node| is(node, "Where"))?;
    let values = [input(node, 1)?, input(node, 2)?];
    let numbers = values.map(|value| search.number(value));
    let is_low = numbers.contains(&Some(lowest(dtype)));
    let are_both = numbers.iter().all(Option::is_some);
    if source == mask && are_both && !is_low {
        return Some(Form::AsItIs(mask));
    }
    let operands = values.map(|value| match search.number(value) {
        Some(number) if number == lowest(dtype) => Operand::Number(almost_lowest(dtype)),
        Some(number) => Operand::Number(number),
        None => Operand::Value(value),
    });
    let fits = are_both || (source == mask && is_low);
    fits.then_some(Form::Chosen { condition: input(node, 0)?, operands, dtype })
}

/// What is multiplied with the lowest number to give `mask`.
fn times_lowest(search: &Search<'_>, mask: ValueId, dtype: DType) -> Option<ValueId> {
    let node = search.maker(mask).filter(|node| is(node, "Mul"))?;
    let (from, factor) = search.with_number(node)?;
    (factor == lowest(dtype)).then_some(from)
}

/// The mask's only row, `rows` times.
pub fn repeat_rows(builder: &mut Builder, mask: ValueId, rows: i64) -> ValueId {
    let Some(mut shape) = builder.shape(mask).map(<[Dim]>::to_vec) else { return mask };
    let at = shape.len().saturating_sub(2);
    let mut target = vec![1; shape.len()];
    if let (Some(size), Some(count)) = (shape.get_mut(at), target.get_mut(at)) {
        (*size, *count) = (Dim::Static(rows), rows);
    }
    let target = builder.const_ints(&target);
    let repeated = builder.emit("Expand", &[mask, target], attrs![]);
    builder.set_shape(repeated, shape);
    repeated
}

fn with_shape_of(builder: &mut Builder, value: ValueId, other: ValueId) -> ValueId {
    if let Some(shape) = builder.shape(other).map(<[Dim]>::to_vec) {
        builder.set_shape(value, shape);
    }
    value
}

/// Whether the mask has one row for all (but there are more), if the kernel can take it at all.
fn fits(search: &Search<'_>, mask: ValueId, sizes: &Sizes) -> Option<bool> {
    let shape = search.shape(mask)?;
    let [batch, heads, rows, columns] = sizes;
    let outer = shape.len().checked_sub(2).filter(|outer| *outer <= 2)?;
    let (outer, [mask_rows, mask_columns]) = shape.split_at_checked(outer)? else { return None };
    let broadcast = outer.iter().rev().zip([heads, batch]).all(|(dim, size)| dim.is(1) || dim == size);
    let is_one_row = mask_rows.is(1) && !rows.is(1);
    let has_rows = mask_rows == rows || (is_one_row && rows.as_static().is_some());
    (broadcast && has_rows && mask_columns == columns).then_some(is_one_row)
}

/// Whether `mask` is a constant in every row of which `sees` holds for an element.
fn rows_see(search: &Search<'_>, mask: ValueId, sees: impl Fn(f64) -> bool) -> bool {
    let Some(literal) = search.ir.literal(mask) else { return false };
    let columns =
        literal.dims.last().and_then(|&count| usize::try_from(count).ok()).filter(|&count| count > 0);
    let (Some(columns), Some(numbers)) = (columns, literal.numbers()) else { return false };
    numbers.chunks(columns).all(|row| row.iter().any(|number| sees(number.as_f64())))
}

/// A score with this number has no weight beside one without it.
const NO_WEIGHT: f64 = -1e4;

/// No score makes a difference to this number.
const NO_SCORE: f64 = -1e30;

fn lowest(dtype: DType) -> f64 {
    if dtype == DType::F16 { -65504.0 } else { f64::from(f32::MIN) }
}

/// In `float16` a score that is added must not lead back to the lowest number.
fn almost_lowest(dtype: DType) -> f64 {
    if dtype == DType::F16 { -60000.0 } else { f64::from(f32::MIN.next_up()) }
}
