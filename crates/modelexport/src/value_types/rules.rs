//! What the outputs of ONNX's operators are, by the types of their inputs.

use modelexport_graph::DType;
use modelexport_graph::onnx::{AttributeValue, Node, Type, TypeKind};

/// The type of output number `index` of `node`, as far as it follows from its inputs.
pub(super) fn output(node: &Node, index: usize, inputs: &[Option<&Type>]) -> Option<Type> {
    if !matches!(&*node.domain, "" | "ai.onnx") {
        return contributed(node, index, inputs);
    }
    let op = &*node.op_type;
    if let Some(found) = sequence(op, node, inputs) {
        return found;
    }
    let elem_type = match fixed(op, index) {
        Some(dtype) => dtype.onnx_code()?,
        None => match from_attribute(op, node) {
            Some(code) => code,
            None => elem_type(inputs.get(source_input(op, index)).copied().flatten()?)?,
        },
    };
    let keeps_shape = index == 0 && KEEPS_SHAPE.contains(&op);
    let shape =
        inputs.first().copied().flatten().filter(|_| keeps_shape).and_then(|input| match &input.kind {
            TypeKind::Tensor { shape, .. } => shape.clone(),
            _ => None,
        });
    Some(Type { kind: TypeKind::Tensor { elem_type, shape }, ..Type::default() })
}

/// Operators whose first output has the shape of their first input.
const KEEPS_SHAPE: &[&str] = &[
    "Abs",
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "BatchNormalization",
    "BitwiseNot",
    "Cast",
    "CastLike",
    "Ceil",
    "Celu",
    "Clip",
    "Cos",
    "Cosh",
    "CumSum",
    "DequantizeLinear",
    "Dropout",
    "Elu",
    "Erf",
    "Exp",
    "Floor",
    "Gelu",
    "GroupNormalization",
    "HardSigmoid",
    "HardSwish",
    "Hardmax",
    "Identity",
    "InstanceNormalization",
    "IsInf",
    "IsNaN",
    "LRN",
    "LayerNormalization",
    "LeakyRelu",
    "Log",
    "LogSoftmax",
    "Mish",
    "Neg",
    "Not",
    "PRelu",
    "QuantizeLinear",
    "RMSNormalization",
    "Reciprocal",
    "Relu",
    "Round",
    "ScatterElements",
    "ScatterND",
    "Selu",
    "Shrink",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Softmax",
    "Softplus",
    "Softsign",
    "Sqrt",
    "Swish",
    "Tan",
    "Tanh",
    "ThresholdedRelu",
    "Trilu",
];

/// Outputs that have one type whatever comes in.
fn fixed(op: &str, index: usize) -> Option<DType> {
    Some(match (op, index) {
        (
            "Equal" | "Greater" | "GreaterOrEqual" | "Less" | "LessOrEqual" | "Not" | "And" | "Or" | "Xor"
            | "IsInf" | "IsNaN" | "StringContains" | "RegexFullMatch",
            0,
        )
        | ("Dropout", 1) => DType::Bool,
        ("Shape" | "Size" | "ArgMax" | "ArgMin" | "NonZero" | "NonMaxSuppression" | "SequenceLength", 0)
        | ("TopK" | "MaxPool", 1)
        | ("Unique" | "StringSplit", 1..) => DType::I64,
        ("MatMulInteger" | "ConvInteger", 0) => DType::I32,
        ("DynamicQuantizeLinear", 0 | 2) => DType::U8,
        ("DynamicQuantizeLinear", 1) => DType::F32,
        ("LayerNormalization", 1..) | ("TfIdfVectorizer", 0) => DType::F32,
        ("StringConcat" | "StringNormalizer" | "StringSplit", 0) => DType::String,
        ("ImageDecoder", 0) => DType::U8,
        _ => return None,
    })
}

