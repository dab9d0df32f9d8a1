//! Symbolic sizes: integer (and now and then float or boolean) expressions over named symbols.

use crate::Name;

/// An expression over symbols such as `s77` (a dynamic dimension) or `u0` (a size known only from data).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SymExpr {
    Int(i64),
    /// Floats by their bits, so that expressions can be compared and hashed.
    Float(u64),
    Bool(bool),
    Symbol(Name),
    Call(SymOp, Vec<SymExpr>),
}

/// What a [`SymExpr::Call`] computes. Division and modulo are Python's (towards minus infinity).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SymOp {
    Add,
    Mul,
    Pow,
    FloorDiv,
    CeilDiv,
    /// Division with a float result.
    TrueDiv,
    Mod,
    Max,
    Min,
    Abs,
    /// Float to integer, towards zero.
    Trunc,
    Floor,
    Ceil,
    Round,
    Sqrt,
    ToFloat,
    /// `Where(condition, a, b)`.
    Where,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
    Not,
}

impl SymExpr {
    pub fn float(value: f64) -> Self {
        SymExpr::Float(value.to_bits())
    }

    pub fn as_int(&self) -> Option<i64> {
        match self {
            SymExpr::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// The name, if the whole expression is one symbol.
    pub fn as_symbol(&self) -> Option<&Name> {
        match self {
            SymExpr::Symbol(name) => Some(name),
            _ => None,
        }
    }

    /// Calls `visit` for every symbol, each time that it occurs.
    pub fn for_each_symbol(&self, visit: &mut dyn FnMut(&Name)) {
        match self {
            SymExpr::Symbol(name) => visit(name),
            SymExpr::Call(_, arguments) => arguments.iter().for_each(|a| a.for_each_symbol(visit)),
            _ => {}
        }
    }
}

/// Infix form, as people write it: `2*s0`, `s0//4`, `Max(1, s0)`.
impl std::fmt::Display for SymExpr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        fn infix(f: &mut std::fmt::Formatter<'_>, arguments: &[SymExpr], sign: &str) -> std::fmt::Result {
            for (i, argument) in arguments.iter().enumerate() {
                if i > 0 {
                    f.write_str(sign)?;
                }
                match argument {
                    SymExpr::Call(op, _) if op.infix().is_some() => write!(f, "({argument})")?,
                    _ => write!(f, "{argument}")?,
                }
            }
            Ok(())
        }
        match self {
            SymExpr::Int(value) => write!(f, "{value}"),
            SymExpr::Float(bits) => write!(f, "{:?}", f64::from_bits(*bits)),
            SymExpr::Bool(value) => write!(f, "{value}"),
            SymExpr::Symbol(name) => f.write_str(name),
            SymExpr::Call(op, arguments) => match op.infix() {
                Some(sign) => infix(f, arguments, sign),
                None => {
                    write!(f, "{op:?}(")?;
                    for (i, argument) in arguments.iter().enumerate() {
                        if i > 0 {
                            f.write_str(", ")?;
                        }
                        write!(f, "{argument}")?;
                    }
                    f.write_str(")")
                }
            },
        }
    }
}

impl SymOp {
    fn infix(self) -> Option<&'static str> {
        Some(match self {
            SymOp::Add => " + ",
            SymOp::Mul => "*",
            SymOp::Pow => "**",
            SymOp::FloorDiv => "//",
            SymOp::TrueDiv => "/",
            SymOp::Mod => " % ",
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displays_as_people_write_it() {
        let s0 = || SymExpr::Symbol("s0".into());
        let twice = SymExpr::Call(SymOp::Mul, vec![SymExpr::Int(2), s0()]);
        let sum = SymExpr::Call(SymOp::Add, vec![twice, SymExpr::Int(1)]);
        assert_eq!(sum.to_string(), "(2*s0) + 1");
        assert_eq!(SymExpr::Call(SymOp::Max, vec![SymExpr::Int(1), s0()]).to_string(), "Max(1, s0)");
    }
}
