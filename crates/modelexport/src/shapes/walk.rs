//! From node to node, with the types of what goes in and out.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use modelexport_graph::Name;
use modelexport_graph::onnx::{Function, Graph, Model, Node, Type, ValueInfo};

use super::{Cost, Sizes, TensorType, cost, infer};

/// Nodes of functions that are looked at, for each node of the file: a function is followed for each kind of call, and
/// functions that call functions can be made to have very many.
const FUNCTION_NODES: u64 = 64;

/// A node of the main graph or of a graph inside a node.
pub(crate) struct TypedNode<'a> {
    pub node: &'a Node,
    pub outputs: Vec<TensorType>,
    /// Of a call of a function: that of all nodes of its body.
    pub cost: Cost,
    /// Outputs of which the file declares something else than the operator gives, with the two in words.
    pub contradictions: Vec<(Name, String)>,
}

type Visit<'v> = dyn FnMut(&TypedNode<'_>) + 'v;

/// Calls `visit` for every node of the main graph and of graphs inside its nodes, outer nodes first.
///
/// The body of a loop is visited once. Functions are not visited: each call is a node.
pub(crate) fn walk(model: &Model, sizes: &Sizes, visit: &mut Visit<'_>) {
    let mut nodes = 0;
    model.for_each_node(&mut |_| nodes += 1);
    let functions = model.functions.iter().enumerate();
    let walker = Walker {
        functions: &model.functions,
        by_name: functions.map(|(i, function)| (key(function), i)).collect(),
        sizes,
        results: RefCell::default(),
        budget: Cell::new(FUNCTION_NODES * nodes),
    };
    walker.graph(&model.graph, None, visit);
}

/// A function by domain, name and overload.
type Key<'a> = (&'a str, &'a str, &'a str);

fn key(function: &Function) -> Key<'_> {
    (domain(&function.domain), &function.name, &function.overload)
}

/// The default domain has two names.
fn domain(name: &str) -> &str {
    if name == "ai.onnx" { "" } else { name }
}

struct Walker<'a> {
    functions: &'a [Function],
    by_name: HashMap<Key<'a>, usize>,
    sizes: &'a Sizes,
    /// What a function gives for arguments of these types.
    results: RefCell<HashMap<Call, FunctionResult>>,
    /// Nodes of functions that may still be looked at.
    budget: Cell<u64>,
}

/// A function with the types of its arguments.
type Call = (usize, Vec<Option<TensorType>>);

#[derive(Clone, Default)]
struct FunctionResult {
    outputs: Vec<TensorType>,
    cost: Cost,
}

/// Types by name: those of a graph, then those of the graphs around it.
#[derive(Default)]
struct Values<'v> {
    own: HashMap<Name, TensorType>,
    outer: Option<&'v Values<'v>>,
}

impl Values<'_> {
    fn get(&self, name: &str) -> Option<&TensorType> {
        let mut scope = self;
        loop {
            match (scope.own.get(name), scope.outer) {
                (Some(found), _) => return Some(found),
                (None, Some(outer)) => scope = outer,
                (None, None) => return None,
            }
        }
    }
}

impl Walker<'_> {
    fn graph(&self, graph: &Graph, outer: Option<&Values<'_>>, visit: &mut Visit<'_>) {
        let mut values = Values { own: HashMap::new(), outer };
        let declared = types(graph.inputs.iter().chain(&graph.outputs).chain(&graph.value_infos));
        for input in &graph.inputs {
            let known =
                input.value_type.as_deref().map(|declared| self.complete(TensorType::default(), declared));
            values.own.insert(input.name.clone(), known.unwrap_or_default());
        }
        for tensor in &graph.initializers {
            values.own.insert(tensor.name.clone(), TensorType::of_tensor(tensor));
        }
        self.nodes(&graph.nodes, &declared, &mut values, visit);
    }

    /// Types that a body declares are those of one call, so that they are not looked at.
    fn function(&self, call: Call) -> FunctionResult {
        if let Some(known) = self.results.borrow().get(&call) {
            return known.clone();
        }
        let Some(function) = self.functions.get(call.0) else { return FunctionResult::default() };
        let Some(left) = self.budget.get().checked_sub(1 + function.nodes.len() as u64) else {
            return FunctionResult { cost: Cost::UNKNOWN, outputs: Vec::new() };
        };
        self.budget.set(left);
        let mut values = Values::default();
        for (name, known) in function.inputs.iter().zip(&call.1) {
            values.own.insert(name.clone(), known.clone().unwrap_or_default());
        }
        let mut cost = Cost::default();
        self.nodes(&function.nodes, &HashMap::new(), &mut values, &mut |node| cost = cost.plus(node.cost));
        let outputs = function.outputs.iter().map(|name| values.get(name).cloned().unwrap_or_default());
        let result = FunctionResult { outputs: outputs.collect(), cost };
        self.results.borrow_mut().insert(call, result.clone());
        result
    }

    fn nodes(
        &self,
        nodes: &[Node],
        declared: &HashMap<&Name, &Type>,
        values: &mut Values<'_>,
        visit: &mut Visit<'_>,
    ) {
        for node in nodes {
            let known = |name: &Name| values.get(name).filter(|_| !name.is_empty()).cloned();
            let inputs: Vec<Option<TensorType>> = node.inputs.iter().map(known).collect();
            let function = self.by_name.get(&(domain(&node.domain), &*node.op_type, &*node.overload));
            let called = function.map(|&function| self.function((function, inputs.clone())));
            let inferred = match &called {
                Some(result) => result.outputs.clone(),
                None => infer::outputs(node, &inputs),
            };
            let mut outputs = Vec::with_capacity(node.outputs.len());
            let mut contradictions = Vec::new();
            for (i, name) in node.outputs.iter().enumerate() {
                let inferred = inferred.get(i).cloned().unwrap_or_default();
                let known = match declared.get(name) {
                    Some(declared) => {
                        let stated = TensorType::declared(declared);
                        contradictions
                            .extend(stated.contradiction(&inferred).map(|words| (name.clone(), words)));
                        self.complete(inferred, declared)
                    }
                    None => inferred,
                };
                values.own.insert(name.clone(), known.clone());
                outputs.push(known);
            }
            let cost = called.map_or_else(|| cost::of_node(node, &inputs, &outputs), |result| result.cost);
            visit(&TypedNode { node, outputs, cost, contradictions });
            for graph in node.subgraphs() {
                self.graph(graph, Some(values), visit);
            }
        }
    }

    /// What a file declares, completed by what is known, completed by the sizes of named dimensions.
    fn complete(&self, known: TensorType, declared: &Type) -> TensorType {
        TensorType::declared(declared).or(known).with_named(declared, self.sizes)
    }
}

fn types<'g>(values: impl Iterator<Item = &'g ValueInfo>) -> HashMap<&'g Name, &'g Type> {
    values.filter_map(|value| Some((&value.name, value.value_type.as_deref()?))).collect()
}
