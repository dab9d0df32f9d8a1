//! Puts new nodes in the place of the patterns that are found.

use modelexport_graph::hash::HashSet;
use modelexport_graph::onnx::Origin;
use modelexport_graph::{ScopeId, Scopes};

use super::search::{Search, is};
use super::table::Table;
use crate::builder::Builder;
use crate::ir::{Graph, Ir, Node, ValueId};

/// A pattern of nodes.
pub struct Pattern {
    /// The operators that the last node of the pattern can have.
    pub last: &'static [&'static str],
    /// The first opset that has what the pattern becomes.
    pub since: i64,
    /// Looks for the pattern that ends with a node, and tells what takes its place.
    pub find: fn(&mut Search<'_>, &Node) -> Option<Write>,
}

/// Emits the new nodes and returns what stands for each old value now: for the outputs of the last node, and for what
/// the search exposed. Their origin is set afterwards, when it is known which of the old nodes they replace.
pub type Write = Box<dyn FnOnce(&mut Builder) -> Vec<(ValueId, ValueId)>>;

/// True if a pattern was found. From the end on, so that a pattern is found before the smaller ones inside it; of
/// those that end with the same node the first one counts.
pub fn run(ir: &mut Ir, scopes: &Scopes, opset: i64, patterns: &[Pattern]) -> bool {
    let patterns: Vec<&Pattern> = patterns.iter().filter(|pattern| opset >= pattern.since).collect();
    if patterns.is_empty() {
        return false;
    }
    let table = Table::of(ir);
    let mut graph = std::mem::take(&mut ir.graph);
    let mut builder = Builder::within(std::mem::take(ir), opset);
    let mut rewriter = Rewriter { patterns, table, scopes, count: 0, needed: HashSet::default() };
    let changed = rewriter.graph(&mut graph, &mut builder);
    *ir = builder.ir;
    ir.graph = graph;
    changed
}

/// The confidence of an origin that is set later.
const UNKNOWN: f32 = -1.0;

struct Rewriter<'a> {
    patterns: Vec<&'a Pattern>,
    table: Table,
    scopes: &'a Scopes,
    /// How many graphs were met.
    count: u32,
    /// What new nodes read. The table knows the readers from before.
    needed: HashSet<ValueId>,
}

/// What becomes of a node.
enum Fate {
    Stays,
    Goes,
    Becomes(Vec<Node>),
}

