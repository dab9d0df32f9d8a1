//! Parses symbolic expressions: sympy's `srepr` form (`Mul(Integer(2), Symbol('s77', positive=True))`), which torch writes,
//! and the infix form (`2*s77`), which people and `str` write. One grammar accepts both.

use modelexport_graph::{Name, SymExpr, SymOp};

use super::sym_function::{call, constant};

/// Deepest nesting of an expression.
pub(super) const MAX_EXPRESSION_DEPTH: usize = 200;

/// What a text means, or why it cannot be read.
pub fn parse(text: &str) -> Result<SymExpr, String> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let expression = match parser.binary(0)? {
        Item::Expression(expression) => expression,
        other => return Err(format!("{} is not an expression", other.describe())),
    };
    match parser.peek() {
        None => Ok(expression),
        Some(rest) => Err(format!("unexpected {rest:?} at byte {}", parser.at)),
    }
}

/// What stands between two commas of a call.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Expression(SymExpr),
    /// A quoted string.
    Text(Name),
    /// `(value, condition)` of a `Piecewise`.
    Pair(SymExpr, SymExpr),
    /// An assumption such as `integer=True`, which says nothing about the value.
    Assumption,
    /// A function that has no [`SymOp`]: nothing is known of its value but that equal texts mean equal values.
    Opaque,
}

