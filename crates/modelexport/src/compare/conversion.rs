//! Whether two tensors of different types hold the same numbers, cast or quantized.
//!
//! Quantization is recognized from the numbers alone: the old values lie on a line over the new ones, with a deviation of at
//! most one step. So the format in which a tool stores scales does not matter.

use std::io;

use modelexport_graph::DType;

use super::elements::{Elements, number, side_by_side, width};

/// Fewer numbers would lie on a line by chance.
const LEAST_NUMBERS: u64 = 16;

/// Fewer steps between the smallest and the largest would, too.
const LEAST_STEPS: f64 = 4.0;

/// Parts of a step that a number may be away from its own; rounding alone takes half of one.
const TOLERANCE: f64 = 0.75;

/// Two tensors of one shape, and their types.
pub(super) struct Pair<'a> {
    pub before: (&'a Elements<'a>, DType),
    pub after: (&'a Elements<'a>, DType),
    pub dims: &'a [u64],
}

impl Pair<'_> {
    fn for_each(&self, visit: &mut dyn FnMut(f64, f64)) -> io::Result<()> {
        let ((a, from), (b, to)) = (self.before, self.after);
        let (Some(wide), Some(narrow)) = (width(from), width(to)) else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        side_by_side((a, b), (wide, narrow), &mut |x, y| {
            for (x, y) in x.chunks(wide).zip(y.chunks(narrow)) {
                if let (Some(was), Some(is)) = (number(x, from), number(y, to)) {
                    visit(was, is);
                }
            }
        })
    }

    /// How many numbers there are; `None` if both do not have as many as the shape says, of types that are known.
    fn count(&self) -> Option<u64> {
        let ((a, from), (b, to)) = (self.before, self.after);
        let count = self.dims.iter().try_fold(1u64, |all, &size| all.checked_mul(size))?;
        let is_known = |dtype| {
            let zeros = [0; 8];
            width(dtype).and_then(|width| zeros.get(..width)).and_then(|bytes| number(bytes, dtype)).is_some()
        };
        let fits = |elements: &Elements<'_>, dtype| {
            width(dtype).and_then(|width| count.checked_mul(width as u64)) == Some(elements.len())
        };
        (fits(a, from) && fits(b, to) && is_known(from) && is_known(to)).then_some(count)
    }
}

/// In words, if the numbers after are those before, cast or quantised.
pub(super) fn find(pair: &Pair<'_>) -> io::Result<Option<String>> {
    let Some(count) = pair.count() else { return Ok(None) };
    let (from, to) = (pair.before.1, pair.after.1);
    if from.is_float() && to.is_float() {
        return Ok(is_cast(pair)?.then(|| format!("the same numbers as {}", to.name())));
    }
    if from.is_float() && matches!(to, DType::I8 | DType::U8) && count >= LEAST_NUMBERS {
        return quantised(pair);
    }
    Ok(None)
}

fn is_cast(pair: &Pair<'_>) -> io::Result<bool> {
    let to = pair.after.1;
    let mut is_equal = true;
    pair.for_each(&mut |was, is| {
        let rounded = match to {
            DType::F16 => half::f16::from_f64(was).to_f64(),
            DType::BF16 => half::bf16::from_f64(was).to_f64(),
            DType::F32 => f64::from(was as f32),
            _ => was,
        };
        is_equal &= rounded == is || (rounded.is_nan() && is.is_nan());
    })?;
    Ok(is_equal)
}

fn quantised(pair: &Pair<'_>) -> io::Result<Option<String>> {
    let to = pair.after.1.name();
    if let Some(step) = steps(pair, None)? {
        return Ok(Some(format!("the same numbers, quantised to {to} in steps of {step:.3e}")));
    }
    for axis in (0..pair.dims.len()).filter(|&axis| pair.dims.get(axis).is_some_and(|&size| size > 1)) {
        if let Some(step) = steps(pair, Some(axis))? {
            return Ok(Some(format!(
                "the same numbers, quantised to {to} along axis {axis} in steps of up to {step:.3e}"
            )));
        }
    }
    Ok(None)
}

/// Sums over the numbers of one line.
#[derive(Clone, Copy, Default)]
struct Line {
    count: f64,
    was: f64,
    is: f64,
    is_squared: f64,
    product: f64,
    least: f64,
    most: f64,
}

impl Line {
    fn add(&mut self, was: f64, is: f64) {
        (self.least, self.most) = match self.count {
            0.0 => (is, is),
            _ => (self.least.min(is), self.most.max(is)),
        };
        self.count += 1.0;
        self.was += was;
        self.is += is;
        self.is_squared += is * is;
        self.product += was * is;
    }

    /// Step and number at zero.
    fn fitted(&self) -> (f64, f64) {
        let spread = self.count * self.is_squared - self.is * self.is;
        let step = if spread > 0.0 { (self.count * self.product - self.is * self.was) / spread } else { 0.0 };
        (step, (self.was - step * self.is) / self.count.max(1.0))
    }
}

