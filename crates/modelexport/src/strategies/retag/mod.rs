//! `retag`: restores tags in a file that a tool made from a tagged one.
//!
//! Optimizers and quantizers keep most value names. A node whose result has a name in the tagged file comes from the producer
//! of that result. If its operator is different, it is a fused node that replaces everything between its inputs and its
//! results: it gets the lowest common ancestor of the replaced nodes, and lists their modules. A node without such a result is
//! identified by its own name, or by the parameters that it reads. The remaining nodes are placed by their neighbors.

mod replaced;

use modelexport_graph::{Method, ModuleId, ScopeId};

use super::evidence::{OriginalGraph, ParameterFact};
use super::graph::{GraphView, NodeId, ValueId};
use super::{Attribution, Context, Draft};
use replaced::Replaced;

/// Confidence in a node that is the same as before, in one known by its name alone, in a fused one, and in one that
/// is known by its parameters.
const SAME: f32 = 1.0;
const SAME_NAME: f32 = 0.9;
const FUSED: f32 = 0.8;
const PARAMETER: f32 = 0.7;

pub(super) fn draft(context: &Context<'_>) -> Draft {
    let Some(original) = &context.evidence.original else { return vec![None; context.graph.len()] };
    let known = original.graph.as_ref().map(|graph| KnownValues::new(graph, context.graph));
    let by_name = |id: NodeId| {
        let call = original.call(context.graph.name(id))?;
        Some(Attribution::new(call, Method::Graph, SAME_NAME))
    };
    let found = context.graph.node_ids().map(|id| {
        let by_value = known.as_ref().and_then(|known| known.attribute(context, id));
        by_value.or_else(|| by_name(id)).or_else(|| by_parameter(context, id))
    });
    found.collect()
}

/// The original file as a table of values.
struct KnownValues<'a> {
    original: &'a OriginalGraph,
    values: ValuesByName<'a>,
    replaced: Replaced<'a>,
}

/// The values of a graph by name, if only one has it.
struct ValuesByName<'a> {
    graph: &'a GraphView,
    /// By text.
    values: Vec<Named>,
}

#[derive(Clone, Copy)]
enum Named {
    Nothing,
    One(ValueId),
    Several,
}

impl<'a> ValuesByName<'a> {
    fn new(graph: &'a GraphView) -> Self {
        let mut values = vec![Named::Nothing; graph.text_count()];
        for (id, value) in graph.values() {
            if let Some(named) = values.get_mut(value.name.0 as usize) {
                *named = if let Named::Nothing = named { Named::One(id) } else { Named::Several };
            }
        }
        ValuesByName { graph, values }
    }

    fn find(&self, name: &str) -> Option<ValueId> {
        match self.values.get(self.graph.find_text(name)?.0 as usize)? {
            Named::One(id) => Some(*id),
            Named::Nothing | Named::Several => None,
        }
    }
}

impl<'a> KnownValues<'a> {
    fn new(original: &'a OriginalGraph, graph: &GraphView) -> Self {
        let values = ValuesByName::new(&original.view);
        let survives = graph.values().filter_map(|(_, value)| values.find(graph.text(value.name)));
        let replaced = Replaced::new(&original.view, survives);
        KnownValues { original, values, replaced }
    }

    fn attribute(&self, context: &Context<'_>, id: NodeId) -> Option<Attribution> {
        let (graph, original) = (context.graph, &self.original.view);
        let mut makers: Vec<NodeId> = Vec::new();
        for &output in graph.outputs(id) {
            let known = self.values.find(graph.value_name(output));
            makers.extend(known.and_then(|value| original.producer(value)));
        }
        let &maker = makers.first()?;
        if original.operator(maker) == graph.operator(id) && original.domain(maker) == graph.domain(id) {
            let call = self.original.call(maker)?;
            return Some(Attribution::new(call, Method::Graph, SAME));
        }
        let members = self.replaced.members(&makers);
        self.fused(context, &members)
    }

    /// A node that stands for `members` of the original.
    fn fused(&self, context: &Context<'_>, members: &[NodeId]) -> Option<Attribution> {
        let calls = context.evidence.calls();
        let scopes: Vec<ScopeId> = members.iter().filter_map(|id| self.original.call(*id)).collect();
        let call = calls.common_of(scopes.iter().copied())?;
        let mut fused: Vec<ModuleId> = Vec::new();
        for module in scopes.iter().map(|&scope| calls.module(scope)) {
            if !fused.contains(&module) {
                fused.push(module);
            }
        }
        if fused.len() == 1 {
            fused.clear();
        }
        Some(Attribution { fused: fused.into(), ..Attribution::new(call, Method::Graph, FUSED) })
    }
}

/// By the parameters that a node reads, also where the tool added something to their names.
fn by_parameter(context: &Context<'_>, id: NodeId) -> Option<Attribution> {
    let evidence = context.evidence;
    let facts = context.graph.inputs(id).filter_map(|value| {
        context.graph.constant(value)?;
        let known = context.anchors.parameter(value);
        let parameter = known.or_else(|| beginning(context, context.graph.value_name(value)))?;
        evidence.parameters.get(parameter)
    });
    let call_of = |fact: &ParameterFact| {
        let read = evidence.calls().common_of(fact.readers.iter().copied());
        read.unwrap_or_else(|| evidence.call_of(fact.owner))
    };
    let call = evidence.calls().common_of(facts.map(call_of))?;
    Some(Attribution::new(call, Method::Parameter, PARAMETER))
}

