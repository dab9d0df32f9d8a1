//! `im2col` (`unfold`) and `col2im` (`fold`): windows of an image as columns, and back as sums.
//!
//! Windows that tile the image: `Reshape`, `Transpose`, `Reshape` both ways.
//! Else `im2col` pads and gathers rows and columns; `col2im` is `Col2Im` from opset 18, and before that a
//! `ConvTranspose` with kernels that have a single 1 (an infinity then spreads as NaN).

use modelexport_graph::{DType, Dim, SymExpr, SymOp};

use super::support::compute::{const_floats, single_type};
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::literal::Literal;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
        im2col,
    ),
    Row::new(
        "aten::col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
        col2im,
    ),
];

/// The windows over one axis.
struct Axis {
    size: Dim,
    kernel: i64,
    dilation: i64,
    padding: i64,
    stride: i64,
}

impl Axis {
    fn read(cx: &Context<'_, '_>, sizes: [Dim; 2]) -> Result<Vec<Axis>> {
        let all = |name: &str| cx.ints_for(name, 2);
        let (kernel, dilation, padding, stride) =
            (all("kernel_size")?, all("dilation")?, all("padding")?, all("stride")?);
        let axes = sizes.into_iter().zip(kernel).zip(dilation).zip(padding).zip(stride);
        Ok(axes
            .map(|((((size, kernel), dilation), padding), stride)| Axis { size, kernel, dilation, padding, stride })
            .collect())
    }

    /// Windows lie side by side and cover everything.
    fn tiles(&self) -> bool {
        let fits = match self.size.as_static() {
            Some(size) => size % self.kernel.max(1) == 0,
            None => self.kernel == 1,
        };
        self.stride == self.kernel && self.dilation == 1 && self.padding == 0 && fits
    }

    /// How many windows there are.
    fn count(&self) -> Dim {
        let extra = 2 * self.padding - self.dilation * (self.kernel - 1) - 1;
        match &self.size {
            Dim::Static(size) => Dim::Static((size + extra).div_euclid(self.stride.max(1)) + 1),
            Dim::Symbolic(size) => {
                let span = SymExpr::Call(SymOp::Add, vec![size.clone(), SymExpr::Int(extra)]);
                let steps = match self.stride {
                    1 => span,
                    stride => SymExpr::Call(SymOp::FloorDiv, vec![span, SymExpr::Int(stride)]),
                };
                Dim::Symbolic(SymExpr::Call(SymOp::Add, vec![steps, SymExpr::Int(1)]))
            }
        }
    }

    /// `[kernel, windows]`: where element `k` of window `i` lies in the padded axis.
    fn table(&self, cx: &mut Context<'_, '_>) -> Result<ValueId> {
        let offsets: Vec<i64> = (0..self.kernel).map(|k| k * self.dilation).collect();
        match self.count() {
            Dim::Static(count) => {
                let table: Vec<i64> =
                    offsets.iter().flat_map(|offset| (0..count).map(move |i| offset + i * self.stride)).collect();
                Ok(cx.constant(Literal { dims: vec![self.kernel, count], ..Literal::ints(&table) }))
            }
            count => {
                let count = cx.dim_value(&count)?;
                let (zero, one, limit) = (cx.const_int(0), cx.const_int(1), cx.squeeze(count, &[0]));
                let mut starts = cx.emit("Range", &[zero, limit, one], vec![]);
                if self.stride != 1 {
                    let stride = cx.const_int(self.stride);
                    starts = cx.emit("Mul", &[starts, stride], vec![]);
                }
                let offsets = cx.constant(Literal { dims: vec![self.kernel, 1], ..Literal::ints(&offsets) });
                Ok(cx.emit("Add", &[offsets, starts], vec![]))
            }
        }
    }
}

/// Batch and channels of an image, with or without a batch axis.
fn lead_and_image(cx: &Context<'_, '_>, sizes: &[Dim]) -> Result<(Vec<Dim>, [Dim; 2])> {
    match sizes {
        [lead @ .., rows, columns] if matches!(lead.len(), 1 | 2) => {
            Ok((lead.to_vec(), [rows.clone(), columns.clone()]))
        }
        _ => cx.wrong("self", "an image of 3 or 4 dimensions", sizes),
    }
}

fn im2col(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (meta, out) = (cx.meta("self")?, cx.out()?);
    if meta.dtype.is_complex() {
        return cx.refuse("complex numbers are not supported");
    }
    let (lead, image) = lead_and_image(cx, &meta.sizes)?;
    let axes = Axis::read(cx, image)?;
    let [rows, columns] = axes.as_slice() else { return cx.refuse("needs two axes") };
    let mut x = cx.tensor("self")?;
    let offset = lead.len() as i64;
    let front = || 0..offset;
    if axes.iter().all(Axis::tiles) {
        let split = axes.iter().flat_map(|axis| [axis.count(), Dim::Static(axis.kernel)]);
        let sizes: Vec<Dim> = lead.iter().cloned().chain(split).collect();
        x = cx.reshape(x, &sizes)?;
        let order: Vec<i64> = front().chain([1, 3, 0, 2].map(|axis| axis + offset)).collect();
        x = cx.transpose(x, &order);
        return Ok(cx.reshape(x, &out.sizes)?.into());
    }
    if axes.iter().any(|axis| axis.padding != 0) {
        let compute = if meta.dtype == DType::BF16 { DType::F32 } else { meta.dtype };
        let one_side = || front().map(|_| 0).chain(axes.iter().map(|axis| axis.padding));
        let pads: Vec<i64> = one_side().chain(one_side()).collect();
        let pads = cx.const_ints(&pads);
        x = cx.cast(x, compute);
        x = cx.emit("Pad", &[x, pads], vec![]);
        x = cx.cast(x, meta.dtype);
    }
    let table = rows.table(cx)?;
    x = cx.emit("Gather", &[x, table], attrs![axis = offset]);
    let table = columns.table(cx)?;
    x = cx.emit("Gather", &[x, table], attrs![axis = offset + 2]);
    let order: Vec<i64> = front().chain([0, 2, 1, 3].map(|axis| axis + offset)).collect();
    x = cx.transpose(x, &order);
    Ok(cx.reshape(x, &out.sizes)?.into())
}

