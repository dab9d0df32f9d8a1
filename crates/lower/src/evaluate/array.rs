//! An n-dimensional array of numbers, row-major, and the index arithmetic that evaluation needs.

use modelexport_graph::DType;

use crate::literal::{Literal, Number};

/// Numbers with a shape. Elements are wide while they are computed and narrowed when a literal is made.
#[derive(Clone, Debug)]
pub struct Array {
    pub dtype: DType,
    pub dims: Vec<usize>,
    pub data: Vec<Number>,
}

impl Array {
    /// `None` for types without numbers, for numbers above `i64::MAX`, and for literals whose bytes do not fit their
    /// shape.
    pub fn from_literal(literal: &Literal) -> Option<Array> {
        let dims =
            literal.dims.iter().map(|&dim| usize::try_from(dim).ok()).collect::<Option<Vec<usize>>>()?;
        let data = literal.numbers()?;
        let is_too_large = literal.dtype == DType::U64 && data.iter().any(|number| number.as_i64() < 0);
        let is_whole = data.len() == dims.iter().product::<usize>();
        (is_whole && !is_too_large).then_some(Array { dtype: literal.dtype, dims, data })
    }

    pub fn to_literal(&self) -> Option<Literal> {
        let dims = self.dims.iter().map(|&dim| dim as i64).collect();
        Literal::from_numbers(self.dtype, dims, self.data.iter().copied())
    }

    pub fn new(dtype: DType, dims: Vec<usize>, data: Vec<Number>) -> Array {
        Array { dtype, dims, data }
    }

    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    pub fn ints(&self) -> Vec<i64> {
        self.data.iter().map(|number| number.as_i64()).collect()
    }

    /// The elements that `index` gives for each place of a result with `dims`.
    pub fn gather(&self, dims: Vec<usize>, index: impl Fn(&[usize]) -> usize) -> Option<Array> {
        let mut data = Vec::with_capacity(dims.iter().product());
        let mut failed = false;
        for_each_index(&dims, |at| match self.data.get(index(at)) {
            Some(&number) => data.push(number),
            None => failed = true,
        });
        (!failed).then_some(Array { dtype: self.dtype, dims, data })
    }

    /// Broadcast to `dims`, by numpy's rule.
    pub fn broadcast(&self, dims: &[usize]) -> Option<Array> {
        if self.dims == dims {
            return Some(self.clone());
        }
        let missing = dims.len().checked_sub(self.rank())?;
        let own = strides(&self.dims);
        let mut steps = vec![0usize; missing];
        for (axis, (&have, &stride)) in self.dims.iter().zip(&own).enumerate() {
            match dims.get(axis + missing) {
                Some(&want) if want == have => steps.push(stride),
                Some(_) if have == 1 => steps.push(0),
                _ => return None,
            }
        }
        self.strided(dims.to_vec(), &steps)
    }

    /// The elements that lie `steps` apart along each axis of a result with `dims`.
    pub fn strided(&self, dims: Vec<usize>, steps: &[usize]) -> Option<Array> {
        let mut data = Vec::with_capacity(dims.iter().product());
        let mut axes = merged_axes(&dims, steps);
        let (count, step) = axes.pop().unwrap_or((1, 1));
        let (outer, outer_steps): (Vec<usize>, Vec<usize>) = axes.into_iter().unzip();
        for_each_index(&outer, |at| {
            let row = self.data.get(dot(at, &outer_steps)..).unwrap_or_default();
            match step {
                0 => data
                    .extend(row.first().into_iter().flat_map(|&number| std::iter::repeat_n(number, count))),
                1 => data.extend(row.get(..count).unwrap_or_default()),
                _ => data.extend(row.iter().step_by(step).take(count)),
            }
        });
        // A row that leaves the array is shorter.
        (data.len() == dims.iter().product::<usize>()).then_some(Array { dtype: self.dtype, dims, data })
    }
}

/// Sizes and steps of the axes, without those of one element and with neighbours that can be walked as one joined.
fn merged_axes(dims: &[usize], steps: &[usize]) -> Vec<(usize, usize)> {
    let mut axes: Vec<(usize, usize)> = Vec::with_capacity(dims.len());
    for (&size, &step) in dims.iter().zip(steps).filter(|(size, _)| **size != 1) {
        match axes.last_mut() {
            Some((outer_size, outer_step)) if *outer_step == size * step => {
                (*outer_size, *outer_step) = (*outer_size * size, step);
            }
            _ => axes.push((size, step)),
        }
    }
    axes
}

/// Row-major strides.
pub fn strides(dims: &[usize]) -> Vec<usize> {
    let mut strides = vec![1usize; dims.len()];
    let mut step = 1usize;
    for (stride, &dim) in strides.iter_mut().zip(dims).rev() {
        *stride = step;
        step = step.saturating_mul(dim);
    }
    strides
}

pub fn dot(at: &[usize], steps: &[usize]) -> usize {
    at.iter().zip(steps).map(|(i, step)| i * step).sum()
}

/// Visits every place of an array with `dims` in row-major order.
pub fn for_each_index(dims: &[usize], mut visit: impl FnMut(&[usize])) {
    if dims.contains(&0) {
        return;
    }
    let mut at = vec![0usize; dims.len()];
    loop {
        visit(&at);
        let mut axis = dims.len();
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            let (Some(i), Some(&dim)) = (at.get_mut(axis), dims.get(axis)) else { return };
            *i += 1;
            if *i < dim {
                break;
            }
            *i = 0;
        }
    }
}

/// The shape that both broadcast to.
pub fn broadcast_dims(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let at = |dims: &[usize], axis: usize| {
        (axis + dims.len()).checked_sub(rank).and_then(|i| dims.get(i)).copied().unwrap_or(1)
    };
    (0..rank)
        .map(|axis| match (at(a, axis), at(b, axis)) {
            (x, y) if x == y => Some(x),
            (1, y) => Some(y),
            (x, 1) => Some(x),
            _ => None,
        })
        .collect()
}

/// An axis counted from the front.
pub fn axis(axis: i64, rank: usize) -> Option<usize> {
    let axis = if axis < 0 { axis + rank as i64 } else { axis };
    usize::try_from(axis).ok().filter(|&axis| axis < rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strided_elements_are_those_of_every_index() {
        let x = Array::new(DType::I64, vec![24], (0..24).map(Number::Int).collect());
        for (dims, steps) in [
            (vec![2, 3, 4], vec![12, 4, 1]),
            (vec![4, 3, 2], vec![1, 4, 12]),
            (vec![2, 1, 3, 4], vec![12, 7, 0, 2]),
            (vec![], vec![]),
            (vec![3, 0], vec![1, 1]),
        ] {
            let expected = x.gather(dims.clone(), |at| dot(at, &steps)).unwrap();
            assert_eq!(x.strided(dims, &steps).unwrap().data, expected.data, "{steps:?}");
        }
        for (dims, steps) in [(vec![5, 5], vec![5, 1]), (vec![25], vec![1]), (vec![2, 2], vec![24, 0])] {
            assert!(x.strided(dims, &steps).is_none(), "{steps:?} leaves the array");
        }
    }
}
