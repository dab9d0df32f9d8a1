//! The functions in symbolic expressions: those of sympy and of `torch/utils/_sympy/functions.py`.

use modelexport_graph::{SymExpr, SymOp};

use super::sym_text::Item;

/// Words that are values: truth, and sympy's and torch's infinities.
pub(super) fn constant(word: &str) -> Option<SymExpr> {
    match word {
        "True" | "true" | "S.true" => Some(SymExpr::Bool(true)),
        "False" | "false" | "S.false" => Some(SymExpr::Bool(false)),
        "oo" | "int_oo" => Some(SymExpr::float(f64::INFINITY)),
        "nan" => Some(SymExpr::float(f64::NAN)),
        _ => None,
    }
}

/// What `name(arguments)` means; [`Item::Opaque`] for functions that have no [`SymOp`].
pub(super) fn call(name: &str, arguments: Vec<Item>) -> Result<Item, String> {
    let expression = match name {
        "Symbol" | "Dummy" => match arguments.into_iter().next() {
            Some(Item::Text(text)) => SymExpr::Symbol(text),
            _ => return Err(format!("{name} without a name")),
        },
        "Float" => return float(arguments).map(Item::Expression),
        "BooleanTrue" => SymExpr::Bool(true),
        "BooleanFalse" => SymExpr::Bool(false),
        "Integer" | "Identity" | "S" | "sympify" => {
            let [value] = expressions(name, arguments)?;
            value
        }
        "ExprCondPair" | "Tuple" => {
            let [value, condition] = expressions(name, arguments)?;
            return Ok(Item::Pair(value, condition));
        }
        "Piecewise" => piecewise(arguments)?,
        "Pow" => {
            let [base, exponent] = expressions(name, arguments)?;
            power(base, exponent)
        }
        "ModularIndexing" => {
            let [base, divisor, modulus] = expressions(name, arguments)?;
            SymExpr::Call(SymOp::Mod, vec![SymExpr::Call(SymOp::FloorDiv, vec![base, divisor]), modulus])
        }
        "TruncToFloat" => {
            let [value] = expressions(name, arguments)?;
            SymExpr::Call(SymOp::ToFloat, vec![SymExpr::Call(SymOp::Trunc, vec![value])])
        }
        "LShift" => {
            let [value, bits] = expressions(name, arguments)?;
            SymExpr::Call(SymOp::Mul, vec![value, power_of_two(bits)])
        }
        "RShift" => {
            let [value, bits] = expressions(name, arguments)?;
            SymExpr::Call(SymOp::FloorDiv, vec![value, power_of_two(bits)])
        }
        _ => return plain(name, arguments),
    };
    Ok(Item::Expression(expression))
}

/// Functions that are one [`SymOp`].
fn plain(name: &str, arguments: Vec<Item>) -> Result<Item, String> {
    let (op, count) = match name {
        "Add" => (SymOp::Add, None),
        "Mul" => (SymOp::Mul, None),
        "Max" => (SymOp::Max, None),
        "Min" => (SymOp::Min, None),
        "And" => (SymOp::And, None),
        "Or" => (SymOp::Or, None),
        "PowByNatural" | "FloatPow" => (SymOp::Pow, Some(2)),
        "FloorDiv" | "CleanDiv" => (SymOp::FloorDiv, Some(2)),
        "CeilDiv" => (SymOp::CeilDiv, Some(2)),
        "FloatTrueDiv" | "IntTrueDiv" | "Rational" => (SymOp::TrueDiv, Some(2)),
        "Mod" | "PythonMod" => (SymOp::Mod, Some(2)),
        "Equality" | "Eq" => (SymOp::Eq, Some(2)),
        "Unequality" | "Ne" => (SymOp::Ne, Some(2)),
        "StrictLessThan" | "Lt" => (SymOp::Lt, Some(2)),
        "LessThan" | "Le" => (SymOp::Le, Some(2)),
        "StrictGreaterThan" | "Gt" => (SymOp::Gt, Some(2)),
        "GreaterThan" | "Ge" => (SymOp::Ge, Some(2)),
        "Where" => (SymOp::Where, Some(3)),
        "Not" => (SymOp::Not, Some(1)),
        "Abs" => (SymOp::Abs, Some(1)),
        "TruncToInt" => (SymOp::Trunc, Some(1)),
        "FloorToInt" | "floor" => (SymOp::Floor, Some(1)),
        "CeilToInt" | "ceiling" => (SymOp::Ceil, Some(1)),
        "RoundToInt" => (SymOp::Round, Some(1)),
        "ToFloat" => (SymOp::ToFloat, Some(1)),
        "sqrt" | "OpaqueUnaryFn_sqrt" => (SymOp::Sqrt, Some(1)),
        _ => return Ok(Item::Opaque),
    };
    let arguments = arguments.into_iter().map(Item::expression).collect::<Result<Vec<_>, _>>()?;
    match count {
        Some(count) if count != arguments.len() => {
            Err(format!("{name} has {} arguments, expected {count}", arguments.len()))
        }
        None if arguments.is_empty() => Err(format!("{name} has no arguments")),
        _ => Ok(Item::Expression(SymExpr::Call(op, arguments))),
    }
}

fn expressions<const N: usize>(name: &str, arguments: Vec<Item>) -> Result<[SymExpr; N], String> {
    let values = arguments.into_iter().map(Item::expression).collect::<Result<Vec<_>, _>>()?;
    let count = values.len();
    values.try_into().map_err(|_| format!("{name} has {count} arguments, expected {N}"))
}

