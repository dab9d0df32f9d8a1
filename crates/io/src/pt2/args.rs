//! Arguments and results of nodes, with names resolved to ids.

use modelexport_graph::aten::{Arg, Device, Graph, SymOr, ValueId, ValueKind};
use modelexport_graph::{Name, SymExpr};

use super::argument::{Argument, OptionalTensor, SymBoolArgument, SymFloatArgument, SymIntArgument};
use super::codes;
use super::error::{Problem, ProgramLocation};
use super::json::Float;
use super::schema::{self, Named};
use super::values::{Interner, Sort, Values};

/// One graph under conversion.
pub(super) struct Frame<'p> {
    pub graph: Graph,
    pub values: Values,
    pub shared: &'p mut Interner,
}

impl Frame<'_> {
    /// A result of a node or an input of the graph: every value in it is defined here.
    pub fn result(
        &mut self,
        argument: Argument<'_>,
        place: impl Fn() -> ProgramLocation,
    ) -> Result<Arg, Problem> {
        Ok(match argument {
            Argument::None => Arg::None,
            Argument::Tensor(tensor) => Arg::Tensor(self.define(&tensor.name, Sort::Tensor, place)?),
            Argument::Tensors(tensors) => Arg::Tensors(
                tensors
                    .iter()
                    .map(|tensor| self.define(&tensor.name, Sort::Tensor, &place))
                    .collect::<Result<_, _>>()?,
            ),
            Argument::OptionalTensor(OptionalTensor::None(_)) => Arg::None,
            Argument::OptionalTensor(OptionalTensor::Tensor(tensor)) => {
                Arg::Tensor(self.define(&tensor.name, Sort::Tensor, place)?)
            }
            Argument::OptionalTensors(tensors) => Arg::OptionalTensors(
                tensors
                    .iter()
                    .map(|tensor| match tensor {
                        OptionalTensor::None(_) => Ok(None),
                        OptionalTensor::Tensor(tensor) => {
                            self.define(&tensor.name, Sort::Tensor, &place).map(Some)
                        }
                    })
                    .collect::<Result<_, _>>()?,
            ),
            Argument::NestedTensors(lists) => {
                let mut nested = Vec::with_capacity(lists.len());
                for list in lists {
                    let ids = list.iter().map(|tensor| self.define(&tensor.name, Sort::Tensor, &place));
                    nested.push(ids.collect::<Result<_, _>>()?);
                }
                Arg::NestedTensors(nested)
            }
            Argument::SymInt(SymIntArgument::Name(name)) => {
                Arg::SymInt(self.define(&name, Sort::SymInt, place)?)
            }
            Argument::SymFloat(SymFloatArgument::Name(name)) => {
                Arg::SymFloat(self.define(&name, Sort::SymFloat, place)?)
            }
            Argument::SymBool(SymBoolArgument::Name(name)) => {
                Arg::SymBool(self.define(&name, Sort::SymBool, place)?)
            }
            Argument::CustomObject(object) => {
                Arg::CustomObject(self.values.define_object(&mut self.graph, self.shared, &object))
            }
            Argument::SymInt(SymIntArgument::Int(value)) | Argument::Int(value) => Arg::Int(value),
            Argument::SymFloat(SymFloatArgument::Float(value)) | Argument::Float(value) => {
                Arg::Float(value.0)
            }
            Argument::SymBool(SymBoolArgument::Bool(value)) | Argument::Bool(value) => Arg::Bool(value),
            Argument::String(text) => Arg::Str(self.shared.name(&text)),
            Argument::Unknown(kind) => {
                return Err(Problem::UnknownArgumentKind { place: place(), kind: kind.to_string() });
            }
            other => return Err(Problem::BadResult { place: place(), kind: kind_name(&other) }),
        })
    }

    fn define(
        &mut self,
        name: &str,
        sort: Sort,
        place: impl FnOnce() -> ProgramLocation,
    ) -> Result<ValueId, Problem> {
        self.values.define(&mut self.graph, self.shared, name, sort, place)
    }

    /// An argument of a node: every value in it was defined before. Subgraphs are read by `subgraph`.
    pub fn argument<'a>(
        &mut self,
        argument: Argument<'a>,
        place: &dyn Fn() -> ProgramLocation,
        subgraph: &mut dyn FnMut(&mut Interner, schema::GraphArgument<'a>) -> Result<Arg, Problem>,
    ) -> Result<Arg, Problem> {
        Ok(match argument {
            Argument::None => Arg::None,
            Argument::Tensor(tensor) => Arg::Tensor(self.tensor(&tensor, place)?),
            Argument::Tensors(tensors) => Arg::Tensors(self.tensors(&tensors, place)?),
            Argument::OptionalTensor(OptionalTensor::None(_)) => Arg::None,
            Argument::OptionalTensor(OptionalTensor::Tensor(tensor)) => {
                Arg::Tensor(self.tensor(&tensor, place)?)
            }
            Argument::OptionalTensors(tensors) => Arg::OptionalTensors(
                tensors
                    .iter()
                    .map(|tensor| match tensor {
                        OptionalTensor::None(_) => Ok(None),
                        OptionalTensor::Tensor(tensor) => self.tensor(tensor, place).map(Some),
                    })
                    .collect::<Result<_, _>>()?,
            ),
            Argument::NestedTensors(lists) => Arg::NestedTensors(
                lists.iter().map(|list| self.tensors(list, place)).collect::<Result<_, _>>()?,
            ),
            Argument::Int(value) => Arg::Int(value),
            Argument::Ints(values) => Arg::Ints(values),
            Argument::IntLists(lists) => Arg::IntLists(lists),
            Argument::Float(value) => Arg::Float(value.0),
            Argument::Floats(values) => Arg::Floats(plain_floats(values)),
            Argument::FloatLists(lists) => Arg::FloatLists(lists.into_iter().map(plain_floats).collect()),
            Argument::Bool(value) => Arg::Bool(value),
            Argument::Bools(values) => Arg::Bools(values),
            Argument::String(text) => Arg::Str(self.shared.name(&text)),
            Argument::Strings(texts) => Arg::Strs(texts.iter().map(|text| self.shared.name(text)).collect()),
            Argument::Complex(value) => Arg::Complex { real: value.real.0, imag: value.imag.0 },
            Argument::SymInt(value) => match self.sym_int(value, place)? {
                SymOr::Value(id) => Arg::SymInt(id),
                SymOr::Const(value) => Arg::Int(value),
            },
            Argument::SymInts(values) => {
                let values = values.into_iter().map(|value| self.sym_int(value, place));
                plain_or(values.collect::<Result<_, _>>()?, Arg::Ints, Arg::SymInts)
            }
            Argument::SymFloat(value) => match self.sym_float(value, place)? {
                SymOr::Value(id) => Arg::SymFloat(id),
                SymOr::Const(value) => Arg::Float(value),
            },
            Argument::SymFloats(values) => {
                let values = values.into_iter().map(|value| self.sym_float(value, place));
                plain_or(values.collect::<Result<_, _>>()?, Arg::Floats, Arg::SymFloats)
            }
            Argument::SymBool(value) => match self.sym_bool(value, place)? {
                SymOr::Value(id) => Arg::SymBool(id),
                SymOr::Const(value) => Arg::Bool(value),
            },
            Argument::SymBools(values) => {
                let values = values.into_iter().map(|value| self.sym_bool(value, place));
                plain_or(values.collect::<Result<_, _>>()?, Arg::Bools, Arg::SymBools)
            }
            Argument::ScalarType(code) => Arg::DType(codes::dtype(code, place)?),
            Argument::MemoryFormat(code) => Arg::MemoryFormat(codes::memory_format(code, place)?),
            Argument::Layout(code) => Arg::Layout(codes::layout(code, place)?),
            Argument::Device(device) => {
                let kind = self.shared.name(&device.r#type);
                Arg::Device(Box::new(Device { kind, index: device.index }))
            }
            Argument::Graph(graph) => subgraph(self.shared, *graph)?,
            Argument::CustomObject(object) => {
                Arg::CustomObject(self.values.define_object(&mut self.graph, self.shared, &object))
            }
            Argument::Operator(target) => Arg::Operator(plain_target(&target, self.shared)),
            Argument::Dict(pairs) => {
                let mut dict = Vec::with_capacity(pairs.0.len());
                for (key, argument) in pairs.0 {
                    dict.push((self.shared.name(&key), self.argument(argument, place, subgraph)?));
                }
                Arg::Dict(dict)
            }
            Argument::Unknown(kind) => {
                return Err(Problem::UnknownArgumentKind { place: place(), kind: kind.to_string() });
            }
        })
    }

    fn tensor(&self, tensor: &Named<'_>, place: &dyn Fn() -> ProgramLocation) -> Result<ValueId, Problem> {
        self.values.resolve(&self.graph, &tensor.name, Sort::Tensor, place)
    }

    /// PyTorch writes operands of higher-order operators as a list of tensors also if there are symbolic numbers
    /// among them.
    fn tensors(
        &self,
        tensors: &[Named<'_>],
        place: &dyn Fn() -> ProgramLocation,
    ) -> Result<Vec<ValueId>, Problem> {
        let operand = |named: &Named<'_>| {
            self.tensor(named, place).or_else(|problem| {
                [Sort::SymInt, Sort::SymFloat, Sort::SymBool]
                    .into_iter()
                    .find_map(|sort| self.values.resolve(&self.graph, &named.name, sort, place).ok())
                    .ok_or(problem)
            })
        };
        tensors.iter().map(operand).collect()
    }

    fn sym_int(
        &self,
        value: SymIntArgument<'_>,
        place: &dyn Fn() -> ProgramLocation,
    ) -> Result<SymOr<i64>, Problem> {
        match value {
            SymIntArgument::Int(value) => Ok(SymOr::Const(value)),
            SymIntArgument::Name(name) => {
                let id = self.values.resolve(&self.graph, &name, Sort::SymInt, place)?;
                Ok(match self.graph.value(id).map(|value| &value.kind) {
                    Some(ValueKind::SymInt(SymExpr::Int(value))) => SymOr::Const(*value),
                    _ => SymOr::Value(id),
                })
            }
        }
    }

    fn sym_float(
        &self,
        value: SymFloatArgument<'_>,
        place: &dyn Fn() -> ProgramLocation,
    ) -> Result<SymOr<f64>, Problem> {
        match value {
            SymFloatArgument::Float(value) => Ok(SymOr::Const(value.0)),
            SymFloatArgument::Name(name) => {
                let id = self.values.resolve(&self.graph, &name, Sort::SymFloat, place)?;
                Ok(match self.graph.value(id).map(|value| &value.kind) {
                    Some(ValueKind::SymFloat(SymExpr::Float(bits))) => SymOr::Const(f64::from_bits(*bits)),
                    _ => SymOr::Value(id),
                })
            }
        }
    }

    fn sym_bool(
        &self,
        value: SymBoolArgument<'_>,
        place: &dyn Fn() -> ProgramLocation,
    ) -> Result<SymOr<bool>, Problem> {
        match value {
            SymBoolArgument::Bool(value) => Ok(SymOr::Const(value)),
            SymBoolArgument::Name(name) => {
                let id = self.values.resolve(&self.graph, &name, Sort::SymBool, place)?;
                Ok(match self.graph.value(id).map(|value| &value.kind) {
                    Some(ValueKind::SymBool(SymExpr::Bool(value))) => SymOr::Const(*value),
                    _ => SymOr::Value(id),
                })
            }
        }
    }
}