impl Item {
    fn describe(&self) -> &'static str {
        match self {
            Item::Expression(_) => "an expression",
            Item::Text(_) => "a string",
            Item::Pair(..) => "a pair",
            Item::Assumption => "an assumption",
            Item::Opaque => "an opaque function",
        }
    }

    pub(super) fn expression(self) -> Result<SymExpr, String> {
        match self {
            Item::Expression(expression) => Ok(expression),
            other => Err(format!("expected an expression, not {}", other.describe())),
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

/// Binary operators, longest spelling first, with how tightly they bind.
const OPERATORS: [(&str, u8, Infix); 16] = [
    ("**", 7, Infix::Op(SymOp::Pow)),
    ("//", 5, Infix::Op(SymOp::FloorDiv)),
    ("==", 3, Infix::Op(SymOp::Eq)),
    ("!=", 3, Infix::Op(SymOp::Ne)),
    ("<=", 3, Infix::Op(SymOp::Le)),
    (">=", 3, Infix::Op(SymOp::Ge)),
    ("<", 3, Infix::Op(SymOp::Lt)),
    (">", 3, Infix::Op(SymOp::Gt)),
    ("*", 5, Infix::Op(SymOp::Mul)),
    ("/", 5, Infix::Op(SymOp::TrueDiv)),
    ("%", 5, Infix::Op(SymOp::Mod)),
    ("+", 4, Infix::Op(SymOp::Add)),
    ("-", 4, Infix::Minus),
    ("&", 2, Infix::Op(SymOp::And)),
    ("|", 1, Infix::Op(SymOp::Or)),
    ("^", 1, Infix::Unknown),
];

/// How tightly a sign binds: `-a**b` is `-(a**b)`, `-a*b` is `(-a)*b`.
const SIGN_BINDS: u8 = 6;
/// How tightly `~` binds.
const NOT_BINDS: u8 = 8;

#[derive(Clone, Copy)]
enum Infix {
    Op(SymOp),
    Minus,
    Unknown,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&mut self) -> Option<char> {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        self.rest().chars().next()
    }

    fn eat(&mut self, token: &str) -> bool {
        self.peek();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.eat(token) {
            return Ok(());
        }
        match self.peek() {
            Some(found) => Err(format!("expected {token:?} at byte {}, found {found:?}", self.at)),
            None => Err(format!("expected {token:?} at the end")),
        }
    }

    fn operator(&mut self) -> Option<(&'static str, u8, Infix)> {
        self.peek();
        OPERATORS.into_iter().find(|(spelling, ..)| self.rest().starts_with(spelling))
    }

    /// A chain of operators that bind at least as tightly as `tightness`.
    fn binary(&mut self, tightness: u8) -> Result<Item, String> {
        self.depth += 1;
        if self.depth > MAX_EXPRESSION_DEPTH {
            return Err(format!("nested more than {MAX_EXPRESSION_DEPTH} levels deep"));
        }
        let mut left = self.operand()?;
        let mut links = 0;
        while let Some((spelling, binds, infix)) = self.operator() {
            if binds < tightness {
                break;
            }
            // Each link makes the tree one level deeper, except that sums and products are flat.
            links += usize::from(!is_flat(infix));
            if self.depth + links > MAX_EXPRESSION_DEPTH {
                return Err(format!("nested more than {MAX_EXPRESSION_DEPTH} levels deep"));
            }
            self.at += spelling.len();
            // `**` groups from the right, all others from the left.
            let right = self.binary(if binds == 7 { binds } else { binds + 1 })?.expression()?;
            let left_expression = left.expression()?;
            left = Item::Expression(match infix {
                Infix::Op(op) => flatten(op, left_expression, right),
                Infix::Minus => flatten(SymOp::Add, left_expression, negate(right)),
                Infix::Unknown => return Err(format!("the operator {spelling:?} is not known")),
            });
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Result<Item, String> {
        match self.peek() {
            None => Err("ends where a value is expected".into()),
            Some('-') => {
                self.at += 1;
                Ok(Item::Expression(negate(self.binary(SIGN_BINDS)?.expression()?)))
            }
            Some('+') => {
                self.at += 1;
                self.binary(SIGN_BINDS)
            }
            Some('~') => {
                self.at += 1;
                let inner = self.binary(NOT_BINDS)?.expression()?;
                Ok(Item::Expression(SymExpr::Call(SymOp::Not, vec![inner])))
            }
            Some('(') => self.group(),
            Some('\'' | '"') => self.string(),
            Some(digit) if digit.is_ascii_digit() || digit == '.' => self.number(),
            Some(letter) if letter.is_alphabetic() || letter == '_' => self.word(),
            Some(other) => Err(format!("unexpected {other:?} at byte {}", self.at)),
        }
    }

    /// `(a)` or the pair `(a, b)`.
    fn group(&mut self) -> Result<Item, String> {
        self.expect("(")?;
        let first = self.binary(0)?.expression()?;
        let item = if self.eat(",") {
            let second = self.binary(0)?.expression()?;
            self.eat(",");
            Item::Pair(first, second)
        } else {
            Item::Expression(first)
        };
        self.expect(")")?;
        Ok(item)
    }

    fn string(&mut self) -> Result<Item, String> {
        let quote = self.peek().unwrap_or('\'');
        let mut content = String::new();
        let mut characters = self.rest().char_indices().skip(1);
        while let Some((offset, character)) = characters.next() {
            if character == quote {
                self.at += offset + quote.len_utf8();
                return Ok(Item::Text(content.into()));
            }
            match character {
                '\\' => content.extend(characters.next().map(|(_, escaped)| escaped)),
                _ => content.push(character),
            }
        }
        Err("has a string without an end".into())
    }

    fn number(&mut self) -> Result<Item, String> {
        let rest = self.rest();
        let mut length = 0;
        for (offset, character) in rest.char_indices() {
            let sign_of_exponent = matches!(character, '+' | '-')
                && matches!(rest.get(..offset), Some(s) if s.ends_with(['e', 'E']));
            if !(character.is_ascii_digit() || matches!(character, '.' | 'e' | 'E') || sign_of_exponent) {
                break;
            }
            length = offset + character.len_utf8();
        }
        let number = rest.get(..length).unwrap_or("");
        self.at += length;
        let value = if number.contains(['.', 'e', 'E']) {
            number.parse().ok().map(SymExpr::float)
        } else {
            number.parse().ok().map(SymExpr::Int)
        };
        value.map(Item::Expression).ok_or_else(|| format!("the number {number:?} is out of range"))
    }

    /// A symbol, a constant, an assumption or a call.
    fn word(&mut self) -> Result<Item, String> {
        let rest = self.rest();
        let length =
            rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.'))).unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or("");
        let start = self.at;
        self.at += length;
        match self.peek() {
            Some('(') => {
                let arguments = self.arguments()?;
                Ok(match call(word, arguments)? {
                    Item::Opaque => Item::Expression(SymExpr::Symbol(
                        self.text.get(start..self.at).unwrap_or(word).into(),
                    )),
                    item => item,
                })
            }
            Some('=') if !self.rest().starts_with("==") => {
                self.expect("=")?;
                self.binary(0)?;
                Ok(Item::Assumption)
            }
            _ => Ok(Item::Expression(constant(word).unwrap_or_else(|| SymExpr::Symbol(word.into())))),
        }
    }

    fn arguments(&mut self) -> Result<Vec<Item>, String> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.eat(")") {
            match self.binary(0)? {
                Item::Assumption => {}
                argument => arguments.push(argument),
            }
            if !self.eat(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(arguments)
    }
}

pub(super) fn negate(expression: SymExpr) -> SymExpr {
    match expression {
        SymExpr::Int(value) if value != i64::MIN => SymExpr::Int(-value),
        SymExpr::Float(bits) => SymExpr::float(-f64::from_bits(bits)),
        other => SymExpr::Call(SymOp::Mul, vec![SymExpr::Int(-1), other]),
    }
}

fn is_flat(infix: Infix) -> bool {
    matches!(infix, Infix::Minus | Infix::Op(SymOp::Add | SymOp::Mul | SymOp::And | SymOp::Or))
}

/// `a + b + c` is one sum of three, like sympy's `Add`.
fn flatten(op: SymOp, left: SymExpr, right: SymExpr) -> SymExpr {
    match left {
        SymExpr::Call(inner, mut arguments) if inner == op && is_flat(Infix::Op(op)) => {
            arguments.push(right);
            SymExpr::Call(op, arguments)
        }
        left => SymExpr::Call(op, vec![left, right]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        parse(text).map_or_else(|reason| format!("error: {reason}"), |expression| expression.to_string())
    }

    #[test]
    fn srepr_and_infix_mean_the_same() {
        for (srepr, infix) in [
            ("Symbol('s77', positive=True, integer=True)", "s77"),
            ("Mul(Integer(2), Symbol('s77', integer=True))", "2*s77"),
            ("Add(Symbol('s0'), Mul(Integer(-1), Symbol('s1')))", "s0 - s1"),
            ("Add(Symbol('s0'), Integer(1), Symbol('s1'))", "s0 + 1 + s1"),
            ("FloorDiv(Symbol('s0'), Integer(4))", "s0//4"),
            ("PythonMod(Symbol('s0'), Integer(4))", "s0 % 4"),
            ("Pow(Symbol('s0'), Integer(2))", "s0**2"),
            ("Max(Integer(1), Symbol('s0'))", "Max(1, s0)"),
            ("Mul(Integer(-1), Pow(Symbol('a'), Integer(2)))", "-a**2"),
            ("Equality(Symbol('u0'), Integer(-1))", "Eq(u0, -1)"),
            ("StrictLessThan(Symbol('u0'), Integer(5))", "u0 < 5"),
            ("And(LessThan(Symbol('a'), Symbol('b')), Not(Symbol('c')))", "(a <= b) & ~c"),
        ] {
            assert_eq!(parse(srepr).unwrap(), parse(infix).unwrap(), "{srepr} and {infix}");
        }
    }

    #[test]
    fn operators_bind_as_in_python() {
        for (text, expected) in [
            ("a + b*c", "a + (b*c)"),
            ("(a + b)*c", "(a + b)*c"),
            ("a - b - c", "a + (-1*b) + (-1*c)"),
            ("a//b//c", "(a//b)//c"),
            ("a**b**c", "a**(b**c)"),
            ("-2*a", "-2*a"),
            ("a*-2", "a*-2"),
            ("1.5e-3*a", "0.0015*a"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn a_symbol_keeps_its_name() {
        assert_eq!(parse("Symbol('s\\'x')").unwrap(), SymExpr::Symbol("s'x".into()));
    }

    #[test]
    fn bad_text_says_where() {
        for (text, expected) in [
            ("", "error: ends where a value is expected"),
            ("2*", "error: ends where a value is expected"),
            ("s0 s1", "error: unexpected 's' at byte 3"),
            ("Max(1, s0", "error: expected \")\" at the end"),
            ("Symbol('s0", "error: has a string without an end"),
            ("9223372036854775808", "error: the number \"9223372036854775808\" is out of range"),
            ("s0 @ s1", "error: unexpected '@' at byte 3"),
            ("'s0'", "error: a string is not an expression"),
            ("integer=True", "error: an assumption is not an expression"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_refused() {
        for (open, close) in [("(", ")"), ("Not(", ")"), ("-", ""), ("a**", "")] {
            let deep = format!("{}a{}", open.repeat(100_000), close.repeat(100_000));
            assert_eq!(parse(&deep), Err("nested more than 200 levels deep".into()), "{open}");
            let fine = format!("{}a{}", open.repeat(50), close.repeat(50));
            assert!(parse(&fine).is_ok(), "{open}");
        }
        let chain = format!("a{}", "//a".repeat(100_000));
        assert_eq!(parse(&chain), Err("nested more than 200 levels deep".into()));
        assert!(parse(&format!("a{}", " + a".repeat(1000))).is_ok(), "a sum is flat");
    }
}