/// `Float('0.5', precision=53)`.
fn float(arguments: Vec<Item>) -> Result<SymExpr, String> {
    match arguments.into_iter().next() {
        Some(Item::Text(text)) => {
            text.parse().map(SymExpr::float).map_err(|_| format!("the float {text:?} cannot be read"))
        }
        Some(Item::Expression(value @ (SymExpr::Int(_) | SymExpr::Float(_)))) => Ok(value),
        _ => Err("Float without a number".into()),
    }
}

/// sympy writes quotients and roots as powers.
fn power(base: SymExpr, exponent: SymExpr) -> SymExpr {
    let is_half = matches!(&exponent, SymExpr::Call(SymOp::TrueDiv, parts)
        if parts.as_slice() == [SymExpr::Int(1), SymExpr::Int(2)]);
    if is_half {
        return SymExpr::Call(SymOp::Sqrt, vec![base]);
    }
    match exponent {
        SymExpr::Int(-1) => SymExpr::Call(SymOp::TrueDiv, vec![SymExpr::Int(1), base]),
        exponent => SymExpr::Call(SymOp::Pow, vec![base, exponent]),
    }
}

fn power_of_two(bits: SymExpr) -> SymExpr {
    SymExpr::Call(SymOp::Pow, vec![SymExpr::Int(2), bits])
}

/// Cases from the last, whose condition is `True`, to the first.
fn piecewise(arguments: Vec<Item>) -> Result<SymExpr, String> {
    let mut whole = None;
    for argument in arguments.into_iter().rev() {
        let Item::Pair(value, condition) = argument else {
            return Err("a case of Piecewise is not a pair".into());
        };
        whole = Some(match (whole, condition) {
            (_, SymExpr::Bool(true)) => value,
            (Some(otherwise), condition) => SymExpr::Call(SymOp::Where, vec![condition, value, otherwise]),
            (None, _) => return Err("Piecewise without a last case that is always true".into()),
        });
    }
    whole.ok_or_else(|| "Piecewise without cases".into())
}

#[cfg(test)]
mod tests {
    use super::super::sym_text::parse;
    use super::*;

    fn shown(text: &str) -> String {
        parse(text).map_or_else(|reason| format!("error: {reason}"), |expression| expression.to_string())
    }

    #[test]
    fn functions_of_torch_and_sympy() {
        for (text, expected) in [
            ("CleanDiv(Symbol('a'), Integer(2))", "a//2"),
            ("CeilToInt(IntTrueDiv(Symbol('a'), Integer(2)))", "Ceil(a/2)"),
            ("FloorToInt(FloatTrueDiv(Symbol('a'), Float('0.5', precision=53)))", "Floor(a/0.5)"),
            ("TruncToInt(ToFloat(Symbol('a')))", "Trunc(ToFloat(a))"),
            ("TruncToFloat(Symbol('a'))", "ToFloat(Trunc(a))"),
            ("RoundToInt(Symbol('a'))", "Round(a)"),
            ("Mul(Rational(1, 2), Symbol('a'))", "(1/2)*a"),
            ("Pow(Symbol('a'), Integer(-1))", "1/a"),
            ("Pow(Symbol('a'), Rational(1, 2))", "Sqrt(a)"),
            ("PowByNatural(Symbol('a'), Integer(3))", "a**3"),
            ("ModularIndexing(Symbol('a'), Integer(2), Integer(3))", "(a//2) % 3"),
            ("LShift(Symbol('a'), Integer(3))", "a*(2**3)"),
            ("RShift(Symbol('a'), Integer(3))", "a//(2**3)"),
            ("Identity(Symbol('a'))", "a"),
            ("Where(Eq(a, 1), a, 2)", "Where(Eq(a, 1), a, 2)"),
            ("Abs(Symbol('a'))", "Abs(a)"),
            ("true", "true"),
            ("BooleanFalse()", "false"),
            ("Max(Symbol('a'), -int_oo)", "Max(a, -inf)"),
            (
                "Piecewise(ExprCondPair(Integer(1), LessThan(Symbol('a'), Integer(0))), ExprCondPair(Symbol('a'), true))",
                "Where(Le(a, 0), 1, a)",
            ),
            ("Piecewise((1, a < 0), (2, a < 9), (a, True))", "Where(Lt(a, 0), 1, Where(Lt(a, 9), 2, a))"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn unknown_functions_are_symbols_of_their_own() {
        let sine = "OpaqueUnaryFn_sin(Symbol('a'))";
        assert_eq!(parse(sine), Ok(SymExpr::Symbol(sine.into())));
        assert_eq!(shown(&format!("Add(Integer(1), {sine})")), format!("1 + {sine}"));
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for (text, expected) in [
            ("FloorDiv(Symbol('a'))", "error: FloorDiv has 1 arguments, expected 2"),
            ("Integer(1, 2)", "error: Integer has 2 arguments, expected 1"),
            ("Max()", "error: Max has no arguments"),
            ("Symbol()", "error: Symbol without a name"),
            ("Float('x')", "error: the float \"x\" cannot be read"),
            ("Piecewise((1, a < 0))", "error: Piecewise without a last case that is always true"),
            ("Piecewise(1)", "error: a case of Piecewise is not a pair"),
            ("Add('a')", "error: expected an expression, not a string"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }
}
