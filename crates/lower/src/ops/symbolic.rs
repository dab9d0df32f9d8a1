//! Arithmetic on sizes. The program knows the result as an expression over its symbols, which is computed where a
//! lowering needs it, so that these nodes emit nothing.

use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten.sym_size.int", "sym_size.int(Tensor self, int dim) -> SymInt", nothing),
    Row::new("aten.sym_stride.int", "sym_stride.int(Tensor self, int dim) -> SymInt", nothing),
    Row::new("aten.sym_numel.default", "sym_numel(Tensor self) -> SymInt", nothing),
    Row::new("aten.sym_storage_offset.default", "sym_storage_offset(Tensor self) -> SymInt", nothing),
    Row::new("_operator.add", "", nothing),
    Row::new("_operator.and_", "", nothing),
    Row::new("_operator.eq", "", nothing),
    Row::new("_operator.floordiv", "", nothing),
    Row::new("_operator.ge", "", nothing),
    Row::new("_operator.gt", "", nothing),
    Row::new("_operator.le", "", nothing),
    Row::new("_operator.lshift", "", nothing),
    Row::new("_operator.lt", "", nothing),
    Row::new("_operator.mod", "", nothing),
    Row::new("_operator.mul", "", nothing),
    Row::new("_operator.ne", "", nothing),
    Row::new("_operator.neg", "", nothing),
    Row::new("_operator.or_", "", nothing),
    Row::new("_operator.pow", "", nothing),
    Row::new("_operator.rshift", "", nothing),
    Row::new("_operator.sub", "", nothing),
    Row::new("_operator.truediv", "", nothing),
    Row::new("math.trunc", "", nothing),
    Row::new("torch._sym_sqrt", "", nothing),
    Row::new("torch.sym_float", "", nothing),
    Row::new("torch.sym_ite", "", nothing),
    Row::new("torch.sym_max", "", nothing),
    Row::new("torch.sym_min", "", nothing),
    Row::new("torch.sym_not", "", nothing),
];

fn nothing(_: &mut Context<'_, '_>) -> Result<Outputs> {
    Ok(().into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.sym_size.int(self: f32[s0, 3], dim=0) -> s0
            Squeeze(Shape(self, start=0, end=1), [0])
        aten.sym_stride.int(self: f32[s0, s1], dim=0) -> s1
            Squeeze(Shape(self, start=1, end=2), [0])
        aten.sym_numel.default(self: f32[s0, 3]) -> 3*s0
            Squeeze(Mul([3], Shape(self, start=0, end=1)), [0])
        aten.sym_storage_offset.default(self: f32[s0]) -> 0
            Squeeze([0], [0])
        _operator.add(s0, 3) -> s0 + 3
            Squeeze(Add(Unsqueeze(s0, [0]), [3]), [0])
        _operator.and_(s0 > 3, s0 < 8) -> (s0 > 3) & (s0 < 8)
            t1 = Unsqueeze(s0, [0])
            Squeeze(And(Greater(t1, [3]), Less(t1, [8])), [0])
        _operator.eq(Mod(s0, 4), 1) -> Eq(Mod(s0, 4), 1)
            Squeeze(Equal(Mod(Unsqueeze(s0, [0]), [4]), [1]), [0])
        _operator.floordiv(s0, 4) -> (s0//4)
            Squeeze(Div(Unsqueeze(s0, [0]), [4]), [0])
        _operator.ge(s0, 7) -> s0 >= 7
            Squeeze(GreaterOrEqual(Unsqueeze(s0, [0]), [7]), [0])
        _operator.gt(s0, 7) -> s0 > 7
            Squeeze(Greater(Unsqueeze(s0, [0]), [7]), [0])
        _operator.le(s0, 6) -> s0 <= 6
            Squeeze(LessOrEqual(Unsqueeze(s0, [0]), [6]), [0])
        _operator.lshift(s0, 2) -> 4*s0
            Squeeze(Mul([4], Unsqueeze(s0, [0])), [0])
        _operator.lt(s0, 7) -> s0 < 7
            Squeeze(Less(Unsqueeze(s0, [0]), [7]), [0])
        _operator.mod(s0, 4) -> Mod(s0, 4)
            Squeeze(Mod(Unsqueeze(s0, [0]), [4]), [0])
        _operator.mul(s0, 2) -> 2*s0
            Squeeze(Mul([2], Unsqueeze(s0, [0])), [0])
        _operator.ne(Mod(s0, 4), 1) -> Ne(Mod(s0, 4), 1)
            Squeeze(Not(Equal(Mod(Unsqueeze(s0, [0]), [4]), [1])), [0])
        _operator.neg(s0) -> -s0
            Squeeze(Mul([-1], Unsqueeze(s0, [0])), [0])
        _operator.or_(s0 < 5, s0 > 8) -> (s0 > 8) | (s0 < 5)
            t1 = Unsqueeze(s0, [0])
            Squeeze(Or(Greater(t1, [8]), Less(t1, [5])), [0])
        _operator.pow(s0, 2) -> s0**2
            Squeeze(Pow(Unsqueeze(s0, [0]), [2]), [0])
        _operator.rshift(s0, 1) -> (s0//2)
            Squeeze(Div(Unsqueeze(s0, [0]), [2]), [0])
        _operator.sub(s0, 2) -> s0 - 2
            Squeeze(Add(Unsqueeze(s0, [0]), [-2]), [0])
        _operator.truediv(s0, 4) -> IntTrueDiv(s0, 4)
            Squeeze(Div(Cast(Unsqueeze(s0, [0]), to=f64), [4.0]:f64), [0])
        math.trunc(IntTrueDiv(2 - s0, 3)) -> TruncToInt(IntTrueDiv(2 - s0, 3))
            t1 = Div(Cast(Add([2], Mul([-1], Unsqueeze(s0, [0]))), to=f64), [3.0]:f64)
            Squeeze(Cast(t1, to=i64), [0])
        torch._sym_sqrt(ToFloat(s0)) -> OpaqueUnaryFn_sqrt(ToFloat(s0))
            Squeeze(Sqrt(Cast(Unsqueeze(s0, [0]), to=f64)), [0])
        torch.sym_float(s0) -> ToFloat(s0)
            Squeeze(Cast(Unsqueeze(s0, [0]), to=f64), [0])
        torch.sym_ite(s0 > 7, 2, 5) -> Piecewise((2, s0 > 7), (5, True))
            Squeeze(Where(Greater(Unsqueeze(s0, [0]), [7]), [2], [5]), [0])
        torch.sym_max(s0, 7) -> Max(7, s0)
            Squeeze(Max([7], Unsqueeze(s0, [0])), [0])
        torch.sym_min(s0, 7) -> Min(7, s0)
            Squeeze(Min([7], Unsqueeze(s0, [0])), [0])
        torch.sym_not(s0 > 7) -> s0 <= 7
            Squeeze(LessOrEqual(Unsqueeze(s0, [0]), [7]), [0])
        ");
    }
}
