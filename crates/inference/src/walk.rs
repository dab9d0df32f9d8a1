//! From node to node, with the types of what goes in and out.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use modelexport_graph::Name;
use modelexport_graph::hash::HashMap;
use modelexport_graph::onnx::{Function, Graph, Model, Node, OpsetImport, Type, TypeKind, ValueInfo};

use crate::node::{Bindings, Bound};
use crate::size::Size;
use crate::value_type::{Symbols, ValueType};
use crate::{Cost, Operation, control, cost, rules};

/// Nodes of functions that are looked at, for each node of the file: a function is followed for each kind of call, and
/// functions that call functions can be made to have very many.
const FUNCTION_NODES: u64 = 64;

/// What a dimension with a name counts as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// Nothing is assumed: such a dimension keeps its name.
    Unknown,
    /// These; 1 for names that are not listed.
    Given(BTreeMap<String, u64>),
}

/// A node of the main graph or of a graph inside a node.
pub struct TypedNode<'a> {
    pub node: &'a Node,
    pub outputs: Vec<ValueType>,
    /// Of a call of a function: that of all nodes of its body.
    pub cost: Cost,
    /// Outputs of which the file declares something else than the operator gives, with the two in words.
    pub contradictions: Vec<(Name, String)>,
    /// Why the operator cannot take what it gets.
    pub impossible: Option<String>,
}

pub(crate) type Visit<'v> = dyn FnMut(&TypedNode<'_>) + 'v;

/// Calls `visit` for every node of the main graph and of graphs inside its nodes, inner nodes first.
///
/// The body of a loop is visited once. Functions are not visited: each call is a node.
pub fn walk(model: &Model, sizes: &Sizes, visit: &mut Visit<'_>) {
    Walker::new(model, sizes, &[]).model(model, visit);
}

/// The types of all values of these graphs, each of which is the graph of `model` or one inside it: as the file declares
/// them, else as they follow from the nodes.
pub fn types_of_graphs(model: &Model, graphs: &[&Graph]) -> HashMap<Name, Type> {
    let walker = Walker::new(model, &Sizes::Unknown, graphs);
    walker.model(model, &mut |_| {});
    let mut types = walker.found.into_inner();
    for info in
        graphs.iter().flat_map(|graph| graph.inputs.iter().chain(&graph.value_infos).chain(&graph.outputs))
    {
        if let Some(declared) = info.value_type.as_deref().filter(|declared| says_something(declared)) {
            types.insert(info.name.clone(), declared.clone());
        }
    }
    types
}

fn says_something(declared: &Type) -> bool {
    match &declared.kind {
        TypeKind::Tensor { elem_type, .. } | TypeKind::SparseTensor { elem_type, .. } => *elem_type != 0,
        TypeKind::Missing => false,
        _ => true,
    }
}

/// A function by domain, name and overload.
type Key<'a> = (&'a str, &'a str, &'a str);

/// The default domain has two names.
fn domain(name: &str) -> &str {
    if name == "ai.onnx" { "" } else { name }
}

pub(crate) struct Walker<'a> {
    functions: &'a [Function],
    by_name: HashMap<Key<'a>, usize>,
    sizes: &'a Sizes,
    symbols: RefCell<Symbols>,
    /// What a function gives for arguments of these types.
    results: RefCell<HashMap<Call, FunctionResult>>,
    /// Nodes of functions that may still be looked at.
    budget: Cell<u64>,
    /// Graphs whose values are asked for, and their types.
    wanted: &'a [&'a Graph],
    found: RefCell<HashMap<Name, Type>>,
}

/// A function with the types of its arguments.
type Call = (usize, Vec<Option<ValueType>>);

#[derive(Clone, Default)]
struct FunctionResult {
    outputs: Vec<ValueType>,
    cost: Cost,
    impossible: Option<String>,
}

/// What stands around a node: the operators that it may use, and the call of the function that it is in.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    imports: &'a [OpsetImport],
    call: &'a Bindings<'a>,
    /// In a branch that runs for inputs of other shapes, perhaps: what cannot be is no fault there.
    is_conditional: bool,
}

impl Around<'_> {
    pub(crate) fn conditional(self) -> Self {
        Around { is_conditional: true, ..self }
    }

    pub(crate) fn opset(&self, of: &str) -> i64 {
        let import = self.imports.iter().find(|import| domain(&import.domain) == domain(of));
        import.map_or(i64::MAX, |import| import.version)
    }
}

