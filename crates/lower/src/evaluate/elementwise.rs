//! Elementwise ONNX operators on constants.

use modelexport_graph::DType;

use super::array::{Array, broadcast_dims};
use crate::literal::Number;

pub fn unary(op: &str, x: &Array) -> Option<Array> {
    let float: Option<fn(f64) -> f64> = match op {
        "Exp" => Some(f64::exp),
        "Log" => Some(f64::ln),
        "Sqrt" => Some(f64::sqrt),
        "Sin" => Some(f64::sin),
        "Cos" => Some(f64::cos),
        "Tan" => Some(f64::tan),
        "Tanh" => Some(f64::tanh),
        "Sigmoid" => Some(|x| 1.0 / (1.0 + (-x).exp())),
        "Floor" => Some(f64::floor),
        "Ceil" => Some(f64::ceil),
        "Round" => Some(f64::round_ties_even),
        "Reciprocal" => Some(f64::recip),
        "Softplus" => Some(|x| x.max(0.0) + (-x.abs()).exp().ln_1p()),
        _ => None,
    };
    let data = match (op, float) {
        (_, Some(function)) => {
            if !x.dtype.is_float() {
                return None;
            }
            x.data.iter().map(|number| Number::Float(function(number.as_f64()))).collect()
        }
        ("Identity", _) => x.data.clone(),
        ("Neg", _) => map(x, i64::wrapping_neg, |x| -x),
        ("Abs", _) => map(x, i64::wrapping_abs, f64::abs),
        // The sign of zero stays.
        ("Relu", _) => map(x, |x| x.max(0), |x| if x < 0.0 { 0.0 } else { x }),
        // Of NaN it is zero in PyTorch.
        ("Sign", _) => map(x, i64::signum, |x| if x == 0.0 || x.is_nan() { 0.0 } else { x.signum() }),
        ("Not", _) => x.data.iter().map(|number| Number::from(number.as_i64() == 0)).collect(),
        ("IsNaN", _) => {
            let data = x.data.iter().map(|number| Number::from(number.as_f64().is_nan())).collect();
            return Some(Array::new(DType::Bool, x.dims.clone(), data));
        }
        _ => return None,
    };
    Some(Array::new(x.dtype, x.dims.clone(), data))
}

fn map(x: &Array, int: fn(i64) -> i64, float: fn(f64) -> f64) -> Vec<Number> {
    let apply = |number: &Number| match *number {
        Number::Int(value) => Number::Int(int(value)),
        Number::Float(value) => Number::Float(float(value)),
    };
    x.data.iter().map(apply).collect()
}

pub fn cast(x: &Array, to: DType) -> Option<Array> {
    // Narrow before widening, so that a float32 is what a float32 can hold.
    let data = x
        .data
        .iter()
        .map(|&number| {
            if to == DType::Bool {
                Number::from(number.as_f64() != 0.0)
            } else if to.is_float() {
                Number::Float(number.as_f64())
            } else {
                Number::Int(number.as_i64())
            }
        })
        .collect();
    // What PyTorch gives for numbers that `to` cannot hold depends on the machine. For all that lie below an `int64` it is
    // the smallest one, so that the logarithm of 0, which a `Where` drops later, does not keep what is made of it.
    let is_certain = |number: &Number| match number {
        Number::Float(value) if to == DType::I64 => *value < -(i64::MIN as f64),
        Number::Float(value) => holds(to, *value),
        Number::Int(_) => true,
    };
    if to.is_integer() && !x.data.iter().all(is_certain) {
        return None;
    }
    Array::from_literal(&Array::new(to, x.dims.clone(), data).to_literal()?)
}

/// Whether the integer type `dtype` has what is left of `value` when it is cut towards zero.
fn holds(dtype: DType, value: f64) -> bool {
    let bits = dtype.bits().unwrap_or(0) as i32;
    let (low, high) = match dtype {
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1)),
        _ => (0.0, 2f64.powi(bits)),
    };
    low <= value.trunc() && value.trunc() < high
}

pub fn binary(op: &str, a: &Array, b: &Array) -> Option<Array> {
    let dims = broadcast_dims(&a.dims, &b.dims)?;
    let (left, right) = (a.broadcast(&dims)?, b.broadcast(&dims)?);
    let is_comparison = matches!(op, "Equal" | "Less" | "LessOrEqual" | "Greater" | "GreaterOrEqual");
    let dtype = if is_comparison { DType::Bool } else { a.dtype };
    let data =
        left.data.iter().zip(&right.data).map(|(&x, &y)| pair(op, x, y)).collect::<Option<Vec<Number>>>()?;
    // Through the literal, so that the result is rounded to its type.
    Array::from_literal(&Array::new(dtype, dims, data).to_literal()?)
}

fn pair(op: &str, x: Number, y: Number) -> Option<Number> {
    if let (Number::Int(x), Number::Int(y)) = (x, y) {
        return Some(match op {
            "Add" => x.wrapping_add(y).into(),
            "Sub" => x.wrapping_sub(y).into(),
            "Mul" => x.wrapping_mul(y).into(),
            "Div" if y != 0 => x.wrapping_div(y).into(),
            "Mod" if y != 0 => {
                let rest = x.wrapping_rem(y);
                (if rest != 0 && (rest < 0) != (y < 0) { rest + y } else { rest }).into()
            }
            "Pow" => x.checked_pow(u32::try_from(y).ok()?)?.into(),
            "Max" => x.max(y).into(),
            "Min" => x.min(y).into(),
            "And" => (x != 0 && y != 0).into(),
            "Or" => (x != 0 || y != 0).into(),
            "Xor" => ((x != 0) != (y != 0)).into(),
            "BitwiseAnd" => (x & y).into(),
            "BitwiseOr" => (x | y).into(),
            "BitwiseXor" => (x ^ y).into(),
            "Equal" => (x == y).into(),
            "Less" => (x < y).into(),
            "LessOrEqual" => (x <= y).into(),
            "Greater" => (x > y).into(),
            "GreaterOrEqual" => (x >= y).into(),
            _ => return None,
        });
    }
    let (x, y) = (x.as_f64(), y.as_f64());
    Some(match op {
        "Add" => (x + y).into(),
        "Sub" => (x - y).into(),
        "Mul" => (x * y).into(),
        "Div" => (x / y).into(),
        "Pow" => x.powf(y).into(),
        "Max" => maximum(x, y).into(),
        "Min" => minimum(x, y).into(),
        "Equal" => (x == y).into(),
        "Less" => (x < y).into(),
        "LessOrEqual" => (x <= y).into(),
        "Greater" => (x > y).into(),
        "GreaterOrEqual" => (x >= y).into(),
        _ => return None,
    })
}

/// NaN if one of the two is. Of zeros, the first.
pub fn maximum(x: f64, y: f64) -> f64 {
    if x.is_nan() || x >= y { x } else { y }
}

/// NaN if one of the two is. Of zeros, the first.
pub fn minimum(x: f64, y: f64) -> f64 {
    if x.is_nan() || x <= y { x } else { y }
}

pub fn choose(condition: &Array, a: &Array, b: &Array) -> Option<Array> {
    let dims = broadcast_dims(&condition.dims, &broadcast_dims(&a.dims, &b.dims)?)?;
    let (condition, a, b) = (condition.broadcast(&dims)?, a.broadcast(&dims)?, b.broadcast(&dims)?);
    let picked = condition.data.iter().zip(a.data.iter().zip(&b.data));
    let data = picked.map(|(c, (x, y))| if c.as_i64() != 0 { *x } else { *y }).collect();
    Some(Array::new(a.dtype, dims, data))
}
