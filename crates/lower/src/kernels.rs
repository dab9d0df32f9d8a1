//! Element types that runtimes compute in.
//!
//! ONNX does not allow every type for every operator, and onnxruntime's CPU provider has no kernel for some of what
//! is allowed: `bfloat16` arithmetic, 16-bit integers in `Where`, `float64` in `Erf`. Such nodes are computed in a
//! type that holds all values of the wanted one and are cast back, as PyTorch does for its 16-bit floats.

use std::borrow::Cow;

use modelexport_graph::DType;

use crate::builder::Builder;
use crate::ir::{Attrs, ValueId};
use crate::literal::Number;

/// The type in which `op` runs for elements of `dtype`; often `dtype` itself.
pub fn kernel_type(op: &str, dtype: DType, opset: i64) -> DType {
    match dtype {
        DType::BF16 if moves_bits(op) => dtype,
        DType::BF16 => DType::F32,
        DType::F16 => match op {
            "IsInf" if opset < 20 => DType::F32,
            "Range" => DType::F32,
            _ => dtype,
        },
        DType::F64 => match op {
            "Erf" | "Tan" | "Sinh" | "Cosh" | "Asin" | "Acos" | "Atan" | "Asinh" | "Acosh" | "Atanh"
            | "Softplus" | "Mean" | "OneHot" | "NonZero" => DType::F32,
            _ => dtype,
        },
        DType::Bool if moves_bits(op) => dtype,
        DType::Bool => match op {
            "Equal" | "Not" | "And" | "Or" | "Xor" | "Expand" | "Tile" | "Pad" | "Trilu" | "NonZero" => dtype,
            "ReduceMax" | "ReduceMin" if opset >= 20 => dtype,
            "Where" | "Less" | "LessOrEqual" | "Greater" | "GreaterOrEqual" | "Max" | "Min" | "ReduceMax"
            | "ReduceMin" | "TopK" | "ArgMax" | "ArgMin" => DType::U8,
            "OneHot" | "CumSum" => DType::I64,
            "Unique" => DType::I8,
            _ => DType::I32,
        },
        _ if dtype.is_integer() => integer_kernel_type(op, dtype),
        _ => dtype,
    }
}

fn integer_kernel_type(op: &str, dtype: DType) -> DType {
    use DType::*;
    let wide = match dtype {
        U8 | I8 | U16 | I16 | I32 => I32,
        _ => I64,
    };
    match op {
        "Where" | "Max" | "Min" | "Clip" | "Pad" => match dtype {
            U16 | I16 => I32,
            U64 if op == "Where" => I64,
            _ => dtype,
        },
        "ReduceMax" | "ReduceMin" | "ArgMax" | "ArgMin" => match dtype {
            U8 | I8 => dtype,
            _ => wide,
        },
        "TopK" => match dtype {
            U8 | I8 | I16 => dtype,
            _ => wide,
        },
        "Unique" => match dtype {
            I8 => dtype,
            _ => I64,
        },
        "OneHot" => I64,
        "NonZero" => match dtype {
            U8 => dtype,
            _ => wide,
        },
        "Range" => match dtype {
            I16 => dtype,
            _ => wide,
        },
        "ReduceSum" | "ReduceMean" | "ReduceProd" | "ReduceL1" | "ReduceL2" | "ReduceSumSquare"
        | "CumSum" | "Pow" | "Trilu" | "EyeLike" | "Relu" => wide,
        "Neg" if dtype.is_unsigned() => wide,
        _ => dtype,
    }
}

/// Operators that never look at the numbers; runtimes have them for all types.
fn moves_bits(op: &str) -> bool {
    matches!(
        op,
        "Identity"
            | "Cast"
            | "Reshape"
            | "Flatten"
            | "Transpose"
            | "Squeeze"
            | "Unsqueeze"
            | "Slice"
            | "Split"
            | "Concat"
            | "Gather"
            | "GatherElements"
            | "GatherND"
            | "ScatterElements"
            | "ScatterND"
            | "Shape"
            | "Size"
            | "ConstantOfShape"
    )
}

impl Builder {
    /// A node whose inputs and output are all of one type, computed in a type that has a kernel.
    pub fn apply(
        &mut self,
        op: impl Into<Cow<'static, str>>,
        inputs: &[ValueId],
        attributes: Attrs,
    ) -> ValueId {
        let op = op.into();
        let Some(dtype) = inputs.first().map(|&input| self.dtype(input)) else {
            return self.emit(op, inputs, attributes);
        };
        let kernel = kernel_type(&op, dtype, self.opset);
        let inputs: Vec<ValueId> = inputs.iter().map(|&input| self.cast(input, kernel)).collect();
        let result = self.emit(op, &inputs, attributes);
        self.cast(result, dtype)
    }