impl Rewriter<'_> {
    fn graph(&mut self, graph: &mut Graph, builder: &mut Builder) -> bool {
        let number = self.count;
        self.count += 1;
        let mut changed = false;
        for subgraph in graph.nodes.iter_mut().flat_map(Node::subgraphs_mut) {
            changed |= self.graph(subgraph, builder);
        }
        let mut fates: Vec<Fate> = Vec::new();
        for at in (0..graph.nodes.len()).rev() {
            if matches!(fates.get(at), Some(Fate::Goes)) {
                continue;
            }
            let Some((write, mut parts)) = self.find(graph, at, number, builder) else { continue };
            if fates.is_empty() {
                fates.resize_with(graph.nodes.len(), || Fate::Stays);
            }
            let mut nodes = self.written(write, builder);
            // From the last one on, so that what is left is known when it is decided about what it reads.
            parts.sort_unstable_by_key(|&part| std::cmp::Reverse(part));
            parts.retain(|&part| {
                let Some((node, fate)) = graph.nodes.get(part).zip(fates.get_mut(part)) else { return false };
                let stays = part != at && node.outputs.iter().any(|output| self.needed.contains(output));
                if stays {
                    self.needed.extend(node.inputs.iter().flatten());
                } else {
                    *fate = Fate::Goes;
                }
                !stays
            });
            let gone = parts.iter().filter_map(|&part| graph.nodes.get(part));
            let (origin, shared_by) = origin(gone, self.scopes);
            for node in nodes.iter_mut().filter(|node| node.origin.confidence == UNKNOWN) {
                node.origin = origin.clone();
                node.shared_by.clone_from(&shared_by);
            }
            if let Some(fate) = fates.get_mut(at) {
                *fate = Fate::Becomes(nodes);
            }
        }
        if fates.is_empty() {
            return changed;
        }
        let nodes = std::mem::take(&mut graph.nodes);
        for (node, fate) in nodes.into_iter().zip(fates) {
            match fate {
                Fate::Stays => graph.nodes.push(node),
                Fate::Goes => {}
                Fate::Becomes(new) => graph.nodes.extend(new),
            }
        }
        true
    }

    /// What takes the place of the pattern that ends with the node at `at`, and the places of its nodes.
    fn find(&self, graph: &Graph, at: usize, number: u32, builder: &Builder) -> Option<(Write, Vec<usize>)> {
        let root = graph.nodes.get(at)?;
        let fits = |pattern: &&&Pattern| pattern.last.iter().any(|op| is(root, op));
        self.patterns.iter().filter(fits).find_map(|pattern| {
            let mut search = Search::new(builder, graph, number, &self.table, at);
            let write = (pattern.find)(&mut search, root)?;
            Some((write, search.closed(&self.needed)?))
        })
    }

    /// The new nodes, which make the values that the old ones made. They have no origin yet, but for those that repeat
    /// an old one.
    fn written(&mut self, write: Write, builder: &mut Builder) -> Vec<Node> {
        builder.origin = Origin { confidence: UNKNOWN, ..Origin::direct(Scopes::ROOT, None) };
        builder.open();
        let mut given = write(builder);
        for (old, new) in &mut given {
            if let Some(dtype) = builder.ir.dtype(*old) {
                *new = builder.cast(*new, dtype);
            }
            if !builder.nodes_from(0).iter().any(|node| node.outputs.contains(new)) {
                *new = builder.emit("Identity", &[*new], vec![]);
            }
        }
        let mut nodes = builder.close(Vec::new(), Vec::new()).nodes;
        for node in &mut nodes {
            for (old, new) in &given {
                let slots = node.inputs.iter_mut().flatten().chain(&mut node.outputs);
                slots.filter(|slot| *slot == new).for_each(|slot| *slot = *old);
            }
            self.needed.extend(node.inputs.iter().flatten());
        }
        nodes
    }
}

/// The origin of a node that stands for all of `parts`, and the calls that they were shared by: the lowest common
/// ancestor of their calls, and as sure as the least sure of them.
fn origin<'n>(parts: impl Iterator<Item = &'n Node>, scopes: &Scopes) -> (Origin, Vec<ScopeId>) {
    let mut parts = parts.peekable();
    let Some(first) = parts.peek() else { return (Origin::direct(Scopes::ROOT, None), Vec::new()) };
    let mut origin = first.origin.clone();
    let mut shared_by = Vec::new();
    let mut modules = Vec::new();
    for part in parts {
        if part.origin.source != origin.source {
            origin.source = None;
        }
        if part.origin.confidence < origin.confidence {
            (origin.method, origin.confidence) = (part.origin.method, part.origin.confidence);
        }
        origin.scope = scopes.lowest_common_ancestor(origin.scope, part.origin.scope);
        match part.origin.fused.as_slice() {
            [] => modules.push(scopes.module(part.origin.scope)),
            fused => modules.extend(fused),
        }
        for &call in &part.shared_by {
            if !shared_by.contains(&call) {
                shared_by.push(call);
            }
        }
    }
    origin.fused.clear();
    let own = scopes.module(origin.scope);
    modules.into_iter().for_each(|module| origin.stands_for(own, module));
    (origin, shared_by)
}

#[cfg(test)]
mod tests {
    use modelexport_graph::aten::{Arg, Program};
    use modelexport_graph::{DType, Dim, ScopeId, Scopes};

