//! A captured call as text, and the program that consists of it alone.
//!
//! ```text
//! aten.topk.default(self: f32[s0, 6], k=2, dim=1) -> (f32[s0, 2], i64[s0, 2])
//! aten.convolution.default(input: f32[1, 3, 8, 8], weight: param f32[4, 3, 3, 3], bias=None, …) -> …
//! aten.index.Tensor(self: f32[3, 4], indices: [None, i64[2]]) -> f32[3, 2]
//! _operator.floordiv(s0, 4) -> (s0//4)
//! ```
//!
//! Tensors have a colon before their type, or before the name of the argument that is the same tensor; other arguments
//! have an equals sign. Results are a type, an expression, a list in
//! brackets, or several of these in parentheses, of which the model returns those that are not `unread`.

use std::collections::BTreeSet;

use modelexport_graph::aten::{
    Arg, Device, Layout, MemoryFormat, Program, Range, SymOr, TensorMeta, ValueId, ValueKind,
};
use modelexport_graph::{DType, Dim, Name, SymExpr, SymOp, dtype};
use modelexport_io::pt2::symbolic_expression;

use crate::test_program::{TestProgram, contiguous};

/// The program of one call: its tensors are inputs or parameters, its results outputs.
pub(super) fn program(line: &str) -> Program {
    let (call, results) =
        line.rsplit_once(" -> ").unwrap_or_else(|| panic!("a call without results: {line}"));
    let (target, arguments) =
        call.split_once('(').unwrap_or_else(|| panic!("a call without arguments: {line}"));
    let arguments = arguments.strip_suffix(')').unwrap_or_else(|| panic!("a call without an end: {line}"));
    let mut parser = Parser {
        program: TestProgram::new(),
        tensors: Vec::new(),
        known: BTreeSet::new(),
        wanted: BTreeSet::new(),
    };
    let arguments: Vec<(String, Arg)> =
        split(arguments).into_iter().map(|argument| parser.argument(argument)).collect();
    parser.missing_symbols();
    let results = match results.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(several) if split(several).len() != 1 => split(several),
        _ => vec![results],
    };
    let mut outputs = Vec::new();
    let results: Vec<Arg> = (results.into_iter())
        .map(|text| {
            let unread = text.strip_prefix("unread ");
            let result = parser.result(unread.unwrap_or(text));
            match &result {
                _ if unread.is_some() => {}
                Arg::Tensors(ids) => outputs.extend(ids.iter().map(|&id| Arg::Tensor(id))),
                one => outputs.push(one.clone()),
            }
            result
        })
        .collect();
    let arguments: Vec<(&str, Arg)> =
        arguments.iter().map(|(name, argument)| (name.as_str(), argument.clone())).collect();
    parser.program.call(target, &arguments, results);
    let mut program = parser.program.returning(outputs);
    // As PyTorch names them: sizes of inputs are `s0`, at least 2; sizes that come from data are `u0`.
    for symbol in parser.known {
        let min = if symbol.starts_with('u') { 0 } else { 2 };
        program.ranges.push((symbol, Range { min: Some(min), max: None }));
    }
    program
}

struct Parser {
    program: TestProgram,
    /// Inputs by name.
    tensors: Vec<(String, ValueId)>,
    /// Symbols that the size of a tensor tells.
    known: BTreeSet<Name>,
    /// Symbols that arguments use.
    wanted: BTreeSet<Name>,
}

impl Parser {
    fn argument(&mut self, text: &str) -> (String, Arg) {
        let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        if let Some(tensors) = rest.strip_prefix(": ") {
            return (name.to_owned(), self.tensors(name, tensors));
        }
        match rest.strip_prefix('=') {
            Some(value) => (name.to_owned(), self.value(value)),
            None => (String::new(), self.value(text)),
        }
    }