fn col2im(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (meta, out) = (cx.meta("self")?, cx.out()?);
    if meta.dtype.is_complex() {
        return cx.refuse("complex numbers are not supported");
    }
    let (lead, image) = lead_and_image(cx, &out.sizes)?;
    let axes = Axis::read(cx, image)?;
    let mut x = cx.tensor("self")?;
    let offset = lead.len() as i64;
    if axes.iter().all(Axis::tiles) {
        let kernels = axes.iter().map(|axis| Dim::Static(axis.kernel));
        let counts = axes.iter().map(Axis::count);
        let sizes: Vec<Dim> = lead.iter().cloned().chain(kernels).chain(counts).collect();
        x = cx.reshape(x, &sizes)?;
        let order: Vec<i64> = (0..offset).chain([2, 0, 3, 1].map(|axis| axis + offset)).collect();
        x = cx.transpose(x, &order);
        return Ok(cx.reshape(x, &out.sizes)?.into());
    }
    if !meta.dtype.is_float() {
        return cx.refuse(format!("sums of {} windows are not supported", meta.dtype));
    }
    let is_single = lead.len() == 1;
    x = cx.cast(x, single_type(meta.dtype));
    if is_single {
        x = cx.unsqueeze(x, &[0]);
    }
    let mut y = if cx.opset >= 18 {
        let sizes: Vec<Dim> = axes.iter().map(|axis| axis.size.clone()).collect();
        let (image, block) = (cx.shape_value(&sizes)?, kernel(&axes));
        let block = cx.const_ints(&block);
        cx.emit("Col2Im", &[x, image, block], window_attributes(&axes))
    } else {
        by_convolution(cx, x, &lead, &axes, single_type(meta.dtype))?
    };
    if is_single {
        y = cx.squeeze(y, &[0]);
    }
    Ok(cx.cast(y, out.dtype).into())
}

fn kernel(axes: &[Axis]) -> Vec<i64> {
    axes.iter().map(|axis| axis.kernel).collect()
}

fn window_attributes(axes: &[Axis]) -> crate::ir::Attrs {
    let pads = || axes.iter().map(|axis| axis.padding);
    attrs![
        dilations = axes.iter().map(|axis| axis.dilation).collect::<Vec<i64>>(),
        pads = pads().chain(pads()).collect::<Vec<i64>>(),
        strides = axes.iter().map(|axis| axis.stride).collect::<Vec<i64>>(),
    ]
}

/// Element `k` of a window becomes the input channel whose kernel has a 1 at `k`.
fn by_convolution(
    cx: &mut Context<'_, '_>,
    x: ValueId,
    lead: &[Dim],
    axes: &[Axis],
    dtype: DType,
) -> Result<ValueId> {
    let Some(channels) = lead.last().and_then(Dim::as_static) else {
        return cx.refuse("overlapping windows need a number of channels that is known when exporting before opset 18");
    };
    let elements: i64 = axes.iter().map(|axis| axis.kernel).product();
    let batch = if lead.len() == 1 { Dim::Static(1) } else { lead.first().cloned().unwrap_or(Dim::Static(1)) };
    let mut sizes = vec![batch, Dim::Static(channels * elements)];
    sizes.extend(axes.iter().map(Axis::count));
    let x = cx.reshape(x, &sizes)?;
    let ones = (0..channels * elements * elements).map(|at| {
        let (channel, place) = (at / elements % elements, at % elements);
        if channel == place { 1.0 } else { 0.0 }
    });
    let shape: Vec<i64> = [channels * elements, 1].into_iter().chain(kernel(axes)).collect();
    let weights = const_floats(cx, dtype, &shape, ones)?;
    let mut attributes = window_attributes(axes);
    attributes.extend(attrs![group = channels, kernel_shape = kernel(axes)]);
    // What no window reaches at the end.
    let missing: Option<Vec<i64>> = axes
        .iter()
        .map(|axis| {
            let reached = (axis.count().as_static()? - 1) * axis.stride + axis.dilation * (axis.kernel - 1) + 1;
            Some(axis.size.as_static()? + 2 * axis.padding - reached)
        })
        .collect();
    match missing {
        Some(missing) if missing.iter().any(|&rows| rows != 0) => {
            attributes.extend(attrs![output_padding = missing]);
        }
        Some(_) => {}
        None => return cx.refuse("overlapping windows need sizes that are known when exporting before opset 18"),
    }
    Ok(cx.emit("ConvTranspose", &[x, weights], attributes))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS));
    }
}
