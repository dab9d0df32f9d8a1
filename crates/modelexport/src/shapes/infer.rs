//! What an operator makes of the types of its inputs.

use modelexport_graph::DType;
use modelexport_graph::onnx::{AttributeValue, Node};

use super::{TensorType, content, convolution, layout, matrix};

/// Inputs of a node with the attributes that say what is done with them.
pub(super) struct Operation<'a> {
    pub node: &'a Node,
    pub inputs: &'a [Option<TensorType>],
}

impl<'a> Operation<'a> {
    pub(super) fn input(&self, i: usize) -> Option<&'a TensorType> {
        self.inputs.get(i)?.as_ref()
    }

    pub(super) fn int(&self, name: &str) -> Option<i64> {
        match self.node.attribute(name)? {
            AttributeValue::Int(value) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn ints(&self, name: &str) -> Option<&'a [i64]> {
        match self.node.attribute(name)? {
            AttributeValue::Ints(values) => Some(values),
            _ => None,
        }
    }

    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        match self.node.attribute(name)? {
            AttributeValue::String(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    /// The element type that an attribute states; 0 states none.
    pub(super) fn stated_dtype(&self, name: &str) -> Option<DType> {
        DType::from_onnx_code(i32::try_from(self.int(name)?).ok()?)
    }

    /// Integers that stand in an attribute (older opsets) or in input `i`.
    pub(super) fn ints_or_input(&self, name: &str, i: usize) -> Option<&'a [i64]> {
        self.ints(name).or_else(|| self.input(i)?.content.as_deref())
    }
}

/// The types of a node's outputs; what is not known is left out or empty.
pub(super) fn outputs(node: &Node, inputs: &[Option<TensorType>]) -> Vec<TensorType> {
    if !matches!(&*node.domain, "" | "ai.onnx") {
        return Vec::new();
    }
    let operation = Operation { node, inputs };
    several(&operation).unwrap_or_else(|| one(&operation).into_iter().collect())
}

/// Operators with several outputs.
fn several(operation: &Operation<'_>) -> Option<Vec<TensorType>> {
    match &*operation.node.op_type {
        "Split" => layout::split(operation),
        "LSTM" | "GRU" | "RNN" => Some(matrix::recurrent(operation)),
        "Dropout" | "MaxPool" | "LayerNormalization" | "BatchNormalization" => {
            one(operation).map(|first| vec![first])
        }
        "TopK" => layout::top_k(operation),
        _ => None,
    }
}

fn one(operation: &Operation<'_>) -> Option<TensorType> {
    let first = || operation.input(0).cloned();
    let same = || first().map(|input| TensorType { content: None, ..input });
    match &*operation.node.op_type {
        "Relu"
        | "LeakyRelu"
        | "PRelu"
        | "Elu"
        | "Selu"
        | "Celu"
        | "Sigmoid"
        | "HardSigmoid"
        | "HardSwish"
        | "Mish"
        | "Softplus"
        | "Softsign"
        | "ThresholdedRelu"
        | "Gelu"
        | "Swish"
        | "Tanh"
        | "Sin"
        | "Cos"
        | "Tan"
        | "Asin"
        | "Acos"
        | "Atan"
        | "Sinh"
        | "Cosh"
        | "Asinh"
        | "Acosh"
        | "Atanh"
        | "Exp"
        | "Log"
        | "Sqrt"
        | "Reciprocal"
        | "Abs"
        | "Neg"
        | "Sign"
        | "Floor"
        | "Ceil"
        | "Round"
        | "Erf"
        | "Clip"
        | "Not"
        | "BitwiseNot"
        | "Softmax"
        | "LogSoftmax"
        | "Hardmax"
        | "LayerNormalization"
        | "RMSNormalization"
        | "InstanceNormalization"
        | "GroupNormalization"
        | "BatchNormalization"
        | "LRN"
        | "Dropout"
        | "CumSum"
        | "Trilu"
        | "LpNormalization"
        | "MeanVarianceNormalization"
        | "ScatterElements"
        | "ScatterND"
        | "Scatter"
        | "ReverseSequence"
        | "RotaryEmbedding" => same(),
        "Identity" => first(),
        "IsNaN" | "IsInf" => same().map(|input| TensorType { dtype: Some(DType::Bool), ..input }),
        "Add" | "Sub" | "Mul" | "Div" | "Max" | "Min" => arithmetic(operation),
        "Mod" | "Pow" | "Sum" | "Mean" | "And" | "Or" | "Xor" | "BitShift" | "BitwiseAnd" | "BitwiseOr"
        | "BitwiseXor" => broadcast(operation, 0),
        "Equal" | "Greater" | "GreaterOrEqual" | "Less" | "LessOrEqual" => {
            broadcast(operation, 0).map(|output| TensorType { dtype: Some(DType::Bool), ..output })
        }
        "Where" => broadcast(operation, 1),
        "Cast" => {
            let code = operation.int("to").and_then(|code| i32::try_from(code).ok());
            let input = first().unwrap_or_default();
            Some(TensorType { dtype: code.and_then(DType::from_onnx_code), ..input })
        }
        "CastLike" => {
            let dtype = operation.input(1).and_then(|like| like.dtype);
            Some(TensorType { dtype, ..first().unwrap_or_default() })
        }
        "Constant" => layout::constant(operation),
        "ConstantOfShape" => layout::constant_of_shape(operation),
        "Shape" => layout::shape(operation),
        "Size" => Some(TensorType::new(Some(DType::I64), Some(Vec::new()))),
        "Range" => layout::range(operation),
        "Reshape" => layout::reshape(operation),
        "Flatten" => layout::flatten(operation),
        "Transpose" => layout::transpose(operation),
        "Squeeze" => layout::squeeze(operation),
        "Unsqueeze" => layout::unsqueeze(operation),
        "Concat" => layout::concat(operation),
        "Expand" => layout::expand(operation),
        "Tile" => layout::tile(operation),
        "Pad" => layout::pad(operation),
        "Slice" => layout::slice(operation),
        "Gather" => layout::gather(operation),
        "GatherND" => layout::gather_nd(operation),
        "GatherElements" => {
            let dims = operation.input(1).and_then(|indices| indices.dims.clone());
            Some(TensorType::new(first()?.dtype, dims))
        }
        "ArgMax" | "ArgMin" => {
            layout::reduce(operation).map(|output| TensorType { dtype: Some(DType::I64), ..output })
        }
        name if name.starts_with("Reduce") => layout::reduce(operation),
        "MatMul" => matrix::matmul(operation.input(0)?, operation.input(1)?),
        "MatMulInteger" => matrix::matmul(operation.input(0)?, operation.input(1)?)
            .map(|output| TensorType { dtype: Some(DType::I32), ..output }),
        "QLinearMatMul" => matrix::matmul(operation.input(0)?, operation.input(3)?),
        "Gemm" => matrix::gemm(operation),
        "Einsum" => matrix::einsum(operation),
        "Attention" => matrix::attention(operation),
        "Conv" => convolution::conv(operation, 1),
        "ConvInteger" => {
            convolution::conv(operation, 1).map(|output| TensorType { dtype: Some(DType::I32), ..output })
        }
        "QLinearConv" => convolution::conv(operation, 3),
        "ConvTranspose" => convolution::conv_transpose(operation),
        "MaxPool" | "AveragePool" | "LpPool" => convolution::pool(operation),
        "GlobalAveragePool" | "GlobalMaxPool" | "GlobalLpPool" => convolution::global_pool(operation),
        "DequantizeLinear" => {
            let stated = operation.stated_dtype("output_dtype");
            let dtype = stated.or_else(|| operation.input(1).and_then(|scale| scale.dtype));
            same().map(|input| TensorType { dtype, ..input })
        }
        "QuantizeLinear" => {
            let dtype = match operation.node.inputs.get(2).is_none_or(|zero| zero.is_empty()) {
                true => operation.stated_dtype("output_dtype").or(Some(DType::U8)),
                false => operation.input(2).and_then(|zero| zero.dtype),
            };
            same().map(|input| TensorType { dtype, ..input })
        }
        _ => None,
    }
}

/// Numbers that are combined; small integers keep their contents.
fn arithmetic(operation: &Operation<'_>) -> Option<TensorType> {
    let output = broadcast(operation, 0)?;
    let contents = (operation.inputs.len() == 2)
        .then(|| Some((operation.input(0)?.content.as_ref()?, operation.input(1)?.content.as_ref()?)))
        .flatten();
    let content = contents.and_then(|(a, b)| content::arithmetic(&operation.node.op_type, a, b));
    Some(TensorType { content, ..output })
}

/// The shape that inputs from `from` on have together; the type of the first of them.
fn broadcast(operation: &Operation<'_>, from: usize) -> Option<TensorType> {
    let inputs = operation.inputs.get(from..)?;
    let dtype = inputs.iter().flatten().find_map(|input| input.dtype);
    let mut dims: Option<Vec<Option<u64>>> = Some(Vec::new());
    let all = operation.inputs.iter().skip(if from > 0 { 0 } else { from });
    for input in all {
        let other = input.as_ref().and_then(|input| input.dims.as_deref());
        dims = dims.zip(other).and_then(|(dims, other)| broadcast_dims(&dims, other));
    }
    Some(TensorType::new(dtype, dims))
}

/// `None` if the two cannot be broadcast.
pub(super) fn broadcast_dims(a: &[Option<u64>], b: &[Option<u64>]) -> Option<Vec<Option<u64>>> {
    let rank = a.len().max(b.len());
    let at = |dims: &[Option<u64>], i: usize| {
        (i + dims.len()).checked_sub(rank).and_then(|i| dims.get(i)).copied()
    };
    (0..rank)
        .map(|i| match (at(a, i).unwrap_or(Some(1)), at(b, i).unwrap_or(Some(1))) {
            (Some(1), other) | (other, Some(1)) => Some(other),
            (Some(a), Some(b)) if a != b => None,
            (a, b) => Some(a.or(b)),
        })
        .collect()
}
