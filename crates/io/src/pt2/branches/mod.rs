//! Infers the module calls inside branches and loop bodies if the archive does not record them.
//!
//! A capture with `strict=False` records no module stacks in the graphs of `cond`, `while_loop`, `scan` and `map`. It does
//! record the names of the parameters that are passed to such a graph.
//!
//! * A node that reads weights belongs to the module that owns them, or to the lowest common ancestor of all owners. A
//!   tensor with several names belongs to the lowest common ancestor of these.
//! * A node between such nodes belongs to the deepest call that contains all its producers and all its readers. Graph
//!   inputs and graph outputs count as part of the node that contains the graph. So a node may be placed above its module,
//!   but never in a sibling.
//! * Graphs inside a graph are processed after it, when the call that contains them is known.

mod calls;
mod neighbours;
#[cfg(test)]
mod tests;

use modelexport_graph::aten::{Arg, Graph, InputSpec, Node, Program, ValueId, Weight, WeightKind};
use modelexport_graph::hash::{HashMap, HashSet};
use modelexport_graph::{Method, Module, ModuleId, ModuleTree, ScopeId, Scopes};

use calls::{Calls, Step};

/// Loops whose first operands are carried from round to round: what is carried is no weight, though it may begin as one.
const CARRYING: [&str; 2] = ["higher_order.while_loop", "higher_order.scan"];

/// The program with a call for every node of a subgraph.
pub(super) fn placed(mut program: Program) -> Program {
    if !program.graph.nodes.iter().any(|node| node.subgraphs().next().is_some()) {
        return program;
    }
    let owners = owners(&program.weights, &program.modules);
    let mut known = Owners::default();
    for (arg, spec) in program.graph.inputs.iter().zip(&program.signature.inputs) {
        if let (
            Arg::Tensor(value),
            InputSpec::Parameter { weight }
            | InputSpec::Buffer { weight, .. }
            | InputSpec::TensorConstant { weight },
        ) = (arg, spec)
            && let Some(owner) = owners.get(*weight as usize).copied().flatten()
        {
            known.insert(*value, owner);
        }
    }
    let mut places =
        Places { modules: &mut program.modules, scopes: &mut program.scopes, lists: HashMap::default() };
    places.subgraphs(&mut program.graph, Scopes::ROOT, &known, &Calls::default());
    Order::default().number(&program.graph, Scopes::ROOT, places.modules, places.scopes);
    program
}

/// The module that a weight speaks for, by value.
type Owners = HashMap<ValueId, ModuleId>;

/// For each weight the module that owns it, or what holds all owners of one tensor. `None`: the name tells nothing, as
/// that of a tensor which `forward` made.
fn owners(weights: &[Weight], modules: &ModuleTree) -> Vec<Option<ModuleId>> {
    let owner = |weight: &Weight| match weight.name.rsplit_once('.') {
        Some((path, _)) => modules.find(path),
        None => (weight.kind != WeightKind::Constant).then_some(ModuleId::ROOT),
    };
    let mut by_view = HashMap::default();
    for weight in weights {
        if let (Some(view), Some(owner)) = (&weight.data, owner(weight)) {
            by_view
                .entry(view)
                .and_modify(|shared| *shared = modules.lowest_common_ancestor(*shared, owner))
                .or_insert(owner);
        }
    }
    let shared = |weight: &Weight| by_view.get(weight.data.as_ref()?).copied();
    weights.iter().map(|weight| shared(weight).or_else(|| owner(weight))).collect()
}

struct Places<'a> {
    modules: &'a mut ModuleTree,
    scopes: &'a mut Scopes,
    /// For the modules that were asked for whether they are lists.
    lists: HashMap<ModuleId, bool>,
}