    /// A node that says true or false of elements of one type (`Less`, `IsNaN`).
    pub fn test(&mut self, op: &'static str, inputs: &[ValueId]) -> ValueId {
        let Some(dtype) = inputs.first().map(|&input| self.dtype(input)) else {
            return self.emit(op, inputs, vec![]);
        };
        let kernel = kernel_type(op, dtype, self.opset);
        let inputs: Vec<ValueId> = inputs.iter().map(|&input| self.cast(input, kernel)).collect();
        self.emit(op, &inputs, vec![])
    }

    /// `then` where `condition` holds, else `otherwise`; both of one type.
    pub fn select(&mut self, condition: ValueId, then: ValueId, otherwise: ValueId) -> ValueId {
        let dtype = self.dtype(then);
        let kernel = kernel_type("Where", dtype, self.opset);
        let (then, otherwise) = (self.cast(then, kernel), self.cast(otherwise, kernel));
        let chosen = self.emit("Where", &[condition, then, otherwise], vec![]);
        self.cast(chosen, dtype)
    }

    /// A 0-D constant of the type of `value`.
    pub fn const_like(&mut self, value: ValueId, number: impl Into<Number>) -> ValueId {
        let dtype = self.dtype(value);
        self.const_scalar(dtype, number)
    }

    /// `value` in the type of `other`.
    pub fn cast_like(&mut self, value: ValueId, other: ValueId) -> ValueId {
        let dtype = self.dtype(other);
        self.cast(value, dtype)
    }

    /// `value` broadcast to the sizes in `shape`.
    pub fn apply_expand(&mut self, value: ValueId, shape: ValueId) -> ValueId {
        let dtype = self.dtype(value);
        let value = self.cast(value, kernel_type("Expand", dtype, self.opset));
        let expanded = self.emit("Expand", &[value, shape], vec![]);
        self.cast(expanded, dtype)
    }

    /// `value` with zeros around it.
    pub fn apply_pad(&mut self, value: ValueId, pads: ValueId) -> ValueId {
        let dtype = self.dtype(value);
        let value = self.cast(value, kernel_type("Pad", dtype, self.opset));
        let padded = self.emit("Pad", &[value, pads], vec![]);
        self.cast(padded, dtype)
    }

    /// [`Builder::reduce`] in a type that has a kernel.
    pub fn apply_reduce(
        &mut self,
        op: &'static str,
        value: ValueId,
        axes: &[i64],
        keepdims: bool,
    ) -> ValueId {
        let dtype = self.dtype(value);
        let value = self.cast(value, kernel_type(op, dtype, self.opset));
        let reduced = self.reduce(op, value, axes, keepdims);
        self.cast(reduced, dtype)
    }
}

/// The type in which PyTorch computes functions of 16-bit floats before it rounds the result.
pub fn math_type(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        other => other,
    }
}

/// The next wider float, for formulas that cancel: PyTorch has a function of its own there (`log1p`, `expm1`).
pub fn precise_type(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        _ => DType::F64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_without_a_kernel_is_computed_in_one_that_holds_it() {
        assert_eq!(kernel_type("Add", DType::BF16, 20), DType::F32);
        assert_eq!(kernel_type("Transpose", DType::BF16, 20), DType::BF16);
        assert_eq!(kernel_type("Where", DType::I16, 20), DType::I32);
        assert_eq!(kernel_type("Where", DType::Bool, 20), DType::U8);
        assert_eq!(kernel_type("ReduceMax", DType::Bool, 18), DType::U8);
        assert_eq!(kernel_type("ReduceMax", DType::Bool, 20), DType::Bool);
        assert_eq!(kernel_type("IsInf", DType::F16, 14), DType::F32);
        assert_eq!(kernel_type("Add", DType::I8, 14), DType::I8);
    }

    #[test]
    fn apply_casts_in_and_out() {
        let mut builder = Builder::new(20);
        let x = builder.new_value();
        builder.set_dtype(x, DType::BF16);
        let y = builder.apply("Exp", &[x], vec![]);
        assert_eq!(builder.dtype(y), DType::BF16);
        let ir = builder.into_ir(vec![x], vec![y]);
        let ops: Vec<&str> = ir.graph.nodes.iter().map(|node| &*node.op).collect();
        assert_eq!(ops, ["Cast", "Exp", "Cast"]);
    }
}
