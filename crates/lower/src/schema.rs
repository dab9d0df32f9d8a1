//! ATen operator schemas as text, and what is read from them: defaults of arguments that a call left out.
//!
//! A schema is what PyTorch prints for an overload without its namespace:
//! `topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)`.

use std::cell::RefCell;

use modelexport_graph::hash::HashMap;

/// An argument of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter<'a> {
    /// `Tensor`, `SymInt[2]`, `float?`, `Tensor(a!)`.
    pub kind: &'a str,
    pub name: &'a str,
    pub default: Option<&'a str>,
}

/// The parameters of a schema, in order.
pub fn parameters(schema: &str) -> impl Iterator<Item = Parameter<'_>> {
    let inside = schema
        .split_once('(')
        .and_then(|(_, rest)| rest.rsplit_once(" ->"))
        .and_then(|(inside, _)| inside.rsplit_once(')'))
        .map_or("", |(inside, _)| inside);
    split_outside_brackets(inside).filter_map(parameter)
}

fn parameter(text: &str) -> Option<Parameter<'_>> {
    let text = text.trim();
    if text == "*" {
        return None;
    }
    let (kind, rest) = text.split_once(' ')?;
    let (name, default) = match rest.split_once('=') {
        Some((name, default)) => (name, Some(default)),
        None => (rest, None),
    };
    Some(Parameter { kind, name, default })
}

/// Splits at commas that stand outside brackets.
fn split_outside_brackets(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0usize;
    text.split(move |c| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
}

/// A default value as the schema writes it.
#[derive(Clone, Debug, PartialEq)]
pub enum Default {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Ints(Vec<i64>),
    Text(String),
}

/// Defaults of the schemas that were asked for: the same few, over and over.
#[derive(Debug, Default)]
pub struct Defaults(RefCell<HashMap<&'static str, Vec<(&'static str, self::Default)>>>);

impl Defaults {
    /// What the argument called `name` is if a call leaves it out; `None` if it must be there or is Python's `None`.
    pub fn get(&self, schema: &'static str, name: &str) -> Option<self::Default> {
        let mut known = self.0.borrow_mut();
        let of_schema = known.entry(schema).or_insert_with(|| {
            let read = |text| match parse_default(text) {
                self::Default::None => None,
                default => Some(default),
            };
            parameters(schema).filter_map(|found| Some((found.name, read(found.default?)?))).collect()
        });
        of_schema.iter().find(|(parameter, _)| *parameter == name).map(|(_, default)| default.clone())
    }
}

/// Reads `None`, `True`, `-1`, `1e-05`, `[0, 1]`, `'mean'`, `Mean`-like words.
pub fn parse_default(text: &str) -> Default {
    let text = text.trim();
    if let Some(list) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let items = list.split(',').map(str::trim).filter(|item| !item.is_empty());
        return match items.map(str::parse).collect::<Result<Vec<i64>, _>>() {
            Ok(items) => Default::Ints(items),
            Err(_) => Default::Text(text.to_owned()),
        };
    }
    match text {
        "None" => Default::None,
        "True" => Default::Bool(true),
        "False" => Default::Bool(false),
        _ => match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(int), _) => Default::Int(int),
            (_, Ok(float)) => Default::Float(float),
            _ => Default::Text(text.trim_matches(['\'', '"']).to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find<'a>(schema: &'a str, name: &str) -> Option<Parameter<'a>> {
        parameters(schema).find(|parameter| parameter.name == name)
    }

    #[test]
    fn defaults_of_arguments_that_may_be_left_out() {
        let defaults = Defaults::default();
        let pool = "pool(Tensor self, int[2] size, bool ceil=False, int? by=None) -> Tensor";
        for _ in 0..2 {
            assert_eq!(defaults.get(TOPK, "dim"), Some(Default::Int(-1)));
            assert_eq!(defaults.get(pool, "ceil"), Some(Default::Bool(false)));
        }
        for (schema, name) in [(TOPK, "k"), (TOPK, "ceil"), (pool, "by"), (pool, "dim")] {
            assert_eq!(defaults.get(schema, name), None, "{name}");
        }
    }

    const TOPK: &str = "topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)";

    #[test]
    fn parameters_in_order_with_defaults() {
        let names: Vec<&str> = parameters(TOPK).map(|p| p.name).collect();
        assert_eq!(names, ["self", "k", "dim", "largest", "sorted"]);
        assert_eq!(find(TOPK, "dim").and_then(|p| p.default).map(parse_default), Some(Default::Int(-1)));
        assert_eq!(
            find(TOPK, "largest").and_then(|p| p.default).map(parse_default),
            Some(Default::Bool(true))
        );
        assert_eq!(find(TOPK, "k").and_then(|p| p.default), None);
    }

    #[test]
    fn commas_and_brackets_inside_parameters() {
        let schema = "avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, *, float? f=None) -> Tensor";
        let found: Vec<(&str, Option<Default>)> =
            parameters(schema).map(|p| (p.name, p.default.map(parse_default))).collect();
        assert_eq!(found[2], ("stride", Some(Default::Ints(vec![]))));
        assert_eq!(found[4], ("f", Some(Default::None)));
        let schema = "x(Tensor(a!) self, int[3] p=[1, 2, 3], str mode='mean') -> Tensor(a!)";
        assert_eq!(
            find(schema, "p").and_then(|p| p.default).map(parse_default),
            Some(Default::Ints(vec![1, 2, 3]))
        );
        assert_eq!(
            find(schema, "mode").and_then(|p| p.default).map(parse_default),
            Some(Default::Text("mean".into()))
        );
        assert_eq!(find(schema, "self").map(|p| p.kind), Some("Tensor(a!)"));
    }
}