impl Places<'_> {
    /// Places the nodes of all graphs inside the nodes of `graph`, whose own nodes have their calls.
    fn subgraphs(&mut self, graph: &mut Graph, holder: ScopeId, known: &Owners, calls: &Calls) {
        for node in &mut graph.nodes {
            if node.subgraphs().next().is_none() {
                continue;
            }
            let scope = node.scope.unwrap_or(holder);
            let mut operands = node.operands();
            operands.iter_mut().take(carried(node)).for_each(|operand| *operand = None);
            for subgraph in node.subgraphs_mut() {
                let inner = subgraph.given(&operands);
                let inner = inner.filter_map(|(input, operand)| Some((input, *known.get(&operand)?)));
                let inner: Owners = inner.collect();
                self.branch(subgraph, scope, &inner, calls.inside());
            }
        }
    }

    fn branch(&mut self, graph: &mut Graph, holder: ScopeId, known: &Owners, mut calls: Calls) {
        for node in graph.nodes.iter_mut().filter(|node| node.scope.is_none()) {
            let read: Vec<ValueId> = match node.subgraphs().next() {
                Some(_) => Vec::new(),
                None => {
                    node.operands().into_iter().flatten().filter(|value| known.contains_key(value)).collect()
                }
            };
            let owners = read.iter().filter_map(|value| known.get(value).copied());
            let owner = owners.reduce(|a, b| self.modules.lowest_common_ancestor(a, b));
            let step = Step { operator: node.target.clone(), read };
            if let Some(scope) = owner.and_then(|owner| self.call(owner, step, holder, &mut calls)) {
                (node.scope, node.method) = (Some(scope), Method::Parameter);
            }
        }
        neighbours::fill(graph, holder, self.scopes);
        self.subgraphs(graph, holder, known, &calls);
    }

    /// The call of `owner` that `step` belongs to. `None` if the weights of a module around `holder` tell nothing.
    fn call(&mut self, owner: ModuleId, step: Step, holder: ScopeId, calls: &mut Calls) -> Option<ScopeId> {
        let above = self.modules.chain(self.scopes.module(holder));
        let chain = self.modules.chain(owner);
        if above.last() == Some(&owner) {
            return Some(holder);
        }
        if above.contains(&owner) {
            return None;
        }
        let shared = above.iter().zip(&chain).take_while(|(a, b)| a == b).count();
        let entered: Vec<ModuleId> = chain.into_iter().skip(shared).filter(|&id| !self.is_list(id)).collect();
        Some(calls.enter(holder, &entered, step, self.modules, self.scopes))
    }

    fn is_list(&mut self, id: ModuleId) -> bool {
        *self.lists.entry(id).or_insert_with(|| is_list(self.modules, id))
    }
}

/// How many of the operands are carried from round to round.
fn carried(node: &Node) -> usize {
    if !CARRYING.contains(&&*node.target) {
        return 0;
    }
    let lists = node.args.iter().filter(|arg| !matches!(arg.arg, Arg::Graph(_)));
    let mut count = 0;
    if let Some(first) = lists.into_iter().next() {
        first.arg.for_each_operand(&mut |_| count += 1);
    }
    count
}

/// Whether a module whose class nobody told is a list of modules or parameters, which is never called: what it holds has
/// numbers and looks alike. (Parts of a sequence do not, as a rule.)
fn is_list(modules: &ModuleTree, id: ModuleId) -> bool {
    let Some(module) = modules.get(id).filter(|module| module.order.is_none()) else { return false };
    let children: Vec<&Module> = module.children.iter().filter_map(|child| modules.get(*child)).collect();
    let looks: Vec<Vec<&str>> = children.iter().map(|child| look(child, modules)).collect();
    let is_number = |name: &str| name.rsplit('.').next().is_some_and(|last| last.parse::<u32>().is_ok());
    let is_empty = children.is_empty() && module.parameters.is_empty();
    !is_empty
        && children.iter().all(|child| is_number(&child.path))
        && module.parameters.iter().all(|own| is_number(&own.name))
        && looks.windows(2).all(|pair| pair.first() == pair.last())
}

/// Names of what a module holds.
fn look<'a>(module: &'a Module, modules: &'a ModuleTree) -> Vec<&'a str> {
    let children = module.children.iter().filter_map(|id| Some(modules.get(*id)?.attribute()));
    let own = module.parameters.iter().filter_map(|own| own.name.rsplit('.').next());
    children.chain(own).collect()
}

/// Numbers the modules in the order in which the graph first enters them.
#[derive(Default)]
struct Order {
    entered: HashSet<ModuleId>,
}

impl Order {
    fn number(&mut self, graph: &Graph, holder: ScopeId, modules: &mut ModuleTree, scopes: &Scopes) {
        for node in &graph.nodes {
            let scope = node.scope.unwrap_or(holder);
            for call in scopes.chain(scope) {
                let (id, order) = (scopes.module(call), self.entered.len() as u32);
                if self.entered.insert(id)
                    && let Some(module) = modules.get_mut(id)
                {
                    module.order = Some(order);
                }
            }
            node.subgraphs().for_each(|subgraph| self.number(subgraph, scope, modules, scopes));
        }
    }
}
