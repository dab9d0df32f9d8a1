use modelexport_graph::{SymExpr, SymOp};
use modelexport_io::pt2::symbolic_expression;

use crate::mutate::{self, text};
use crate::{Target, Verdict};

pub static TARGET: Target = Target {
    name: "symbolic_text_reads_back",
    property: "A symbolic expression in sympy's words means the same as the text it was read from.",
    seeds: Vec::new,
    mutate: |input, random| {
        mutate::formatted(input, random, |input, random| text::mutate(input, random, &WORDS))
    },
    check,
};

const WORDS: [&str; 60] = [
    "s0",
    "u1",
    "0",
    "1",
    "2",
    "-1",
    "9223372036854775807",
    "9223372036854775808",
    "1.5",
    "1e400",
    "+",
    "-",
    "*",
    "**",
    "/",
    "//",
    "%",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "&",
    "|",
    "~",
    "^",
    "(",
    ")",
    ",",
    "Symbol('s77', positive=True)",
    "Integer(3)",
    "Float('0.5', precision=53)",
    "Rational(1, 2)",
    "Max(",
    "Min(",
    "Mod(",
    "FloorDiv(",
    "CeilDiv(",
    "Pow(",
    "Mul(",
    "Add(",
    "Piecewise((1, a < 0), (2, True))",
    "ExprCondPair(",
    "Where(",
    "Eq(",
    "Not(",
    "And(",
    "True",
    "oo",
    "nan",
    "Abs(",
    "TruncToInt(",
    "OpaqueUnaryFn_sqrt(",
    "ModularIndexing(",
    "LShift(",
    "Identity(",
    "'",
    "\"",
    "integer=True",
];

fn check(input: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(input) else { return Verdict::Refused };
    let Ok(expression) = symbolic_expression(text) else { return Verdict::Refused };
    match symbolic_expression(&in_words(&expression)) {
        Ok(again) => assert_eq!(again, expression, "{text:?} in words means something else"),
        // In words, an expression takes more brackets.
        Err(reason) => assert!(reason.contains("nested"), "{text:?} in words cannot be read: {reason}"),
    }
    // The form for people.
    assert!(!expression.to_string().is_empty() || text.contains("Symbol"), "{text:?} is shown as nothing");
    Verdict::Accepted
}

fn in_words(expression: &SymExpr) -> String {
    match expression {
        SymExpr::Int(value) => format!("Integer({value})"),
        SymExpr::Float(bits) => match f64::from_bits(*bits) {
            // The sign of a NaN is lost in its digits.
            nan if nan.is_nan() && nan.is_sign_negative() => "-nan".into(),
            value => format!("Float('{value:?}')"),
        },
        SymExpr::Bool(true) => "true".into(),
        SymExpr::Bool(false) => "false".into(),
        SymExpr::Symbol(name) => format!("Symbol('{}')", name.replace('\\', "\\\\").replace('\'', "\\'")),
        SymExpr::Call(op, arguments) => {
            let arguments: Vec<String> = arguments.iter().map(in_words).collect();
            format!("{}({})", word(*op), arguments.join(", "))
        }
    }
}

fn word(op: SymOp) -> &'static str {
    match op {
        SymOp::Add => "Add",
        SymOp::Mul => "Mul",
        SymOp::Pow => "PowByNatural",
        SymOp::FloorDiv => "FloorDiv",
        SymOp::CeilDiv => "CeilDiv",
        SymOp::TrueDiv => "IntTrueDiv",
        SymOp::Mod => "PythonMod",
        SymOp::Max => "Max",
        SymOp::Min => "Min",
        SymOp::Abs => "Abs",
        SymOp::Trunc => "TruncToInt",
        SymOp::Floor => "FloorToInt",
        SymOp::Ceil => "CeilToInt",
        SymOp::Round => "RoundToInt",
        SymOp::Sqrt => "OpaqueUnaryFn_sqrt",
        SymOp::ToFloat => "ToFloat",
        SymOp::Where => "Where",
        SymOp::Eq => "Equality",
        SymOp::Ne => "Unequality",
        SymOp::Lt => "StrictLessThan",
        SymOp::Le => "LessThan",
        SymOp::Gt => "StrictGreaterThan",
        SymOp::Ge => "GreaterThan",
        SymOp::And => "And",
        SymOp::Or => "Or",
        SymOp::Not => "Not",
    }
}
