//! From bytes to a program: each byte is a choice.

use std::collections::HashMap;
use std::sync::OnceLock;

use modelexport_graph::aten::{
    Arg, Graph, InputSpec, Node, OutputSpec, Program, Range, Signature, SymOr, TensorMeta, Value, ValueId,
    ValueKind,
};
use modelexport_graph::{
    Dim, Method, ModuleTree, Name, ScopeId, Scopes, SourceId, Span, StridedView, SymExpr, element_count,
    row_major_strides,
};

use crate::captured_call;

const CAPTURED: &str = include_str!("../../../../crates/lower/tests/data/captured_calls.txt");

/// Bytes that decide; zeros when they are used up.
pub struct Choices<'a>(std::slice::Iter<'a, u8>);

impl<'a> Choices<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Choices(bytes.iter())
    }

    pub fn next(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    fn below(&mut self, end: usize) -> usize {
        (usize::from(self.next()) << 8 | usize::from(self.next())) % end.max(1)
    }

    fn are_left(&self) -> bool {
        self.0.len() > 0
    }
}

/// Type and sizes of a tensor, as text.
fn type_of(meta: &TensorMeta) -> String {
    let sizes: Vec<String> = meta.sizes.iter().map(|size| size.to_expr().to_string()).collect();
    format!("{:?}[{}]", meta.dtype, sizes.join(","))
}

struct Calls {
    all: Vec<Program>,
    /// Calls by the type of a tensor that they read.
    readers: HashMap<String, Vec<usize>>,
}

fn calls() -> &'static Calls {
    static CALLS: OnceLock<Calls> = OnceLock::new();
    CALLS.get_or_init(|| {
        let all: Vec<Program> = CAPTURED.lines().map(captured_call::program).collect();
        let mut readers: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, call) in all.iter().enumerate() {
            for input in &call.graph.inputs {
                let Arg::Tensor(id) = input else { continue };
                let list =
                    readers.entry(call.graph.tensor(*id).map(type_of).unwrap_or_default()).or_default();
                if list.last() != Some(&index) {
                    list.push(index);
                }
            }
        }
        Calls { all, readers }
    })
}

/// A program of as many calls as there are choices for.
pub fn make(choices: &mut Choices<'_>, weights: SourceId) -> Program {
    let mut maker = Maker::new(weights);
    loop {
        let calls = calls();
        let read = maker.results.get(choices.below(maker.results.len()));
        let readers = read.and_then(|id| calls.readers.get(&type_of(maker.program.graph.tensor(*id)?)));
        let any = choices.below(calls.all.len());
        let index = match readers {
            Some(readers) if !any.is_multiple_of(4) => readers[choices.below(readers.len())],
            _ => any,
        };
        maker.add(&calls.all[index], choices);
        if !choices.are_left() {
            return maker.finish();
        }
    }
}

struct Maker {
    program: Program,
    weights: SourceId,
    scope: ScopeId,
    /// Tensors that inputs and nodes give.
    results: Vec<ValueId>,
    /// Results of nodes that no other reads yet.
    unread: Vec<Arg>,
    /// Numbers among the inputs, by symbol.
    numbers: HashMap<Name, ValueId>,
    count: usize,
}

impl Maker {
    fn new(weights: SourceId) -> Self {
        let mut modules = ModuleTree::new();
        if let Some(root) = modules.get_mut(modelexport_graph::ModuleId::ROOT) {
            (root.class, root.calls, root.order) = ("models.Model".into(), 1, Some(0));
        }
        let program = Program {
            graph: Graph::default(),
            signature: Signature::default(),
            ranges: Vec::new(),
            weights: Vec::new(),
            modules,
            scopes: Scopes::new(),
            traces: Vec::new(),
            torch_version: "2.15.0".into(),
            schema_version: (8, 20),
        };
        Maker {
            program,
            weights,
            scope: Scopes::ROOT,
            results: Vec::new(),
            unread: Vec::new(),
            numbers: HashMap::new(),
            count: 0,
        }
    }

