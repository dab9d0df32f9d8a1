//! Lets a convolution pad its input itself, where a `Pad` by zeros before it does that. The convolution keeps its
//! origin; the module of the `Pad` is named among those that the node stands for. Makes no nodes.

use std::collections::HashMap;

use modelexport_graph::Scopes;

use super::pads::is_pad_by_zeros;
use super::uses::Uses;
use crate::ir::{Attr, Graph, Ir, Node, ValueId};

/// True if a convolution took over a `Pad`.
pub fn run(ir: &mut Ir, scopes: &Scopes) -> bool {
    let uses = Uses::of(ir);
    let mut graph = std::mem::take(&mut ir.graph);
    let changed = merge(&mut graph, ir, scopes, &uses);
    ir.graph = graph;
    changed
}

fn merge(graph: &mut Graph, ir: &Ir, scopes: &Scopes, uses: &Uses) -> bool {
    let mut changed = false;
    let mut pads: HashMap<ValueId, Node> = HashMap::new();
    for node in &mut graph.nodes {
        for subgraph in node.subgraphs_mut() {
            changed |= merge(subgraph, ir, scopes, uses);
        }
        let (Some(from), Some(to)) = (node.inputs.first().copied().flatten(), node.outputs.first()) else {
            continue;
        };
        if is_pad_by_zeros(node, ir) && uses.count(*to) == 1 {
            pads.insert(*to, node.clone());
        } else if node.op == "Conv"
            && node.domain.is_empty()
            && let Some(pad) = pads.get(&from)
            && let Some(padding) = joined(node, pad, ir)
        {
            node.inputs[0] = pad.inputs.first().copied().flatten();
            node.attributes.retain(|(name, _)| name != "pads" && name != "auto_pad");
            node.attributes.push(("pads".into(), Attr::Ints(padding)));
            let [own, absorbed] = [node.origin.scope, pad.origin.scope].map(|scope| scopes.module(scope));
            node.origin.stands_for(own, absorbed);
            changed = true;
        }
    }
    changed
}

/// The padding of both, if the `Pad` adds zeros to spatial axes only.
fn joined(convolution: &Node, pad: &Node, ir: &Ir) -> Option<Vec<i64>> {
    let rank = ir.shape(pad.inputs.first().copied().flatten()?)?.len();
    let added = zeros_added(pad, rank, ir)?;
    let (before, after) = added.split_at_checked(rank)?;
    let (before, after) = (before.strip_prefix(&[0, 0])?, after.strip_prefix(&[0, 0])?);
    let spatial = before.len();
    if matches!(convolution.attribute("auto_pad"), Some(Attr::Str(mode)) if mode != "NOTSET") {
        return None;
    }
    let own = match convolution.attribute("pads") {
        Some(Attr::Ints(pads)) => pads.clone(),
        _ => vec![0; 2 * spatial],
    };
    let more = before.iter().chain(after);
    let joined: Vec<i64> = own.iter().zip(more.clone()).map(|(own, more)| own + more).collect();
    (own.len() == 2 * spatial && more.into_iter().all(|&more| more >= 0)).then_some(joined)
}

/// What a `Pad` by zeros adds before and after each axis.
fn zeros_added(pad: &Node, rank: usize, ir: &Ir) -> Option<Vec<i64>> {
    let input = |i: usize| pad.inputs.get(i).copied().flatten();
    let pads = ir.literal(input(1)?)?.as_ints()?;
    let axes = match input(3) {
        Some(axes) => ir.literal(axes)?.as_ints()?,
        None => (0..rank as i64).collect(),
    };
    let (before, after) = pads.split_at_checked(axes.len())?;
    let mut added = vec![0; 2 * rank];
    for ((&axis, &before), &after) in axes.iter().zip(before).zip(after) {
        let axis = usize::try_from(if axis < 0 { axis + rank as i64 } else { axis }).ok()?;
        *added.get_mut(axis)? = before;
        *added.get_mut(axis + rank)? = after;
    }
    Some(added)
}

#[cfg(test)]
mod tests {
    use modelexport_graph::aten::Arg;

    use crate::test_program::{TestProgram, tensor};
    use crate::{Options, lower};

    /// The nodes of a convolution of an image that was padded by `value`.
    fn operators(pads: &[i64], value: f64) -> Vec<String> {
        let mut program = TestProgram::new();
        let x = program.input("x", tensor(&[1, 1, 4, 4]));
        let weight = program.input("w", tensor(&[1, 1, 1, 1]));
        let grown: Vec<i64> = [4 + pads[2] + pads[3], 4 + pads[0] + pads[1]].to_vec();
        let sizes = [1, 1, grown[0], grown[1]];
        let args = [
            ("self", Arg::Tensor(x)),
            ("pad", Arg::Ints(pads.to_vec())),
            ("mode", Arg::Str("constant".into())),
            ("value", Arg::Float(value)),
        ];
        let padded = program.node("aten.pad.default", &args, tensor(&sizes));
        let args = [
            ("input", Arg::Tensor(padded)),
            ("weight", Arg::Tensor(weight)),
            ("bias", Arg::None),
            ("stride", Arg::Ints(vec![1, 1])),
            ("padding", Arg::Ints(vec![0, 0])),
            ("dilation", Arg::Ints(vec![1, 1])),
            ("groups", Arg::Int(1)),
        ];
        let result = program.node("aten.conv2d.default", &args, tensor(&sizes));
        let model = lower(program.outputs(&[result]), &Options::default(), &|_| None).unwrap().0;
        let pads = |node: &modelexport_graph::onnx::Node| {
            let pads = node.attributes.iter().find(|attribute| &*attribute.name == "pads");
            pads.map_or_else(String::new, |pads| format!("{:?}", pads.value))
        };
        model
            .graph
            .nodes
            .iter()
            .map(|node| format!("{} {}", node.op_type, pads(node)).trim().to_owned())
            .collect()
    }

    #[test]
    fn zeros_around_the_image_become_padding_of_the_convolution() {
        assert_eq!(operators(&[0, 1, 2, 3], 0.0), ["Conv Ints([2, 0, 3, 1])"]);
    }

    #[test]
    fn other_numbers_and_cuts_stay() {
        assert_eq!(operators(&[0, 1, 2, 3], 1.0).len(), 2);
        assert_eq!(operators(&[0, -1, 0, 0], 0.0).len(), 2);
    }
}
