//! Weights that are multiplied by factors while they are written.
//!
//! Such a weight becomes a source of its own, which reads the stored elements and scales them. Everything that streams
//! weights works with it.

use std::io;
use std::sync::Arc;

use half::{bf16, f16};
use modelexport_graph::onnx::{Model, TensorData};
use modelexport_graph::{DType, Span, StridedView};

use crate::source::{ByteSource, Source, Sources};
use crate::tensors::for_each_initializer_mut;

/// Turns scaled tensors into stored ones. Returns the sources with those that scale, if there are any; a tensor that
/// cannot be scaled stays as it is, and encoding refuses it.
pub(super) fn resolve(model: &mut Model, sources: &Sources) -> Option<Sources> {
    let mut extended = None;
    for_each_initializer_mut(model, &mut |tensor| {
        let TensorData::Scaled { view, factors } = &mut tensor.data else { return };
        let Some(scaled) = Scaled::new(view, std::mem::take(factors), tensor.data_type, sources) else {
            return;
        };
        let all = extended.get_or_insert_with(|| sources.clone());
        let length = scaled.len();
        let source = all.add_memory(tensor.name.to_string(), Arc::new(scaled));
        let view = StridedView { span: Span { source, offset: 0, length }, offset: 0, ..view.clone() };
        tensor.data = TensorData::Stored(view);
    });
    extended
}

/// A run of elements of another source, each times the factor of its slice.
struct Scaled {
    base: Arc<Source>,
    /// First byte of the run.
    start: u64,
    length: u64,
    element: Element,
    /// Bytes of a slice.
    slice: u64,
    factors: Vec<f64>,
}

#[derive(Clone, Copy)]
enum Element {
    F16,
    BF16,
    F32,
    F64,
}

impl Element {
    fn of(data_type: i32) -> Option<Element> {
        match DType::from_onnx_code(data_type)? {
            DType::F16 => Some(Element::F16),
            DType::BF16 => Some(Element::BF16),
            DType::F32 => Some(Element::F32),
            DType::F64 => Some(Element::F64),
            _ => None,
        }
    }

    fn width(self) -> u64 {
        match self {
            Element::F16 | Element::BF16 => 2,
            Element::F32 => 4,
            Element::F64 => 8,
        }
    }

    /// Multiplies all elements, rounding once.
    fn scale(self, bytes: &mut [u8], factor: f64) {
        match self {
            Element::F16 => {
                each(bytes, |x| f16::from_f64(f16::from_le_bytes(x).to_f64() * factor).to_le_bytes())
            }
            Element::BF16 => {
                each(bytes, |x| bf16::from_f64(bf16::from_le_bytes(x).to_f64() * factor).to_le_bytes())
            }
            Element::F32 => {
                each(bytes, |x| ((f64::from(f32::from_le_bytes(x)) * factor) as f32).to_le_bytes())
            }
            Element::F64 => each(bytes, |x| (f64::from_le_bytes(x) * factor).to_le_bytes()),
        }
    }
}

fn each<const N: usize>(bytes: &mut [u8], scaled: impl Fn([u8; N]) -> [u8; N]) {
    for element in bytes.as_chunks_mut::<N>().0 {
        *element = scaled(*element);
    }
}

impl Scaled {
    /// `None` if the view is no run of floating-point elements with one factor for each slice.
    fn new(view: &StridedView, factors: Vec<f64>, data_type: i32, sources: &Sources) -> Option<Scaled> {
        let element = Element::of(data_type)?;
        let width = element.width();
        let slices = *view.sizes.first()?;
        if !view.is_contiguous() || slices == 0 || slices != factors.len() as u64 {
            return None;
        }
        let count = view.sizes.iter().try_fold(1u64, |product, &size| product.checked_mul(size))?;
        let length = count.checked_mul(width)?;
        let start = view.offset.checked_mul(width)?.checked_add(view.span.offset)?;
        let base = sources.share(view.span.source)?.clone();
        Some(Scaled { base, start, length, element, slice: length / slices, factors })
    }

    /// Scales the elements of `bytes`, the first of which is at `offset` in the run.
    fn scale(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let mut at = offset;
        let mut rest = bytes;
        while !rest.is_empty() && self.slice > 0 {
            let slice = at / self.slice;
            let factor = self.factors.get(slice as usize).copied().ok_or(io::ErrorKind::UnexpectedEof)?;
            let length = ((slice + 1) * self.slice - at).min(rest.len() as u64);
            let (part, after) = rest.split_at_mut(length as usize);
            self.element.scale(part, factor);
            rest = after;
            at += length;
        }
        Ok(())
    }
}