    /// Appends the call, which reads values that are there instead of inputs of its own where their types agree.
    fn add(&mut self, call: &Program, choices: &mut Choices<'_>) {
        self.count += 1;
        self.enter_module(choices);
        let mut places: Vec<Option<ValueId>> = vec![None; call.graph.values.len()];
        for (input, spec) in call.graph.inputs.iter().zip(&call.signature.inputs) {
            let (Arg::Tensor(id) | Arg::SymInt(id)) = input else { continue };
            let Some(value) = call.graph.value(*id) else { continue };
            let value = self.renamed(value);
            places[id.0 as usize] = Some(match (&value.kind, spec) {
                (ValueKind::SymInt(SymExpr::Symbol(symbol)), _) => self.number(symbol.clone()),
                (_, InputSpec::Parameter { weight }) => {
                    self.parameter(value, &call.weights[*weight as usize].name)
                }
                _ => self.found(&value, choices).unwrap_or_else(|| self.input(value)),
            });
        }
        for (place, value) in places.iter_mut().zip(&call.graph.values) {
            if place.is_none() {
                let value = self.renamed(value);
                *place = Some(self.program.graph.add_value(value.name, value.kind));
            }
        }
        let place = |id: ValueId| places[id.0 as usize].unwrap_or(id);
        for (symbol, range) in &call.ranges {
            let symbol = renamed_symbol(symbol, self.count);
            if !self.program.ranges.iter().any(|(known, _)| *known == symbol) {
                self.program.ranges.push((symbol, Range { ..*range }));
            }
        }
        for node in &call.graph.nodes {
            let mut node = node.clone();
            node.args.iter_mut().for_each(|arg| replace(&mut arg.arg, &place));
            node.outputs.iter_mut().for_each(|output| replace(output, &place));
            let read = |arg: &Arg| matches!(arg, Arg::Tensor(id) if node.args.iter().any(|arg| reads(&arg.arg, *id)));
            self.unread.retain(|unread| !read(unread));
            for output in &node.outputs {
                output.for_each_tensor(&mut |id| self.results.push(id));
            }
            let name = format!("{}_{}", node.name, self.count).into();
            let method = Method::Direct;
            self.program.graph.nodes.push(Node { name, scope: Some(self.scope), method, ..node });
        }
        self.unread.extend(call.graph.outputs.iter().map(|output| {
            let mut output = output.clone();
            replace(&mut output, &place);
            output
        }));
    }

    /// Now and then goes on in another module.
    fn enter_module(&mut self, choices: &mut Choices<'_>) {
        let choice = choices.next();
        if !choice.is_multiple_of(4) {
            return;
        }
        let path = ["block", "block.0", "block.1", "block.1.inner", "head"][usize::from(choice / 4) % 5];
        let id = self.program.modules.insert(path);
        let order = self.count as u32;
        let Some(module) = self.program.modules.get_mut(id) else { return };
        let number = module.calls;
        (module.class, module.calls) =
            (format!("models.{}", path.replace(['.', '0', '1'], "")).into(), number + 1);
        module.order.get_or_insert(order);
        self.scope = self.program.scopes.child(Scopes::ROOT, id, number);
    }

    /// A value of its own name, with symbols that come from data made this call's own.
    fn renamed(&self, value: &Value) -> Value {
        let rename = |expression: &SymExpr| renamed_expression(expression, self.count);
        let kind = match &value.kind {
            ValueKind::Tensor(meta) => {
                let dims = |dims: &[Dim]| dims.iter().map(|dim| renamed_dim(dim, self.count)).collect();
                let (sizes, strides) = (dims(&meta.sizes), dims(&meta.strides));
                ValueKind::Tensor(TensorMeta { sizes, strides, ..(**meta).clone() }.into())
            }
            ValueKind::SymInt(expression) => ValueKind::SymInt(rename(expression)),
            ValueKind::SymFloat(expression) => ValueKind::SymFloat(rename(expression)),
            ValueKind::SymBool(expression) => ValueKind::SymBool(rename(expression)),
            other => other.clone(),
        };
        Value { name: format!("{}_{}", value.name, self.program.graph.values.len()).into(), kind }
    }

    /// A value of the same type, if there is one and the choice falls on it.
    fn found(&self, value: &Value, choices: &mut Choices<'_>) -> Option<ValueId> {
        let ValueKind::Tensor(wanted) = &value.kind else { return None };
        let graph = &self.program.graph;
        let is_same = |id: &&ValueId| graph.tensor(**id).is_some_and(|meta| **wanted == *meta);
        let same: Vec<&ValueId> = self.results.iter().rev().filter(is_same).collect();
        let choice = usize::from(choices.next());
        if choice % 8 == 7 { None } else { same.get(choice / 8 % same.len().max(1)).map(|id| **id) }
    }