/// The widest step, if all numbers lie on their line: one for all, or one for each index of an axis.
fn steps(pair: &Pair<'_>, axis: Option<usize>) -> io::Result<Option<f64>> {
    let (size, inner) = match axis {
        None => (1, 1),
        Some(axis) => (
            pair.dims.get(axis).copied().unwrap_or(1),
            pair.dims.iter().skip(axis + 1).product::<u64>().max(1),
        ),
    };
    let line = |place: u64| usize::try_from(place / inner % size).unwrap_or(usize::MAX);
    let mut lines = vec![Line::default(); usize::try_from(size).unwrap_or(0)];
    let mut place = 0;
    pair.for_each(&mut |was, is| {
        if let Some(line) = lines.get_mut(line(place)) {
            line.add(was, is);
        }
        place += 1;
    })?;
    if !lines.iter().any(|line| line.most - line.least >= LEAST_STEPS) {
        return Ok(None);
    }
    let fitted: Vec<(f64, f64)> = lines.iter().map(Line::fitted).collect();
    let mut is_on_line = true;
    place = 0;
    pair.for_each(&mut |was, is| {
        let (step, zero) = fitted.get(line(place)).copied().unwrap_or_default();
        is_on_line &= (was - (step * is + zero)).abs() <= TOLERANCE * step.abs();
        place += 1;
    })?;
    let widest = fitted.iter().fold(0.0, |widest: f64, (step, _)| widest.max(step.abs()));
    Ok((is_on_line && widest.is_finite()).then_some(widest))
}

#[cfg(test)]
mod tests {
    use modelexport_io::fingerprint::mix;

    use super::*;

    const DIMS: [u64; 2] = [8, 16];

    /// Numbers between -1 and 1; those of row `n` are `n + 1` times as large.
    fn weights() -> Vec<f32> {
        (0..128)
            .map(|n| (mix(n) % 2001) as f32 / 1000.0 - 1.0)
            .zip(0..)
            .map(|(x, n)| x * (n / 16 + 1) as f32)
            .collect()
    }

    fn found(after: &[u8], dtype: DType) -> Option<String> {
        let before: Vec<u8> = weights().iter().flat_map(|number| number.to_le_bytes()).collect();
        let (before, after) = (Elements::Memory(&before), Elements::Memory(after));
        let pair = Pair { before: (&before, DType::F32), after: (&after, dtype), dims: &DIMS };
        find(&pair).unwrap()
    }

    #[test]
    fn numbers_may_be_cast() {
        let half: Vec<u8> = weights().iter().flat_map(|x| half::f16::from_f32(*x).to_le_bytes()).collect();
        assert_eq!(found(&half, DType::F16).unwrap(), "the same numbers as float16");
        let mut other = half.clone();
        other[8] ^= 1;
        assert_eq!(found(&other, DType::F16), None);
        let double: Vec<u8> = weights().iter().flat_map(|x| f64::from(*x).to_le_bytes()).collect();
        assert_eq!(found(&double, DType::F64).unwrap(), "the same numbers as float64");
        assert_eq!(found(&double[8..], DType::F64), None, "one number less");
    }

    #[test]
    fn numbers_may_be_quantised_at_once_and_by_channel() {
        let all: Vec<u8> = weights().iter().map(|x| (x / 0.0625).round() as i8 as u8).collect();
        let text = found(&all, DType::I8).unwrap();
        assert!(text.starts_with("the same numbers, quantised to int8 in steps of 6.2"), "{text}");
        let with_zero_point: Vec<u8> =
            weights().iter().map(|x| ((x / 0.0625).round() + 128.0) as u8).collect();
        assert!(found(&with_zero_point, DType::U8).unwrap().contains("quantised to uint8 in steps of 6.2"));
        let rows: Vec<u8> = (0..)
            .zip(weights())
            .map(|(n, x)| (x / (0.008 * (n / 16 + 1) as f32)).round() as i8 as u8)
            .collect();
        let text = found(&rows, DType::I8).unwrap();
        assert!(
            text.starts_with("the same numbers, quantised to int8 along axis 0 in steps of up to 6.4"),
            "{text}"
        );
    }

    #[test]
    fn other_numbers_are_not_quantised_ones() {
        let other: Vec<u8> = (1000..1128).map(|n| mix(n) as u8).collect();
        assert_eq!(found(&other, DType::I8), None);
        let mut one_off: Vec<u8> = weights().iter().map(|x| (x / 0.0625).round() as i8 as u8).collect();
        one_off[5] = one_off[5].wrapping_add(3);
        assert_eq!(found(&one_off, DType::I8), None);
        assert_eq!(found(&[0; 128], DType::I8), None);
    }
}