/// The parameter whose name `name` begins with: tools make `weight_quantized` and `weight_scale` from `weight`.
fn beginning(context: &Context<'_>, name: &str) -> Option<super::evidence::ParameterId> {
    let mut name = name;
    loop {
        name = name.rsplit_once('_').map(|(beginning, _)| beginning)?;
        if let Some(found) = context.evidence.parameters.find(name) {
            return Some(found);
        }
    }
}

#[cfg(test)]
mod tests {
    use modelexport_graph::onnx::{Graph, Model, Node, Tensor};
    use modelexport_io::source::Sources;

    use super::*;
    use crate::policy::Policy;
    use crate::strategies::{Evidence, Strategy, evidence};
    use crate::tag::attributions;

    fn node(name: &str, op_type: &str, inputs: &[&str], output: &str, module: &str) -> Node {
        // Module stacks in torch's form: every part of the path is a call.
        let ends = module.match_indices('.').map(|(end, _)| end).chain([module.len()]);
        let paths: Vec<&str> = [""].into_iter().chain(ends.map(|end| &module[..end])).chain(["op"]).collect();
        let classes = vec!["m.Class"; paths.len()];
        let metadata = match module {
            "-" => Vec::new(),
            _ => vec![
                ("pkg.torch.onnx.name_scopes".to_owned(), format!("{paths:?}")),
                ("pkg.torch.onnx.class_hierarchy".to_owned(), format!("{classes:?}")),
            ],
        };
        Node {
            name: name.into(),
            op_type: op_type.into(),
            inputs: inputs.iter().map(|input| (*input).into()).collect(),
            outputs: vec![output.into()],
            metadata,
            ..Node::default()
        }
    }

    fn model(nodes: Vec<Node>, initializers: &[&str]) -> Model {
        let tensor = |name: &&str| Tensor {
            name: (*name).into(),
            dims: vec![2, 2],
            data_type: 1,
            ..Tensor::default()
        };
        let initializers = initializers.iter().map(tensor).collect();
        Model { graph: Graph { nodes, initializers, ..Graph::default() }, ..Model::default() }
    }

    /// `x -> conv -> norm -> relu` in a block, then a product.
    fn original() -> Evidence {
        let nodes = vec![
            node("c", "Conv", &["x", "block.conv.weight"], "a", "block.conv"),
            node("n", "BatchNormalization", &["a"], "b", "block.norm"),
            node("r", "Relu", &["b"], "d", "block"),
            node("m", "MatMul", &["d", "fc.weight"], "y", "fc"),
        ];
        let model = model(nodes, &["block.conv.weight", "fc.weight"]);
        evidence::of_tagged(model, None).unwrap()
    }

    fn retagged(made: &Model) -> Vec<(String, Vec<String>, Method)> {
        let evidence = original();
        let policy = Policy::default();
        let graph = GraphView::new(made);
        let found = attributions(&graph, &Sources::new(), &evidence, Strategy::Retag, &policy).unwrap();
        let path = |module| evidence.modules.get(module).unwrap().path.to_string();
        let row = |found: &Attribution| {
            let fused = found.fused.iter().map(|&module| path(module)).collect();
            (path(evidence.calls().module(found.call)), fused, found.method)
        };
        found.iter().map(row).collect()
    }

    #[test]
    fn a_fused_node_stands_for_all_that_is_gone() {
        let made = model(vec![node("", "FusedConv", &["x", "w"], "d", "-")], &["w"]);
        let fused = ["block.conv", "block.norm", "block"].map(str::to_owned).to_vec();
        assert_eq!(retagged(&made), [("block".to_owned(), fused, Method::Graph)]);
    }

    #[test]
    fn a_node_that_is_as_it_was_keeps_its_module() {
        let made = model(vec![node("new name", "MatMul", &["d", "fc.weight"], "y", "-")], &["fc.weight"]);
        assert_eq!(retagged(&made), [("fc".to_owned(), vec![], Method::Graph)]);
    }

    #[test]
    fn names_parameters_and_neighbours_come_next() {
        let made = model(
            vec![
                node("r", "Relu", &["q"], "other", "-"),
                node("", "MatMulInteger", &["other", "fc.weight_quantized"], "p", "-"),
                node("", "Cast", &["p"], "s", "-"),
                node("m", "MatMul", &["s", "fc.weight"], "y", "-"),
            ],
            &["fc.weight", "fc.weight_quantized"],
        );
        let found: Vec<(String, Method)> =
            retagged(&made).into_iter().map(|(path, _, method)| (path, method)).collect();
        let expected = [
            ("block", Method::Graph),
            ("fc", Method::Parameter),
            ("fc", Method::Auxiliary),
            ("fc", Method::Graph),
        ];
        assert_eq!(found, expected.map(|(path, method)| (path.to_owned(), method)));
    }
}