    /// A tensor, a list of tensors some of which may be missing, or the name of a tensor before.
    fn tensors(&mut self, name: &str, text: &str) -> Arg {
        if let Some((_, id)) = self.tensors.iter().find(|(earlier, _)| earlier == text) {
            return Arg::Tensor(*id);
        }
        let (text, is_parameter) = match text.strip_prefix("param ") {
            Some(text) => (text, true),
            None => (text, false),
        };
        let Some(items) = list(text) else { return Arg::Tensor(self.input(name, text, is_parameter)) };
        let ids: Vec<Option<ValueId>> = (items.iter().enumerate())
            .map(|(i, item)| {
                (*item != "None").then(|| self.input(&format!("{name}_{i}"), item, is_parameter))
            })
            .collect();
        match ids.iter().copied().collect() {
            Some(all) => Arg::Tensors(all),
            None => Arg::OptionalTensors(ids),
        }
    }

    fn input(&mut self, name: &str, text: &str, is_parameter: bool) -> ValueId {
        let meta = tensor_type(text);
        self.known.extend(meta.sizes.iter().filter_map(|size| match size {
            Dim::Symbolic(expression) => expression.as_symbol().cloned(),
            Dim::Static(_) => None,
        }));
        let name = if name.is_empty() { "input" } else { name };
        let id = match is_parameter {
            true => self.program.parameter(name, meta),
            false => self.program.input(name, meta),
        };
        self.tensors.push((name.to_owned(), id));
        id
    }

    fn value(&mut self, text: &str) -> Arg {
        if let Some(items) = list(text) {
            let values = items.into_iter().map(|item| self.value(item)).collect();
            return list_of(values, text);
        }
        if let Some(dtype) = dtype_named(text) {
            return Arg::DType(dtype);
        }
        match text {
            "None" => Arg::None,
            "True" => Arg::Bool(true),
            "False" => Arg::Bool(false),
            "contiguous_format" => Arg::MemoryFormat(MemoryFormat::Contiguous),
            "channels_last" => Arg::MemoryFormat(MemoryFormat::ChannelsLast),
            "channels_last_3d" => Arg::MemoryFormat(MemoryFormat::ChannelsLast3d),
            "preserve_format" => Arg::MemoryFormat(MemoryFormat::Preserve),
            "strided" => Arg::Layout(Layout::Strided),
            "cpu" => Arg::Device(Box::new(Device { kind: "cpu".into(), index: None })),
            _ => self.number_or_string(text),
        }
    }

    fn number_or_string(&mut self, text: &str) -> Arg {
        if let Some(string) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
            return Arg::Str(string.into());
        }
        if let Some(complex) = text.strip_suffix('j') {
            let at = complex.rfind(['+', '-']).unwrap_or_default();
            let part = |text: &str| text.parse().unwrap_or_else(|_| panic!("a bad complex number: {text}"));
            return Arg::Complex { real: part(&complex[..at]), imag: part(&complex[at..]) };
        }
        match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(int), _) => Arg::Int(int),
            (_, Ok(float)) => Arg::Float(float),
            _ => {
                let expression = expression(text);
                expression.for_each_symbol(&mut |symbol| {
                    self.wanted.insert(symbol.clone());
                });
                self.number(expression)
            }
        }
    }

    /// A number that the graph computes.
    fn number(&mut self, expression: SymExpr) -> Arg {
        match kind_of(&expression) {
            DType::Bool => Arg::SymBool(self.program.symbolic(ValueKind::SymBool(expression))),
            DType::F64 => Arg::SymFloat(self.program.symbolic(ValueKind::SymFloat(expression))),
            _ => Arg::SymInt(self.program.symbolic(ValueKind::SymInt(expression))),
        }
    }

    /// A number that no tensor tells is an input of its own.
    fn missing_symbols(&mut self) {
        for symbol in self.wanted.difference(&self.known) {
            self.program.number_input(symbol);
        }
    }

    fn result(&mut self, text: &str) -> Arg {
        if text == "None" {
            return Arg::None;
        }
        if let Some(items) = list(text) {
            return Arg::Tensors(
                items.into_iter().map(|item| self.program.result(tensor_type(item))).collect(),
            );
        }
        if text.ends_with(']') {
            return Arg::Tensor(self.program.result(tensor_type(text)));
        }
        self.number(expression(text))
    }
}

