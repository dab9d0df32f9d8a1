//! The values of one graph while it is converted: names to ids, each defined once and before its use.

use std::sync::Arc;

use modelexport_graph::aten::{Graph, TensorMeta, ValueId, ValueKind};
use modelexport_graph::hash::{HashMap, HashSet};
use modelexport_graph::{Dim, Name, SymExpr};

use super::codes;
use super::error::{Problem, ProgramLocation};
use super::json;
use super::schema;
use super::sym_text;

/// What is shared by all graphs of a program: names and expressions occur over and over.
#[derive(Default)]
pub(super) struct Interner {
    names: HashSet<Name>,
    /// The name of the node that is read: most results are called like it.
    recent: Name,
    expressions: HashMap<Box<str>, SymExpr>,
}

impl Interner {
    pub fn name(&mut self, text: &str) -> Name {
        if *self.recent == *text {
            return self.recent.clone();
        }
        if let Some(name) = self.names.get(text) {
            return name.clone();
        }
        let name: Name = text.into();
        self.names.insert(name.clone());
        name
    }

    /// `name`, which is one of these, is likely to be asked for.
    pub fn expect(&mut self, name: &Name) {
        self.recent = name.clone();
    }

    fn expression(
        &mut self,
        text: &str,
        place: impl FnOnce() -> ProgramLocation,
    ) -> Result<SymExpr, Problem> {
        if let Some(expression) = self.expressions.get(text) {
            return Ok(expression.clone());
        }
        let expression = sym_text::parse(text).map_err(|reason| Problem::SymbolicExpression {
            place: place(),
            text: text.into(),
            reason,
        })?;
        self.expressions.insert(text.into(), expression.clone());
        Ok(expression)
    }

    pub fn dimension(
        &mut self,
        size: schema::SymInt<'_>,
        place: impl FnOnce() -> ProgramLocation,
    ) -> Result<Dim, Problem> {
        Ok(match self.integer(size, place)? {
            SymExpr::Int(value) => Dim::Static(value),
            expression => Dim::Symbolic(expression),
        })
    }

    fn integer(
        &mut self,
        value: schema::SymInt<'_>,
        place: impl FnOnce() -> ProgramLocation,
    ) -> Result<SymExpr, Problem> {
        match value {
            schema::SymInt::Int(value) => Ok(SymExpr::Int(value)),
            schema::SymInt::Expr(expression) => self.expression(&expression.expr_str, place),
        }
    }
}

/// What a value is, in the words of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Tensor,
    SymInt,
    SymFloat,
    SymBool,
    CustomObject,
}

impl Sort {
    pub fn name(self) -> &'static str {
        match self {
            Sort::Tensor => "a tensor",
            Sort::SymInt => "a symbolic integer",
            Sort::SymFloat => "a symbolic float",
            Sort::SymBool => "a symbolic bool",
            Sort::CustomObject => "a custom object",
        }
    }

    fn table(self) -> &'static str {
        match self {
            Sort::Tensor => "tensor_values",
            Sort::SymInt => "sym_int_values",
            Sort::SymFloat => "sym_float_values",
            Sort::SymBool => "sym_bool_values",
            Sort::CustomObject => "custom_obj_values",
        }
    }
}

fn sort_of(kind: &ValueKind) -> Sort {
    match kind {
        ValueKind::Tensor(_) | ValueKind::Token => Sort::Tensor,
        ValueKind::SymInt(_) => Sort::SymInt,
        ValueKind::SymFloat(_) => Sort::SymFloat,
        ValueKind::SymBool(_) => Sort::SymBool,
        ValueKind::CustomObject { .. } => Sort::CustomObject,
    }
}

enum State {
    /// In a table of the graph, not yet defined by an input or a node.
    Announced(ValueKind),
    Defined(ValueId),
}

/// Names of a graph. A value gets its id where it is defined, so ids follow the order of the graph.
pub(super) struct Values {
    states: HashMap<Name, State>,
}

impl Values {
    /// Takes the tables out of `graph`.
    ///
    /// `entry`: the zip entry that is read, for messages.
    pub fn announce(
        graph: &mut schema::Graph<'_>,
        entry: &str,
        shared: &mut Interner,
    ) -> Result<Self, Problem> {
        let count = graph.tensor_values.0.len() + graph.sym_int_values.0.len();
        let mut values = Values { states: HashMap::with_capacity_and_hasher(count, Default::default()) };
        let mut metas: HashMap<&str, Arc<TensorMeta>> = HashMap::default();
        for (name, text) in std::mem::take(&mut graph.tensor_values).0 {
            let meta = match metas.get(text.get()) {
                Some(meta) => meta.clone(),
                None => {
                    let meta =
                        json::parse_part(entry, text.get(), || format!("the metadata of {:?}", &*name))?;
                    let meta =
                        tensor_meta(meta, shared, || ProgramLocation::Value { name: name.to_string() })?;
                    metas.entry(text.get()).or_insert(Arc::new(meta)).clone()
                }
            };
            values.announce_one(&name, ValueKind::Tensor(meta), shared)?;
        }
        for (name, value) in std::mem::take(&mut graph.sym_int_values).0 {
            let expression = shared.integer(value, || ProgramLocation::Value { name: name.to_string() })?;
            values.announce_one(&name, ValueKind::SymInt(expression), shared)?;
        }
        for (name, value) in std::mem::take(&mut graph.sym_float_values).0 {
            let expression = match value {
                schema::SymFloat::Float(value) => SymExpr::float(value.0),
                schema::SymFloat::Expr(expression) => shared
                    .expression(&expression.expr_str, || ProgramLocation::Value { name: name.to_string() })?,
            };
            values.announce_one(&name, ValueKind::SymFloat(expression), shared)?;
        }
        for (name, value) in std::mem::take(&mut graph.sym_bool_values).0 {
            let expression = match value {
                schema::SymBool::Bool(value) => SymExpr::Bool(value),
                schema::SymBool::Expr(expression) => shared
                    .expression(&expression.expr_str, || ProgramLocation::Value { name: name.to_string() })?,
            };
            values.announce_one(&name, ValueKind::SymBool(expression), shared)?;
        }
        for (name, object) in std::mem::take(&mut graph.custom_obj_values).0 {
            let class = shared.name(&object.class_fqn);
            values.announce_one(&name, ValueKind::CustomObject { class }, shared)?;
        }
        Ok(values)
    }

