//! Nodes as they are read, before the tables of their graph are: values are known by the numbers of their names.
//!
//! Only what most nodes have is understood here. For all else the answer is `None`, and the node is left to `graph`.

use modelexport_graph::aten::{Arg, Device, NamedArg, Node, SymOr, ValueId};
use modelexport_graph::hash::HashMap;
use modelexport_graph::{Method, Name, ScopeId};

use super::args::{plain_floats, plain_or, plain_target};
use super::argument::{Argument, OptionalTensor, SymIntArgument};
use super::codes;
use super::error::Place;
use super::name_ids::NameIds;
use super::schema::{self, KEYWORD, Named};
use super::values::Shared;

/// What nodes say in the same words.
#[derive(Default)]
pub(super) struct Words {
    /// Names of values and nodes.
    pub names: NameIds,
    /// The name that was asked for last, which the next node often reads.
    recent: Option<(u32, Name)>,
    pub stacks: Texts,
    /// JSON of stack traces.
    pub traces: Texts,
    shared: Shared,
}

impl Words {
    pub fn name(&mut self, text: &str) -> u32 {
        if let Some((id, name)) = &self.recent
            && **name == *text
        {
            return *id;
        }
        self.names.id(text, || text.into())
    }

    /// The number of a name that is likely to be asked for.
    fn expected(&mut self, text: &str) -> (u32, Name) {
        let id = self.name(text);
        let name = self.names.name(id).cloned().unwrap_or_default();
        self.recent = Some((id, name.clone()));
        (id, name)
    }
}

/// Texts as numbers, for those that come many times in a row.
#[derive(Default)]
pub(super) struct Texts {
    ids: HashMap<Box<str>, u32>,
    list: Vec<Box<str>>,
    last: u32,
}

impl Texts {
    pub fn id(&mut self, text: &str) -> u32 {
        if self.list.get(self.last as usize).is_some_and(|last| **last == *text) {
            return self.last;
        }
        self.last = match self.ids.get(text) {
            Some(id) => *id,
            None => {
                let id = self.list.len() as u32;
                self.ids.insert(text.into(), id);
                self.list.push(text.into());
                id
            }
        };
        self.last
    }

    pub fn last(&self) -> Option<(&str, u32)> {
        Some((self.list.get(self.last as usize)?, self.last))
    }

    pub fn list(&self) -> &[Box<str>] {
        &self.list
    }
}

/// A node whose values are numbers of names, whose scope is the number of a stack and whose trace that of a text; and
/// the number of its name.
pub(super) fn read(raw: schema::Node<'_>, name: &str, words: &mut Words) -> Option<(Node, u32)> {
    // Before the node's own name is the recent one.
    let mut args = Vec::with_capacity(raw.inputs.len());
    for input in raw.inputs {
        let arg = argument(input.arg, words)?;
        let is_keyword = input.kind == Some(KEYWORD);
        args.push(NamedArg { name: words.shared.name(&input.name), arg, is_keyword });
    }
    let (id, name) = words.expected(name);
    let mut outputs = Vec::with_capacity(raw.outputs.len());
    for output in raw.outputs {
        outputs.push(result(output, words)?);
    }
    let target = plain_target(&raw.target, &mut words.shared);
    let scope = raw.metadata.nn_module_stack.map(|text| ScopeId(words.stacks.id(&text)));
    let trace = raw.metadata.stack_trace.map(|text| words.traces.id(text.get()));
    Some((Node { name, target, args, outputs, scope, method: Method::Direct, trace }, id))
}

fn tensor(tensor: &Named<'_>, words: &mut Words) -> ValueId {
    ValueId(words.name(&tensor.name))
}

fn optional(value: &OptionalTensor<'_>, words: &mut Words) -> Option<ValueId> {
    match value {
        OptionalTensor::Tensor(value) => Some(tensor(value, words)),
        OptionalTensor::None(_) => None,
    }
}

fn result(argument: Argument<'_>, words: &mut Words) -> Option<Arg> {
    Some(match argument {
        Argument::None | Argument::OptionalTensor(OptionalTensor::None(_)) => Arg::None,
        Argument::Tensor(value) | Argument::OptionalTensor(OptionalTensor::Tensor(value)) => {
            Arg::Tensor(tensor(&value, words))
        }
        Argument::Tensors(list) => Arg::Tensors(list.iter().map(|value| tensor(value, words)).collect()),
        Argument::SymInt(SymIntArgument::Name(name)) => Arg::SymInt(ValueId(words.name(&name))),
        _ => return None,
    })
}

fn argument(argument: Argument<'_>, words: &mut Words) -> Option<Arg> {
    // Whoever finds fault with a node looks for the place.
    let place = || Place::GraphInput { index: 0 };
    Some(match argument {
        Argument::None | Argument::OptionalTensor(OptionalTensor::None(_)) => Arg::None,
        Argument::Tensor(value) | Argument::OptionalTensor(OptionalTensor::Tensor(value)) => {
            Arg::Tensor(tensor(&value, words))
        }
        Argument::Tensors(list) => Arg::Tensors(list.iter().map(|value| tensor(value, words)).collect()),
        Argument::OptionalTensors(list) => {
            Arg::OptionalTensors(list.iter().map(|value| optional(value, words)).collect())
        }
        Argument::Int(value) | Argument::SymInt(SymIntArgument::Int(value)) => Arg::Int(value),
        Argument::Ints(values) => Arg::Ints(values),
        Argument::IntLists(lists) => Arg::IntLists(lists),
        Argument::Float(value) => Arg::Float(value.0),
        Argument::Floats(values) => Arg::Floats(plain_floats(values)),
        Argument::FloatLists(lists) => Arg::FloatLists(lists.into_iter().map(plain_floats).collect()),
        Argument::Bool(value) => Arg::Bool(value),
        Argument::Bools(values) => Arg::Bools(values),
        Argument::String(text) => Arg::Str(words.shared.name(&text)),
        Argument::Strings(texts) => Arg::Strs(texts.iter().map(|text| words.shared.name(text)).collect()),
        Argument::Complex(value) => Arg::Complex { real: value.real.0, imag: value.imag.0 },
        Argument::SymInt(SymIntArgument::Name(name)) => Arg::SymInt(ValueId(words.name(&name))),
        Argument::SymInts(values) => {
            let number = |value| match value {
                SymIntArgument::Int(value) => SymOr::Const(value),
                SymIntArgument::Name(name) => SymOr::Value(ValueId(words.name(&name))),
            };
            plain_or(values.into_iter().map(number).collect(), Arg::Ints, Arg::SymInts)
        }
        Argument::ScalarType(code) => Arg::DType(codes::dtype(code, place).ok()?),
        Argument::MemoryFormat(code) => Arg::MemoryFormat(codes::memory_format(code, place).ok()?),
        Argument::Layout(code) => Arg::Layout(codes::layout(code, place).ok()?),
        Argument::Device(device) => {
            let kind = words.shared.name(&device.r#type);
            Arg::Device(Box::new(Device { kind, index: device.index }))
        }
        _ => return None,
    })
}

/// Stands for a node that is not read here.
pub(super) fn unknown() -> Node {
    Node {
        name: Name::default(),
        target: Name::default(),
        args: Vec::new(),
        outputs: Vec::new(),
        scope: None,
        method: Method::Direct,
        trace: None,
    }
}