    fn input(&mut self, value: Value) -> ValueId {
        let name = value.name.clone();
        let id = self.program.graph.add_value(value.name, value.kind);
        self.program.graph.inputs.push(Arg::Tensor(id));
        self.program.signature.inputs.push(InputSpec::User { name });
        self.results.push(id);
        id
    }

    fn number(&mut self, symbol: Name) -> ValueId {
        if let Some(id) = self.numbers.get(&symbol) {
            return *id;
        }
        let id =
            self.program.graph.add_value(symbol.clone(), ValueKind::SymInt(SymExpr::Symbol(symbol.clone())));
        self.program.graph.inputs.push(Arg::SymInt(id));
        self.program.signature.inputs.push(InputSpec::User { name: symbol.clone() });
        self.numbers.insert(symbol, id);
        id
    }

    fn parameter(&mut self, value: Value, name: &Name) -> ValueId {
        if let ValueKind::Tensor(meta) = &value.kind {
            let sizes: Vec<u64> =
                meta.sizes.iter().map(|size| size.as_static().unwrap_or_default() as u64).collect();
            let length =
                element_count(&sizes).and_then(|count| meta.dtype.byte_len(count)).unwrap_or_default();
            let span = Span { source: self.weights, offset: 0, length };
            let strides = row_major_strides(&sizes);
            let data =
                (length <= 16_384).then(|| StridedView { span, offset: 0, sizes: sizes.clone(), strides });
            let weight = self.program.weights.len() as u32;
            self.program.weights.push(modelexport_graph::aten::Weight {
                name: format!("{name}_{weight}").into(),
                kind: modelexport_graph::aten::WeightKind::Parameter,
                dtype: meta.dtype,
                sizes,
                data,
            });
            self.program.signature.inputs.push(InputSpec::Parameter { weight });
        }
        let id = self.program.graph.add_value(value.name, value.kind);
        self.program.graph.inputs.push(Arg::Tensor(id));
        id
    }

    /// What nobody reads is what the model returns.
    fn finish(mut self) -> Program {
        self.program.signature.outputs =
            self.unread.iter().map(|_| OutputSpec::User { name: None }).collect();
        self.program.graph.outputs = self.unread;
        self.program
    }
}

fn reads(arg: &Arg, id: ValueId) -> bool {
    let mut found = false;
    arg.for_each_tensor(&mut |tensor| found |= tensor == id);
    found
}

fn replace(arg: &mut Arg, place: &impl Fn(ValueId) -> ValueId) {
    fn numbers<T>(values: &mut [SymOr<T>], place: &impl Fn(ValueId) -> ValueId) {
        for value in values {
            if let SymOr::Value(id) = value {
                *id = place(*id);
            }
        }
    }
    match arg {
        Arg::Tensor(id) | Arg::SymInt(id) | Arg::SymFloat(id) | Arg::SymBool(id) => *id = place(*id),
        Arg::Tensors(ids) => ids.iter_mut().for_each(|id| *id = place(*id)),
        Arg::OptionalTensors(ids) => ids.iter_mut().flatten().for_each(|id| *id = place(*id)),
        Arg::SymInts(values) => numbers(values, place),
        Arg::SymFloats(values) => numbers(values, place),
        Arg::SymBools(values) => numbers(values, place),
        _ => {}
    }
}

fn renamed_dim(dim: &Dim, call: usize) -> Dim {
    match dim {
        Dim::Static(size) => Dim::Static(*size),
        Dim::Symbolic(expression) => Dim::Symbolic(renamed_expression(expression, call)),
    }
}

fn renamed_expression(expression: &SymExpr, call: usize) -> SymExpr {
    match expression {
        SymExpr::Symbol(symbol) => SymExpr::Symbol(renamed_symbol(symbol, call)),
        SymExpr::Call(op, arguments) => {
            SymExpr::Call(*op, arguments.iter().map(|argument| renamed_expression(argument, call)).collect())
        }
        other => other.clone(),
    }
}

/// Sizes of inputs (`s0`) are shared by all calls; a size that comes from data (`u0`) is this call's own.
fn renamed_symbol(symbol: &Name, call: usize) -> Name {
    match symbol.strip_prefix('u').and_then(|number| number.parse::<usize>().ok()) {
        Some(number) => format!("u{}", 100 * call + number).into(),
        None => symbol.clone(),
    }
}