/// `f32[2, s0]`.
fn tensor_type(text: &str) -> TensorMeta {
    let at = text.find('[').unwrap_or_else(|| panic!("a tensor without sizes: {text}"));
    let dtype = dtype_named(&text[..at]).unwrap_or_else(|| panic!("a tensor of an unknown type: {text}"));
    let sizes = list(&text[at..]).unwrap_or_else(|| panic!("a tensor without sizes: {text}"));
    let size = |size: &&str| match expression(size) {
        SymExpr::Int(value) => Dim::Static(value),
        symbolic => Dim::Symbolic(symbolic),
    };
    contiguous(dtype, sizes.iter().map(size).collect())
}

/// `f32`, `bf16`, `i64`, `f8e4m3fn`, `bool`.
fn dtype_named(text: &str) -> Option<DType> {
    dtype::ALL.into_iter().find(|dtype| short_name(*dtype) == text)
}

/// `f32` for `float32`.
pub(super) fn short_name(dtype: DType) -> String {
    format!("{dtype:?}").to_lowercase()
}

fn expression(text: &str) -> SymExpr {
    symbolic_expression(text).unwrap_or_else(|reason| panic!("{text}: {reason}"))
}

/// `I64`, `F64` or `Bool`. Symbols for floats are called `f0`, `f1`, …
fn kind_of(expression: &SymExpr) -> DType {
    match expression {
        SymExpr::Bool(_) => DType::Bool,
        SymExpr::Float(_) => DType::F64,
        SymExpr::Int(_) => DType::I64,
        SymExpr::Symbol(name) if name.starts_with('f') => DType::F64,
        SymExpr::Symbol(_) => DType::I64,
        SymExpr::Call(op, arguments) => match op {
            SymOp::Eq | SymOp::Ne | SymOp::Lt | SymOp::Le | SymOp::Gt | SymOp::Ge => DType::Bool,
            SymOp::And | SymOp::Or | SymOp::Not => DType::Bool,
            SymOp::TrueDiv | SymOp::Sqrt | SymOp::ToFloat => DType::F64,
            SymOp::Trunc | SymOp::Floor | SymOp::Ceil | SymOp::Round => DType::I64,
            _ if arguments.iter().any(|argument| kind_of(argument) == DType::F64) => DType::F64,
            _ => DType::I64,
        },
    }
}

/// The items of `[a, b]`.
fn list(text: &str) -> Option<Vec<&str>> {
    text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).map(split)
}

/// Splits at commas outside brackets and quotes.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut quoted) = (0, false);
    let items = text.split(move |c| {
        match c {
            '\'' => quoted = !quoted,
            '(' | '[' if !quoted => depth += 1,
            ')' | ']' if !quoted => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0 && !quoted
    });
    items.map(str::trim).filter(|item| !item.is_empty()).collect()
}

/// The kind of list that `values` make, as archives have it. An empty list has no kind of its own.
fn list_of(values: Vec<Arg>, text: &str) -> Arg {
    macro_rules! all {
        ($kind:ident) => {
            (values.iter())
                .map(|value| if let Arg::$kind(value) = value { Some(value.clone()) } else { None })
                .collect::<Option<Vec<_>>>()
        };
    }
    let number = |value: &Arg| match value {
        Arg::Int(value) => Some(*value as f64),
        Arg::Float(value) => Some(*value),
        _ => None,
    };
    let size = |value: &Arg| match value {
        Arg::Int(value) => Some(SymOr::Const(*value)),
        Arg::SymInt(id) => Some(SymOr::Value(*id)),
        _ => None,
    };
    if values.is_empty() {
        return Arg::Tensors(Vec::new());
    }
    (all!(Int).map(Arg::Ints))
        .or_else(|| values.iter().map(number).collect::<Option<Vec<_>>>().map(Arg::Floats))
        .or_else(|| values.iter().map(size).collect::<Option<Vec<_>>>().map(Arg::SymInts))
        .or_else(|| all!(Bool).map(Arg::Bools))
        .or_else(|| all!(Str).map(Arg::Strs))
        .or_else(|| all!(Ints).map(Arg::IntLists))
        .unwrap_or_else(|| panic!("a list of several kinds: {text}"))
}
