//! The values of one graph while it is converted: names to ids, each defined once and before its use.

use std::sync::Arc;

use modelexport_graph::aten::{Graph, TensorMeta, ValueId, ValueKind};
use modelexport_graph::hash::{HashMap, HashSet};
use modelexport_graph::{Dim, Name, SymExpr};

use super::codes;
use super::error::{Place, Problem};
use super::json;
use super::name_ids::NameIds;
use super::schema;
use super::sym_text;

/// What is shared by all graphs of a program: names and expressions occur over and over.
#[derive(Default)]
pub(super) struct Shared {
    names: HashSet<Name>,
    /// The name of the node that is read: most results are called like it.
    recent: Name,
    expressions: HashMap<Box<str>, SymExpr>,
}

impl Shared {
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

    fn expression(&mut self, text: &str, place: impl FnOnce() -> Place) -> Result<SymExpr, Problem> {
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
        place: impl FnOnce() -> Place,
    ) -> Result<Dim, Problem> {
        Ok(match self.integer(size, place)? {
            SymExpr::Int(value) => Dim::Static(value),
            expression => Dim::Symbolic(expression),
        })
    }

    fn integer(
        &mut self,
        value: schema::SymInt<'_>,
        place: impl FnOnce() -> Place,
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
    /// No value has the name.
    NoValue,
    /// In a table of the graph, not yet defined by an input or a node.
    Announced(ValueKind),
    Defined(ValueId),
}

/// Names of a graph. A value gets its id where it is defined, so ids follow the order of the graph.
pub(super) struct Values {
    names: NameIds,
    /// By the number of the name; names without a value may lie beyond its end.
    states: Vec<State>,
    count: usize,
}

impl Values {
    /// No values yet, and perhaps names that have numbers already.
    pub fn new(names: NameIds) -> Self {
        let states = Vec::with_capacity(names.len());
        Values { names, states, count: 0 }
    }

    /// Takes the tables out of `graph`.
    ///
    /// `entry`: the zip entry that is read, for messages.
    pub fn announce(
        graph: &mut schema::Graph<'_>,
        entry: &str,
        shared: &mut Shared,
    ) -> Result<Self, Problem> {
        let count = graph.tensor_values.0.len() + graph.sym_int_values.0.len();
        let mut values = Values::new(NameIds::with_capacity(count));
        let mut metas: HashMap<&str, Arc<TensorMeta>> = HashMap::default();
        for (name, text) in std::mem::take(&mut graph.tensor_values).0 {
            let meta = match metas.get(text.get()) {
                Some(meta) => meta.clone(),
                None => {
                    let meta =
                        json::parse_part(entry, text.get(), || format!("the metadata of {:?}", &*name))?;
                    let meta = tensor_meta(meta, shared, || Place::Value { name: name.to_string() })?;
                    metas.entry(text.get()).or_insert(Arc::new(meta)).clone()
                }
            };
            values.announce_one(&name, ValueKind::Tensor(meta), shared)?;
        }
        values.announce_symbols(schema::SymbolTables::taken_from(graph), shared)?;
        Ok(values)
    }

    /// Takes all tables but that of the tensors.
    pub fn announce_symbols(
        &mut self,
        tables: schema::SymbolTables<'_>,
        shared: &mut Shared,
    ) -> Result<(), Problem> {
        for (name, value) in tables.sym_int_values.0 {
            let expression = shared.integer(value, || Place::Value { name: name.to_string() })?;
            self.announce_one(&name, ValueKind::SymInt(expression), shared)?;
        }
        for (name, value) in tables.sym_float_values.0 {
            let expression = match value {
                schema::SymFloat::Float(value) => SymExpr::float(value.0),
                schema::SymFloat::Expr(expression) => {
                    shared.expression(&expression.expr_str, || Place::Value { name: name.to_string() })?
                }
            };
            self.announce_one(&name, ValueKind::SymFloat(expression), shared)?;
        }
        for (name, value) in tables.sym_bool_values.0 {
            let expression = match value {
                schema::SymBool::Bool(value) => SymExpr::Bool(value),
                schema::SymBool::Expr(expression) => {
                    shared.expression(&expression.expr_str, || Place::Value { name: name.to_string() })?
                }
            };
            self.announce_one(&name, ValueKind::SymBool(expression), shared)?;
        }
        for (name, object) in tables.custom_obj_values.0 {
            let class = shared.name(&object.class_fqn);
            self.announce_one(&name, ValueKind::CustomObject { class }, shared)?;
        }
        Ok(())
    }