/// Outputs whose type an attribute gives.
fn from_attribute(op: &str, node: &Node) -> Option<i32> {
    let int = |name: &str| match node.attribute(name) {
        Some(AttributeValue::Int(code)) => i32::try_from(*code).ok(),
        _ => None,
    };
    let or_float = |code: Option<i32>| code.or_else(|| DType::F32.onnx_code());
    match op {
        "Cast" => int("to"),
        "Constant" => match &node.attributes.first()?.value {
            AttributeValue::Tensor(tensor) => Some(tensor.data_type),
            AttributeValue::Int(_) | AttributeValue::Ints(_) => DType::I64.onnx_code(),
            AttributeValue::Float(_) | AttributeValue::Floats(_) => DType::F32.onnx_code(),
            AttributeValue::String(_) | AttributeValue::Strings(_) => DType::String.onnx_code(),
            _ => None,
        },
        "ConstantOfShape" => or_float(match node.attribute("value") {
            Some(AttributeValue::Tensor(tensor)) => Some(tensor.data_type),
            _ => None,
        }),
        "RandomNormal" | "RandomUniform" => or_float(int("dtype")),
        "HannWindow" | "HammingWindow" | "BlackmanWindow" => or_float(int("output_datatype")),
        "MelWeightMatrix" => or_float(int("output_datatype")),
        "Multinomial" => int("dtype").or_else(|| DType::I32.onnx_code()),
        "EyeLike" | "RandomNormalLike" | "RandomUniformLike" | "Bernoulli" => int("dtype"),
        "QuantizeLinear" if node.inputs.get(2).is_none_or(|zero| zero.is_empty()) => {
            int("output_dtype").filter(|code| *code != 0).or_else(|| DType::U8.onnx_code())
        }
        "DequantizeLinear" => int("output_dtype").filter(|code| *code != 0),
        _ => None,
    }
}

/// The input whose element type an output has.
fn source_input(op: &str, index: usize) -> usize {
    match (op, index) {
        ("Where" | "CastLike" | "DequantizeLinear", _) => 1,
        ("OneHot" | "QuantizeLinear", _) => 2,
        ("QLinearMatMul" | "QLinearConv", _) => 7,
        ("BatchNormalization", 1..) => 3,
        ("Attention", 1) => 1,
        ("Attention", 2) => 2,
        _ => 0,
    }
}

/// Operators on sequences and optional values; `Some(None)` if the op is one of them and the type is not known.
fn sequence(op: &str, node: &Node, inputs: &[Option<&Type>]) -> Option<Option<Type>> {
    let first = inputs.first().copied().flatten();
    let of = |kind: TypeKind| Type { kind, ..Type::default() };
    let bare = |found: &Type| {
        let mut found = found.clone();
        if let TypeKind::Tensor { shape, .. } = &mut found.kind {
            *shape = None;
        }
        Box::new(found)
    };
    Some(match op {
        "SplitToSequence" | "SequenceConstruct" => {
            first.map(|element| of(TypeKind::Sequence(Some(bare(element)))))
        }
        "SequenceInsert" | "SequenceErase" => first.cloned(),
        "SequenceEmpty" => {
            let elem_type = match node.attribute("dtype") {
                Some(AttributeValue::Int(code)) => i32::try_from(*code).ok()?,
                _ => DType::F32.onnx_code()?,
            };
            Some(of(TypeKind::Sequence(Some(Box::new(of(TypeKind::Tensor { elem_type, shape: None }))))))
        }
        "SequenceAt" => match &first?.kind {
            TypeKind::Sequence(Some(element)) => Some((**element).clone()),
            _ => None,
        },
        "ConcatFromSequence" => match &first?.kind {
            TypeKind::Sequence(Some(element)) => {
                Some(of(TypeKind::Tensor { elem_type: elem_type(element)?, shape: None }))
            }
            _ => None,
        },
        "Optional" => first.map(|element| of(TypeKind::Optional(Some(Box::new(element.clone()))))),
        "OptionalGetElement" => match &first?.kind {
            TypeKind::Optional(Some(element)) => Some((**element).clone()),
            _ => first.cloned(),
        },
        "OptionalHasElement" => {
            Some(of(TypeKind::Tensor { elem_type: DType::Bool.onnx_code()?, shape: Some(Vec::new()) }))
        }
        "Identity" => first.cloned(),
        _ => return None,
    })
}

/// Operators of other domains are not known; most give what they get.
fn contributed(node: &Node, index: usize, inputs: &[Option<&Type>]) -> Option<Type> {
    let is_quantised = node.op_type.contains("Quantize") || node.op_type.contains("QLinear");
    if index > 0 || is_quantised {
        return None;
    }
    let elem_type = elem_type(inputs.first().copied().flatten()?)?;
    let is_float = DType::from_onnx_code(elem_type).is_some_and(DType::is_float);
    is_float.then(|| Type { kind: TypeKind::Tensor { elem_type, shape: None }, ..Type::default() })
}

fn elem_type(found: &Type) -> Option<i32> {
    match found.kind {
        TypeKind::Tensor { elem_type, .. } | TypeKind::SparseTensor { elem_type, .. } => Some(elem_type),
        _ => None,
    }
}