    fn announce_one(&mut self, name: &str, kind: ValueKind, shared: &mut Interner) -> Result<(), Problem> {
        match self.states.insert(shared.name(name), State::Announced(kind)) {
            None => Ok(()),
            Some(_) => Err(Problem::DuplicateDefinition {
                place: ProgramLocation::Value { name: name.to_owned() },
                name: name.to_owned(),
            }),
        }
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether a value of the graph has this name.
    pub fn has(&self, name: &str) -> bool {
        self.states.contains_key(name)
    }

    /// `name` comes into being here.
    pub fn define(
        &mut self,
        graph: &mut Graph,
        shared: &mut Interner,
        name: &str,
        sort: Sort,
        place: impl FnOnce() -> ProgramLocation,
    ) -> Result<ValueId, Problem> {
        let Some(state) = self.states.get_mut(name) else {
            return Err(Problem::MissingMetadata {
                place: place(),
                name: name.to_owned(),
                table: sort.table(),
            });
        };
        let defined = State::Defined(ValueId(graph.values.len() as u32));
        match std::mem::replace(state, defined) {
            State::Announced(kind) if sort_of(&kind) == sort => Ok(graph.add_value(shared.name(name), kind)),
            State::Announced(kind) => Err(Problem::WrongValueKind {
                place: place(),
                name: name.to_owned(),
                used: sort.name(),
                is: sort_of(&kind).name(),
            }),
            State::Defined(_) => Err(Problem::DuplicateDefinition { place: place(), name: name.to_owned() }),
        }
    }

    /// A custom object that is an argument without being an input: a constant of the program.
    pub fn define_object(
        &mut self,
        graph: &mut Graph,
        shared: &mut Interner,
        object: &schema::CustomObject<'_>,
    ) -> ValueId {
        if let Some(State::Defined(id)) = self.states.get(&*object.name) {
            return *id;
        }
        let class = shared.name(&object.class_fqn);
        let name = shared.name(&object.name);
        let id = graph.add_value(name.clone(), ValueKind::CustomObject { class });
        self.states.insert(name, State::Defined(id));
        id
    }

    /// The id of a value that was defined before.
    pub fn resolve(
        &self,
        graph: &Graph,
        name: &str,
        sort: Sort,
        place: impl FnOnce() -> ProgramLocation,
    ) -> Result<ValueId, Problem> {
        let Some(State::Defined(id)) = self.states.get(name) else {
            return Err(Problem::DanglingValue { place: place(), name: name.into() });
        };
        let is = graph.value(*id).map_or(sort, |value| sort_of(&value.kind));
        if is != sort {
            return Err(Problem::WrongValueKind {
                place: place(),
                name: name.into(),
                used: sort.name(),
                is: is.name(),
            });
        }
        Ok(*id)
    }
}

pub(super) fn tensor_meta(
    meta: schema::TensorMeta<'_>,
    shared: &mut Interner,
    place: impl Fn() -> ProgramLocation,
) -> Result<TensorMeta, Problem> {
    if meta.sizes.len() != meta.strides.len() {
        let (sizes, strides) = (meta.sizes.len(), meta.strides.len());
        return Err(Problem::StrideCount { place: place(), sizes, strides });
    }
    let mut dimensions = |list: Vec<schema::SymInt<'_>>, what| -> Result<Vec<Dim>, Problem> {
        let mut dimensions = Vec::with_capacity(list.len());
        for value in list {
            match shared.dimension(value, &place)? {
                Dim::Static(value) if value < 0 => {
                    return Err(Problem::NegativeDimension { place: place(), what, value });
                }
                dimension => dimensions.push(dimension),
            }
        }
        Ok(dimensions)
    };
    let sizes = dimensions(meta.sizes, "the size")?;
    let strides = dimensions(meta.strides, "the stride")?;
    let storage_offset = shared.dimension(meta.storage_offset, &place)?;
    if let Dim::Static(value) = storage_offset
        && value < 0
    {
        return Err(Problem::NegativeDimension { place: place(), what: "the storage offset", value });
    }
    Ok(TensorMeta {
        dtype: codes::dtype(meta.dtype, &place)?,
        sizes,
        strides,
        storage_offset,
        layout: codes::layout(meta.layout, &place)?,
    })
}