    fn announce_one(&mut self, name: &str, kind: ValueKind, shared: &mut Shared) -> Result<(), Problem> {
        let id = self.names.id(name, || shared.name(name));
        self.announce_known(id, kind).ok_or_else(|| Problem::DuplicateDefinition {
            place: Place::Value { name: name.to_owned() },
            name: name.to_owned(),
        })
    }

    /// The same for a name by its number; `None` if it has a value already.
    pub fn announce_known(&mut self, name: u32, kind: ValueKind) -> Option<()> {
        let state = self.state_mut(name)?;
        if !matches!(state, State::NoValue) {
            return None;
        }
        *state = State::Announced(kind);
        self.count += 1;
        Some(())
    }

    /// Never `None`: there is room for every name.
    fn state_mut(&mut self, name: u32) -> Option<&mut State> {
        let at = name as usize;
        if self.states.len() <= at {
            self.states.resize_with(at + 1, || State::NoValue);
        }
        self.states.get_mut(at)
    }

    fn state(&self, name: &str) -> Option<&State> {
        self.states.get(self.names.find(name)? as usize)
    }

    /// The name with this number.
    pub fn name(&self, name: u32) -> Option<&Name> {
        self.names.name(name)
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether a value of the graph has this name.
    pub fn has(&self, name: &str) -> bool {
        self.state(name).is_some_and(|state| !matches!(state, State::NoValue))
    }

    /// `name` comes into being here.
    pub fn define(
        &mut self,
        graph: &mut Graph,
        name: &str,
        sort: Sort,
        place: impl FnOnce() -> Place,
    ) -> Result<ValueId, Problem> {
        let found = self.names.find(name);
        if let Some(id) = found.and_then(|id| self.define_known(graph, id, sort)) {
            return Ok(id);
        }
        let state = found.and_then(|id| self.states.get(id as usize));
        Err(match state.unwrap_or(&State::NoValue) {
            State::NoValue => {
                Problem::MissingMetadata { place: place(), name: name.to_owned(), table: sort.table() }
            }
            State::Announced(kind) => Problem::WrongValueKind {
                place: place(),
                name: name.to_owned(),
                used: sort.name(),
                is: sort_of(kind).name(),
            },
            State::Defined(_) => Problem::DuplicateDefinition { place: place(), name: name.to_owned() },
        })
    }

    /// The same for a name by its number; `None` if that is wrong.
    pub fn define_known(&mut self, graph: &mut Graph, name: u32, sort: Sort) -> Option<ValueId> {
        let state = self.states.get_mut(name as usize)?;
        match state {
            State::Announced(kind) if sort_of(kind) == sort => {}
            _ => return None,
        }
        let defined = State::Defined(ValueId(graph.values.len() as u32));
        let State::Announced(kind) = std::mem::replace(state, defined) else { return None };
        Some(graph.add_value(self.names.name(name)?.clone(), kind))
    }

    /// A custom object that is an argument without being an input: a constant of the program.
    pub fn define_object(
        &mut self,
        graph: &mut Graph,
        shared: &mut Shared,
        object: &schema::CustomObject<'_>,
    ) -> ValueId {
        if let Some(State::Defined(id)) = self.state(&object.name) {
            return *id;
        }
        let class = shared.name(&object.class_fqn);
        let id = graph.add_value(shared.name(&object.name), ValueKind::CustomObject { class });
        let name = self.names.id(&object.name, || shared.name(&object.name));
        if let Some(state) = self.state_mut(name) {
            let is_new = matches!(state, State::NoValue);
            *state = State::Defined(id);
            self.count += usize::from(is_new);
        }
        id
    }

    /// The id of a value that was defined before.
    pub fn resolve(
        &self,
        graph: &Graph,
        name: &str,
        sort: Sort,
        place: impl FnOnce() -> Place,
    ) -> Result<ValueId, Problem> {
        let Some(State::Defined(id)) = self.state(name) else {
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

    /// The same for a name by its number; `None` if that is wrong.
    pub fn resolve_known(&self, graph: &Graph, name: u32, sort: Sort) -> Option<ValueId> {
        let State::Defined(id) = self.states.get(name as usize)? else { return None };
        graph.value(*id).is_some_and(|value| sort_of(&value.kind) == sort).then_some(*id)
    }
}

pub(super) fn tensor_meta(
    meta: schema::TensorMeta<'_>,
    shared: &mut Shared,
    place: impl Fn() -> Place,
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