    use crate::test_program::{TestProgram, contiguous, tensor};
    use crate::{Options, lower};

    /// `x * sigmoid(x)`; the second node runs in the module `gate`, the third where `product_in_gate` says.
    fn gated(product_in_gate: bool) -> (Program, ScopeId) {
        let mut program = TestProgram::new();
        let x = program.input("x", tensor(&[2]));
        let y = program.node("aten.exp.default", &[("self", Arg::Tensor(x))], tensor(&[2]));
        let gate = program.node("aten.sigmoid.default", &[("self", Arg::Tensor(y))], tensor(&[2]));
        let args = [("self", Arg::Tensor(y)), ("other", Arg::Tensor(gate))];
        let product = program.node("aten.mul.Tensor", &args, tensor(&[2]));
        let mut program = program.outputs(&[product]);
        let module = program.modules.insert("gate");
        let scope = program.scopes.child(Scopes::ROOT, module, 0);
        program.graph.nodes[1].scope = Some(scope);
        if product_in_gate {
            program.graph.nodes[2].scope = Some(scope);
        }
        (program, scope)
    }

    #[test]
    fn a_node_belongs_to_the_module_whose_whole_work_it_is() {
        let (program, scope) = gated(true);
        let (model, _) = lower(program, &Options { opset: 24, ..Options::default() }, &|_| None).unwrap();
        let swish = model.graph.nodes.last().unwrap();
        let origin = swish.origin.as_ref().unwrap();
        assert_eq!((&*swish.op_type, origin.scope, origin.fused.len()), ("Swish", scope, 0));
    }

    #[test]
    fn a_node_of_several_modules_belongs_to_what_holds_them_and_names_them() {
        let (program, scope) = gated(false);
        let gate = program.scopes.module(scope);
        let (model, program) =
            lower(program, &Options { opset: 24, ..Options::default() }, &|_| None).unwrap();
        let swish = model.graph.nodes.last().unwrap();
        let origin = swish.origin.as_ref().unwrap();
        let root = program.scopes.module(Scopes::ROOT);
        assert_eq!((&*swish.op_type, origin.scope), ("Swish", Scopes::ROOT));
        assert_eq!(origin.fused, [root, gate]);
        assert!(origin.source.is_none());
    }

    /// What makes `x` stays, and so does its origin: the first of two casts, which another module reads through.
    #[test]
    fn a_cast_that_is_still_read_has_no_say_in_the_origin() {
        let bf16 =
            |sizes: &[i64]| contiguous(DType::BF16, sizes.iter().map(|&size| Dim::Static(size)).collect());
        let mut program = TestProgram::new();
        let x = program.input("x", bf16(&[2]));
        let y = program.node("aten.exp.default", &[("self", Arg::Tensor(x))], bf16(&[2]));
        let product = program.node("aten.silu.default", &[("self", Arg::Tensor(y))], bf16(&[2]));
        let mut program = program.outputs(&[product]);
        let modules = ["before", "activation"].map(|name| program.modules.insert(name));
        let scopes = modules.map(|module| program.scopes.child(Scopes::ROOT, module, 0));
        for (node, scope) in program.graph.nodes.iter_mut().zip(scopes) {
            node.scope = Some(scope);
        }
        let (model, _) = lower(program, &Options { opset: 24, ..Options::default() }, &|_| None).unwrap();
        let swish = model.graph.nodes.iter().find(|node| &*node.op_type == "Swish").unwrap();
        assert_eq!(swish.origin.as_ref().unwrap().scope, scopes[1]);
    }

    #[test]
    fn nothing_is_fused_if_nothing_is_to_be() {
        let options = Options { opset: 24, fuse: crate::Fuse::None, ..Options::default() };
        let (model, _) = lower(gated(true).0, &options, &|_| None).unwrap();
        assert_eq!(model.graph.nodes.len(), 3);
    }
}
