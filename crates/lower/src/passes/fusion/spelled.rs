//! Programs that spell out a function in small operators, for the tests of patterns.

use modelexport_graph::aten::{Arg, TensorMeta, ValueId};
use modelexport_graph::{DType, Dim};

use crate::test_calls::lowered_program_at;
use crate::test_program::{TestProgram, contiguous};

pub struct Spelled {
    program: TestProgram,
}

impl Spelled {
    pub fn new() -> Self {
        Spelled { program: TestProgram::new() }
    }

    pub fn input(&mut self, name: &str, sizes: &[i64]) -> ValueId {
        self.typed_input(name, DType::F32, sizes)
    }

    pub fn typed_input(&mut self, name: &str, dtype: DType, sizes: &[i64]) -> ValueId {
        self.program.input(name, meta(dtype, sizes))
    }

    pub fn parameter(&mut self, name: &str, sizes: &[i64]) -> ValueId {
        self.program.parameter(name, meta(DType::F32, sizes))
    }

    /// `sqrt`, `tanh`, …
    pub fn unary(&mut self, op: &str, x: ValueId) -> ValueId {
        let meta = self.program.meta(x).clone();
        self.program.node(&format!("aten.{op}.default"), &[("self", Arg::Tensor(x))], meta)
    }

    /// `add`, `mul`, … of two tensors.
    pub fn binary(&mut self, op: &str, a: ValueId, b: ValueId) -> ValueId {
        let (left, right) = (self.program.meta(a), self.program.meta(b));
        let rank = left.sizes.len().max(right.sizes.len());
        let size = |meta: &TensorMeta, axis: usize| match (axis + meta.sizes.len()).checked_sub(rank) {
            Some(axis) => meta.sizes[axis].as_static().unwrap(),
            None => 1,
        };
        let sizes: Vec<i64> = (0..rank).map(|axis| size(left, axis).max(size(right, axis))).collect();
        let args = [("self", Arg::Tensor(a)), ("other", Arg::Tensor(b))];
        let meta = meta(left.dtype, &sizes);
        self.program.node(&format!("aten.{op}.Tensor"), &args, meta)
    }

    /// `add`, `mul`, … of a tensor and a number.
    pub fn number(&mut self, op: &str, x: ValueId, number: f64) -> ValueId {
        let meta = self.program.meta(x).clone();
        let args = [("self", Arg::Tensor(x)), ("other", Arg::Float(number))];
        self.program.node(&format!("aten.{op}.Scalar"), &args, meta)
    }

    pub fn power(&mut self, x: ValueId, exponent: f64) -> ValueId {
        let meta = self.program.meta(x).clone();
        let args = [("self", Arg::Tensor(x)), ("exponent", Arg::Float(exponent))];
        self.program.node("aten.pow.Tensor_Scalar", &args, meta)
    }

    /// The mean along an axis, which stays.
    pub fn mean(&mut self, x: ValueId, axis: i64) -> ValueId {
        let mut meta = self.program.meta(x).clone();
        let at = if axis < 0 { axis + meta.sizes.len() as i64 } else { axis };
        meta.sizes[at as usize] = Dim::Static(1);
        let args = [("self", Arg::Tensor(x)), ("dim", Arg::Ints(vec![axis])), ("keepdim", Arg::Bool(true))];
        self.program.node("aten.mean.dim", &args, contiguous(meta.dtype, meta.sizes))
    }

    /// The variance along the last axis, which stays.
    pub fn variance(&mut self, x: ValueId, correction: i64) -> ValueId {
        let mut meta = self.program.meta(x).clone();
        *meta.sizes.last_mut().unwrap() = Dim::Static(1);
        let args = [
            ("self", Arg::Tensor(x)),
            ("dim", Arg::Ints(vec![-1])),
            ("correction", Arg::Int(correction)),
            ("keepdim", Arg::Bool(true)),
        ];
        self.program.node("aten.var.correction", &args, contiguous(meta.dtype, meta.sizes))
    }

    pub fn cast(&mut self, x: ValueId, dtype: DType) -> ValueId {
        let meta = contiguous(dtype, self.program.meta(x).sizes.clone());
        let args = [("self", Arg::Tensor(x)), ("dtype", Arg::DType(dtype))];
        self.program.node("aten.to.dtype", &args, meta)
    }

    /// `x[…, start:end:step]`
    pub fn slice(&mut self, x: ValueId, start: i64, end: i64, step: i64) -> ValueId {
        let mut meta = self.program.meta(x).clone();
        *meta.sizes.last_mut().unwrap() = Dim::Static((end - start + step - 1) / step);
        let args = [
            ("self", Arg::Tensor(x)),
            ("dim", Arg::Int(-1)),
            ("start", Arg::Int(start)),
            ("end", Arg::Int(end)),
            ("step", Arg::Int(step)),
        ];
        self.program.node("aten.slice.Tensor", &args, contiguous(meta.dtype, meta.sizes))
    }

    /// One behind the other along the last axis.
    pub fn join(&mut self, a: ValueId, b: ValueId) -> ValueId {
        let (mut meta, other) = (self.program.meta(a).clone(), self.program.meta(b));
        let sizes = [meta.sizes.last(), other.sizes.last()].map(|size| size.unwrap().as_static().unwrap());
        *meta.sizes.last_mut().unwrap() = Dim::Static(sizes.iter().sum());
        let args = [("tensors", Arg::Tensors(vec![a, b])), ("dim", Arg::Int(-1))];
        self.program.node("aten.cat.default", &args, contiguous(meta.dtype, meta.sizes))
    }

    /// Alternating along the last axis.
    pub fn interleave(&mut self, a: ValueId, b: ValueId) -> ValueId {
        let meta = self.program.meta(a).clone();
        let stacked = contiguous(meta.dtype, meta.sizes.iter().cloned().chain([Dim::Static(2)]).collect());
        let args = [("tensors", Arg::Tensors(vec![a, b])), ("dim", Arg::Int(-1))];
        let both = self.program.node("aten.stack.default", &args, stacked);
        let mut sizes = meta.sizes;
        let last = sizes.last_mut().unwrap();
        *last = Dim::Static(2 * last.as_static().unwrap());
        let args = [("self", Arg::Tensor(both)), ("start_dim", Arg::Int(-2))];
        self.program.node("aten.flatten.using_ints", &args, contiguous(meta.dtype, sizes))
    }

    pub fn unsqueeze(&mut self, x: ValueId, axis: i64) -> ValueId {
        let mut meta = self.program.meta(x).clone();
        meta.sizes.insert(axis as usize, Dim::Static(1));
        let args = [("self", Arg::Tensor(x)), ("dim", Arg::Int(axis))];
        self.program.node("aten.unsqueeze.default", &args, contiguous(meta.dtype, meta.sizes))
    }

    /// The nodes of the program that returns `values`.
    pub fn lowered(self, values: &[ValueId], opset: i64) -> String {
        lowered_program_at(self.program.outputs(values), opset)
    }
}

fn meta(dtype: DType, sizes: &[i64]) -> TensorMeta {
    contiguous(dtype, sizes.iter().map(|&size| Dim::Static(size)).collect())
}