impl ByteSource for Scaled {
    fn len(&self) -> u64 {
        self.length
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let end = offset.checked_add(buffer.len() as u64).filter(|&end| end <= self.length);
        let end = end.ok_or(io::ErrorKind::UnexpectedEof)?;
        // Whole elements, whatever part of them is asked for.
        let width = self.element.width();
        let (first, last) = (offset - offset % width, end.next_multiple_of(width));
        if (first, last) == (offset, end) {
            self.base.read_at(self.start + offset, buffer)?;
            return self.scale(offset, buffer);
        }
        let mut bytes = vec![0; (last - first) as usize];
        self.read_at(first, &mut bytes)?;
        let wanted = bytes.get((offset - first) as usize..).and_then(|bytes| bytes.get(..buffer.len()));
        buffer.copy_from_slice(wanted.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The scaled bytes of `bytes`, read in parts of `step` bytes.
    fn scaled(bytes: Vec<u8>, sizes: &[u64], data_type: DType, factors: &[f64], step: usize) -> Vec<u8> {
        let mut sources = Sources::new();
        let length = bytes.len() as u64;
        let source = sources.add_memory("weights", Arc::new(bytes));
        let mut strides = vec![1; sizes.len()];
        for i in (1..sizes.len()).rev() {
            strides[i - 1] = strides[i] * sizes[i];
        }
        let span = Span { source, offset: 0, length };
        let view = StridedView { span, offset: 0, sizes: sizes.to_vec(), strides };
        let code = data_type.onnx_code().unwrap();
        let scaled = Scaled::new(&view, factors.to_vec(), code, &sources).unwrap();
        let mut result = vec![0; scaled.len() as usize];
        for (i, part) in result.chunks_mut(step).enumerate() {
            scaled.read_at((i * step) as u64, part).unwrap();
        }
        result
    }

    #[test]
    fn each_slice_has_its_factor_however_it_is_read() {
        let bytes: Vec<u8> = (1..=6).flat_map(|i| (i as f32).to_le_bytes()).collect();
        let expected: Vec<u8> =
            [2.0f32, 4.0, 6.0, -4.0, -5.0, -6.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        for step in [1, 3, 4, 7, 8, 24] {
            let result = scaled(bytes.clone(), &[2, 3], DType::F32, &[2.0, -1.0], step);
            assert_eq!(result, expected, "{step} bytes at a time");
        }
    }

    #[test]
    fn all_floating_point_types_round_once() {
        let third = 1.0 / 3.0;
        let f64s = scaled(3f64.to_le_bytes().into(), &[1], DType::F64, &[third], 8);
        assert_eq!(f64s, (3.0 * third).to_le_bytes());
        let f16s = scaled(f16::from_f64(0.1).to_le_bytes().into(), &[1], DType::F16, &[third], 2);
        assert_eq!(f16s, f16::from_f64(f16::from_f64(0.1).to_f64() * third).to_le_bytes());
        let bf16s = scaled(bf16::from_f64(0.1).to_le_bytes().into(), &[1], DType::BF16, &[third], 2);
        assert_eq!(bf16s, bf16::from_f64(bf16::from_f64(0.1).to_f64() * third).to_le_bytes());
    }

    #[test]
    fn what_cannot_be_scaled_is_left_alone() {
        let mut sources = Sources::new();
        let source = sources.add_memory("weights", Arc::new(vec![0u8; 16]));
        let span = Span { source, offset: 0, length: 16 };
        let view = |sizes: &[u64], strides: &[u64]| StridedView {
            span,
            offset: 0,
            sizes: sizes.to_vec(),
            strides: strides.to_vec(),
        };
        let float = DType::F32.onnx_code().unwrap();
        let whole = DType::I32.onnx_code().unwrap();
        for (view, factors, data_type) in [
            (view(&[2, 2], &[1, 2]), vec![1.0; 2], float),
            (view(&[2, 2], &[2, 1]), vec![1.0; 3], float),
            (view(&[2, 2], &[2, 1]), vec![1.0; 2], whole),
            (view(&[], &[]), vec![], float),
        ] {
            assert!(Scaled::new(&view, factors, data_type, &sources).is_none());
        }
    }
}