/// `torch.ops.aten.linear.default` is `aten.linear.default`, `torch.ops.higher_order.cond` is `higher_order.cond`.
/// Functions that are no operators keep their module: `_operator.mul`, `math.trunc`, `torch.sym_max`; those of
/// extensions keep torch's `#namespace:name`.
pub(super) fn plain_target(target: &str, shared: &mut Interner) -> Name {
    shared.name(target.strip_prefix("torch.ops.").unwrap_or(target))
}

pub(super) fn plain_floats(values: Vec<Float>) -> Vec<f64> {
    values.into_iter().map(|value| value.0).collect()
}

/// The plain kind if no element is symbolic.
pub(super) fn plain_or<T: Copy>(
    values: Vec<SymOr<T>>,
    plain: impl FnOnce(Vec<T>) -> Arg,
    symbolic: impl FnOnce(Vec<SymOr<T>>) -> Arg,
) -> Arg {
    let numbers: Option<Vec<T>> = values
        .iter()
        .map(|value| match value {
            SymOr::Const(value) => Some(*value),
            SymOr::Value(_) => None,
        })
        .collect();
    match numbers {
        Some(numbers) => plain(numbers),
        None => symbolic(values),
    }
}

/// Kinds that only arguments have.
fn kind_name(argument: &Argument<'_>) -> &'static str {
    match argument {
        Argument::Graph(_) => "a graph",
        Argument::Dict(_) => "a dictionary",
        Argument::Operator(_) => "an operator",
        Argument::Complex(_) => "a complex number",
        Argument::ScalarType(_) | Argument::MemoryFormat(_) | Argument::Layout(_) | Argument::Device(_) => {
            "an option of tensors"
        }
        _ => "a list of numbers or strings",
    }
}
