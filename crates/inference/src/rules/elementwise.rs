//! Operators whose result has the shape of an input, or the shape that all inputs broadcast to.

use modelexport_graph::DType;

use super::Element::{AnyInput, By, Fixed, Input, Stated, StatedOrInput};
use super::{Row, like, row, same};
use crate::operation::Operation;
use crate::size::{Dims, Size, index};

pub(super) const ROWS: &[Row] = &[
    row(
        "Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Celu Clip Cos Cosh CumProd CumSum Elu Erf Exp \
         Floor Gelu GroupNormalization HardSigmoid HardSwish Hardmax InstanceNormalization LRN LeakyRelu Log \
         LogSoftmax LpNormalization MeanVarianceNormalization Mish Neg PRelu Reciprocal Relu ReverseSequence \
         RotaryEmbedding Round Scatter ScatterElements ScatterND Selu Shrink Sigmoid Sign Sin Sinh Softmax \
         Softplus Softsign Sqrt SwiGLU Swish Tan Tanh TensorScatter ThresholdedRelu Trilu",
        &[(Input(0), same)],
    ),
    row("IsInf IsNaN Not RegexFullMatch", &[(Fixed(DType::Bool), same)]),
    row("Cast BitCast", &[(Stated("to"), same)]),
    row("CastLike", &[(Input(1), same)]),
    row("Bernoulli RandomNormalLike RandomUniformLike", &[(StatedOrInput("dtype", 0), same)]),
    row(
        "Add BitShift BitwiseAnd BitwiseOr BitwiseXor Div Max Mean Min Mod Mul Sub Sum",
        &[(AnyInput, broadcast)],
    ),
    row("Pow", &[(Input(0), broadcast)]),
    row("And Equal Greater GreaterOrEqual Less LessOrEqual Or Xor", &[(Fixed(DType::Bool), broadcast)]),
    row("StringConcat", &[(Fixed(DType::String), broadcast)]),
    row("Where", &[(By(chosen), broadcast)]),
    row("Dropout", &[(Input(0), same), (By(mask), same)]),
    row("BatchNormalization", &[(Input(0), same), (Input(3), like::<3>)]),
    row("LayerNormalization", &[(Input(0), same), (By(stash), statistic)]),
    // onnxruntime writes the second one in ONNX's own domain.
    row("RMSNormalization SimplifiedLayerNormalization", &[(Input(1), same), (By(stash), statistic)]),
];

pub(super) fn broadcast(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    // Before opset 7, the second operand was aligned at an attribute's axis.
    if operation.flag("broadcast") {
        same(operation, 0)
    } else {
        operation.broadcast(0..operation.inputs.len())
    }
}

fn chosen(operation: &Operation<'_>) -> Option<DType> {
    operation.dtype(1).or_else(|| operation.dtype(2))
}

fn mask(operation: &Operation<'_>) -> Option<DType> {
    if operation.opset < 10 { operation.dtype(0) } else { Some(DType::Bool) }
}

fn stash(operation: &Operation<'_>) -> Option<DType> {
    operation.stated("stash_type").or(Some(DType::F32))
}

/// One number for each slice that is normalised.
pub(super) fn statistic(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let dims = operation.dims(0)?;
    let first = index(operation.int("axis", -1), dims.len())?;
    Some(
        dims.iter().enumerate().map(|(axis, &dim)| if axis < first { dim } else { Size::Known(1) }).collect(),
    )
}
