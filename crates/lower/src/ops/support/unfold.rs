//! Windows over axes of known sizes as axes of their own, for types that have no `Conv` and no `AveragePool`.

use modelexport_graph::Dim;

use crate::attrs;
use crate::context::Context;
use crate::ir::ValueId;
use crate::literal::Literal;

/// The windows over one axis.
pub(crate) struct Slide {
    pub size: i64,
    pub kernel: i64,
    /// How many windows there are.
    pub count: i64,
    pub stride: i64,
    pub dilation: i64,
    pub pad: i64,
    /// Each element of the axis is a window of the result, as in a transposed convolution.
    pub transposed: bool,
}

impl Slide {
    /// Where element `k` of window `i` lies; `None`: outside.
    fn place(&self, k: i64, i: i64) -> Option<i64> {
        let place = if self.transposed {
            let scaled = i + self.pad - k * self.dilation;
            let stride = self.stride.max(1);
            (scaled.rem_euclid(stride) == 0).then(|| scaled.div_euclid(stride))?
        } else {
            i * self.stride - self.pad + k * self.dilation
        };
        (0..self.size).contains(&place).then_some(place)
    }

    /// How many elements of window `i` lie inside.
    pub fn inside(&self, i: i64) -> i64 {
        (0..self.kernel).filter(|&k| self.place(k, i).is_some()).count() as i64
    }
}

/// The numbers in `sizes`, if all are known.
pub(crate) fn known(sizes: &[Dim]) -> Option<Vec<i64>> {
    sizes.iter().map(Dim::as_static).collect()
}

/// `[lead.., kernel 1, kernel 2.., windows 1, windows 2..]` of `[lead.., size 1, size 2..]`; 0 outside.
pub(crate) fn unfold(cx: &mut Context<'_, '_>, x: ValueId, lead: usize, slides: &[Slide]) -> ValueId {
    let tables: Vec<Vec<Option<i64>>> = slides
        .iter()
        .map(|slide| {
            (0..slide.kernel).flat_map(|k| (0..slide.count).map(move |i| slide.place(k, i))).collect()
        })
        .collect();
    // A zero behind an axis stands for all places outside.
    let ends: Vec<i64> = tables.iter().map(|table| i64::from(table.contains(&None))).collect();
    let mut x = x;
    if ends.contains(&1) {
        let mut pads = vec![0; 2 * lead + slides.len()];
        pads.extend(ends);
        let pads = cx.const_ints(&pads);
        x = cx.emit("Pad", &[x, pads], vec![]);
    }
    for (i, (slide, table)) in slides.iter().zip(&tables).enumerate() {
        let table: Vec<i64> = table.iter().map(|place| place.unwrap_or(slide.size)).collect();
        let table = cx.constant(Literal { dims: vec![slide.kernel, slide.count], ..Literal::ints(&table) });
        x = cx.emit("Gather", &[x, table], attrs![axis = (lead + 2 * i) as i64]);
    }
    let pairs = || (0..slides.len()).map(|i| (lead + 2 * i) as i64);
    let order: Vec<i64> = (0..lead as i64).chain(pairs()).chain(pairs().map(|axis| axis + 1)).collect();
    cx.transpose(x, &order)
}

#[cfg(test)]
mod tests {
    use super::Slide;

    fn places(slide: &Slide) -> Vec<Vec<Option<i64>>> {
        (0..slide.kernel).map(|k| (0..slide.count).map(|i| slide.place(k, i)).collect()).collect()
    }

    #[test]
    fn windows_reach_outside_where_there_is_padding() {
        let slide = Slide { size: 4, kernel: 2, count: 3, stride: 2, dilation: 1, pad: 1, transposed: false };
        assert_eq!(places(&slide), [[None, Some(1), Some(3)], [Some(0), Some(2), None]]);
        assert_eq!([0, 1, 2].map(|i| slide.inside(i)), [1, 2, 1]);
    }

    #[test]
    fn windows_of_the_result_read_each_element_once_for_each_place_of_the_kernel() {
        let slide = Slide { size: 2, kernel: 2, count: 4, stride: 2, dilation: 1, pad: 0, transposed: true };
        assert_eq!(places(&slide), [[Some(0), None, Some(1), None], [None, Some(0), None, Some(1)]]);
    }
}