/// Types by name: those of a graph, then those of the graphs around it.
#[derive(Default)]
pub(crate) struct Values<'v> {
    own: HashMap<Name, ValueType>,
    outer: Option<&'v Values<'v>>,
}

impl Values<'_> {
    fn get(&self, name: &str) -> Option<&ValueType> {
        let mut scope = self;
        loop {
            match (scope.own.get(name), scope.outer) {
                (Some(found), _) => return Some(found),
                (None, Some(outer)) => scope = outer,
                (None, None) => return None,
            }
        }
    }

    /// Of each of these; nothing is known of a name that nothing gives.
    fn of<'n>(&self, names: impl Iterator<Item = &'n Name>) -> Vec<ValueType> {
        names.map(|name| self.get(name).cloned().unwrap_or_default()).collect()
    }
}

impl<'a> Walker<'a> {
    fn new(model: &'a Model, sizes: &'a Sizes, wanted: &'a [&'a Graph]) -> Self {
        let mut nodes = 0;
        model.for_each_node(&mut |_| nodes += 1);
        let key = |function: &'a Function| (domain(&function.domain), &*function.name, &*function.overload);
        Walker {
            functions: &model.functions,
            by_name: model.functions.iter().enumerate().map(|(i, function)| (key(function), i)).collect(),
            sizes,
            symbols: RefCell::default(),
            results: RefCell::default(),
            budget: Cell::new(FUNCTION_NODES * nodes),
            wanted,
            found: RefCell::default(),
        }
    }

    fn model(&self, model: &Model, visit: &mut Visit<'_>) {
        let around = Around { imports: &model.opset_imports, call: &Vec::new(), is_conditional: false };
        self.graph(&model.graph, &[], None, around, visit);
    }

    /// The types of the outputs of a graph whose inputs get these.
    pub(crate) fn graph(
        &self,
        graph: &Graph,
        arguments: &[ValueType],
        outer: Option<&Values<'_>>,
        around: Around<'_>,
        visit: &mut Visit<'_>,
    ) -> Vec<ValueType> {
        let mut values = Values { own: HashMap::default(), outer };
        let declared = types(graph.inputs.iter().chain(&graph.outputs).chain(&graph.value_infos));
        for (i, input) in graph.inputs.iter().enumerate() {
            let given = arguments.get(i).cloned().unwrap_or_default();
            let known = match input.value_type.as_deref() {
                Some(declared) => self.complete(self.declared(declared), given),
                None => given,
            };
            values.own.insert(input.name.clone(), known);
        }
        for tensor in &graph.initializers {
            values.own.insert(tensor.name.clone(), ValueType::of_tensor(tensor));
        }
        for tensor in &graph.sparse_initializers {
            if let Some(name) = tensor.values.as_ref().map(|values| values.name.clone()) {
                values.own.insert(name, ValueType::of_sparse(tensor));
            }
        }
        self.nodes(&graph.nodes, &declared, &mut values, around, visit);
        if self.wanted.iter().any(|wanted| std::ptr::eq(*wanted, graph)) {
            let symbols = self.symbols.borrow();
            let known = graph.inputs.iter().map(|input| &input.name);
            let known = known.chain(graph.initializers.iter().map(|tensor| &tensor.name));
            let sparse =
                graph.sparse_initializers.iter().filter_map(|tensor| Some(&tensor.values.as_ref()?.name));
            let made = graph.nodes.iter().flat_map(|node| &node.outputs);
            let types = known
                .chain(sparse)
                .chain(made)
                .filter_map(|name| Some((name.clone(), values.own.get(name)?.to_onnx(&symbols)?)));
            self.found.borrow_mut().extend(types);
        }
        values.of(graph.outputs.iter().map(|output| &output.name))
    }

    /// Types that a body declares are those of one call, so that they are not looked at.
    fn function(&self, index: usize, node: &Bound<'_>, arguments: &[Option<ValueType>]) -> FunctionResult {
        let Some(function) = self.functions.get(index) else { return FunctionResult::default() };
        // What a function gives also depends on its attributes, which are few: such calls are followed each time.
        let has_attributes = !function.attributes.is_empty() || !function.attribute_defaults.is_empty();
        let call = (index, arguments.to_vec());
        if let Some(known) = self.results.borrow().get(&call).filter(|_| !has_attributes) {
            return known.clone();
        }
        let Some(left) = self.budget.get().checked_sub(1 + function.nodes.len() as u64) else {
            return FunctionResult { cost: Cost::UNKNOWN, ..FunctionResult::default() };
        };
        self.budget.set(left);
        let stated = function.attributes.iter().map(|name| (&**name, node.attribute(name)));
        let defaults = function
            .attribute_defaults
            .iter()
            .map(|default| (&*default.name, node.attribute(&default.name).or(Some(&default.value))));
        let bindings = stated.chain(defaults).filter_map(|(name, value)| Some((name, value?))).collect();
        let mut values = Values::default();
        for (name, known) in function.inputs.iter().zip(arguments) {
            values.own.extend(known.clone().map(|known| (name.clone(), known)));
        }
        let mut result = FunctionResult::default();
        let around = Around { imports: &function.opset_imports, call: &bindings, is_conditional: false };
        self.nodes(&function.nodes, &HashMap::default(), &mut values, around, &mut |inner| {
            result.cost = result.cost.plus(inner.cost);
            if let (None, Some(reason)) = (&result.impossible, &inner.impossible) {
                result.impossible =
                    Some(format!("{} in function {}: {reason}", inner.node.op_type, function.name));
            }
        });
        result.outputs = values.of(function.outputs.iter());
        if !has_attributes {
            self.results.borrow_mut().insert(call, result.clone());
        }
        result
    }

    fn nodes(
        &self,
        nodes: &[Node],
        declared: &HashMap<&Name, &Type>,
        values: &mut Values<'_>,
        around: Around<'_>,
        visit: &mut Visit<'_>,
    ) {
        for node in nodes {
            let known =
                |name: &Name| (!name.is_empty()).then(|| values.get(name).cloned().unwrap_or_default());
            let inputs: Vec<Option<ValueType>> = node.inputs.iter().map(known).collect();
            let bound = Bound { node, call: around.call };
            let opset = around.opset(&node.domain);
            let operation =
                Operation::new((&node.domain, &node.op_type, opset), &bound, &inputs, node.outputs.len());
            let function = self.by_name.get(&(operation.domain, &*node.op_type, &*node.overload));
            let called = function.map(|&function| self.function(function, &bound, &inputs));
            let inferred = match &called {
                Some(FunctionResult { impossible: Some(reason), .. }) => Err(reason.clone()),
                Some(result) => Ok(result.outputs.clone()),
                None if node.subgraphs().next().is_some() => {
                    Ok(control::outputs(self, &bound, &operation, values, around, visit))
                }
                None => rules::outputs(&operation),
            };
            let (inferred, impossible) = match inferred {
                Ok(inferred) => (inferred, None),
                Err(reason) => (Vec::new(), Some(reason).filter(|_| !around.is_conditional)),
            };
            let mut contradictions = Vec::new();
            let mut inferred = inferred.into_iter();
            let outputs: Vec<ValueType> = node
                .outputs
                .iter()
                .map(|name| {
                    let inferred = inferred.next().unwrap_or_default();
                    let Some(declared) = declared.get(name) else { return inferred };
                    let stated = self.declared(declared);
                    contradictions.extend(stated.contradiction(&inferred).map(|words| (name.clone(), words)));
                    self.complete(stated, inferred)
                })
                .collect();
            let cost = called.map_or_else(
                || {
                    let named = (0..).zip(&outputs).filter(|(i, _)| bound.output(*i).is_some());
                    cost::of_node(&operation, &outputs, named.map(|(_, output)| output))
                },
                |result| result.cost,
            );
            values.own.extend(node.outputs.iter().cloned().zip(outputs.iter().cloned()));
            visit(&TypedNode { node, outputs, cost, contradictions, impossible });
        }
    }

    fn declared(&self, declared: &Type) -> ValueType {
        ValueType::declared(declared, &mut self.symbols.borrow_mut())
    }

    /// What a file declares, completed by what is known, completed by the sizes of named dimensions.
    fn complete(&self, declared: ValueType, known: ValueType) -> ValueType {
        let mut complete = declared.or(known);
        if let Sizes::Given(sizes) = self.sizes {
            let symbols = self.symbols.borrow();
            for size in complete.dims.iter_mut().flatten() {
                if let Size::Named(symbol) = *size {
                    let given = symbols.name(symbol).and_then(|name| sizes.get(&**name));
                    *size = given.map_or(Some(1), |&given| i64::try_from(given).ok()).into();
                }
            }
        }
        complete
    }
}

fn types<'g>(values: impl Iterator<Item = &'g ValueInfo>) -> HashMap<&'g Name, &'g Type> {
    values.filter_map(|value| Some((&value.name, value.value_type.as_deref()?))).collect()
}
