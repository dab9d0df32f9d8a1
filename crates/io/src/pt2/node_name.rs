//! Names of nodes. Archives record them since schema 8.15. For older archives they are reconstructed as FX assigns them.

use modelexport_graph::Name;
use modelexport_graph::hash::{HashMap, HashSet};

use super::argument::{Argument, SymBoolArgument, SymFloatArgument, SymIntArgument};
use super::error::Problem;
use super::json::{Pieces, Text};
use super::schema::Node;
use super::values::{Interner, Values};

/// One name for each node, all different.
pub(super) fn node_names(
    nodes: &Pieces<Node<'_>>,
    values: &Values,
    shared: &mut Interner,
) -> Result<Vec<Name>, Problem> {
    let mut taken = HashSet::with_capacity_and_hasher(nodes.len(), Default::default());
    let mut names = Vec::with_capacity(nodes.len());
    for node in nodes.iter() {
        let name = known_name(node).map(|name| shared.name(name));
        if let Some(name) = &name
            && !taken.insert(address(name))
        {
            return Err(Problem::DuplicateNode { node: name.to_string() });
        }
        names.push(name);
    }
    let mut counters: HashMap<&str, u32> = HashMap::default();
    Ok(nodes
        .iter()
        .zip(names)
        .map(|(node, name)| {
            name.unwrap_or_else(|| {
                let operator = operator_name(&node.target);
                let counter = counters.entry(operator).or_insert(0);
                loop {
                    let candidate = match *counter {
                        0 => shared.name(operator),
                        count => shared.name(&format!("{operator}_{count}")),
                    };
                    *counter += 1;
                    if !values.has(&candidate) && taken.insert(address(&candidate)) {
                        return candidate;
                    }
                }
            })
        })
        .collect())
}

/// Tells shared names apart: equal ones are in one place.
fn address(name: &Name) -> usize {
    name.as_ptr().addr()
}

/// The name that the archive has for a node, or that follows from its results.
pub(super) fn known_name<'r>(node: &'r Node<'_>) -> Option<&'r str> {
    node.name.as_deref().or_else(|| name_in_results(node))
}

/// A node with one result is called like it; of several results, one that nobody uses is `<node>_unused_<index>`.
fn name_in_results<'r>(node: &'r Node<'_>) -> Option<&'r str> {
    let results = &*node.outputs;
    if let [result] = results
        && node.is_hop_single_tensor_return != Some(false)
        && let Some(name) = single_name(result)
    {
        return Some(name);
    }
    results.iter().enumerate().find_map(|(index, result)| match result {
        Argument::Tensor(tensor) => unused_name(&tensor.name, index),
        Argument::Tensors(list) if results.len() == 1 => {
            list.iter().enumerate().find_map(|(index, tensor)| unused_name(&tensor.name, index))
        }
        _ => None,
    })
}

fn single_name<'r>(result: &'r Argument<'_>) -> Option<&'r str> {
    let name: &Text<'_> = match result {
        Argument::Tensor(tensor) => &tensor.name,
        Argument::SymInt(SymIntArgument::Name(name))
        | Argument::SymFloat(SymFloatArgument::Name(name))
        | Argument::SymBool(SymBoolArgument::Name(name)) => name,
        _ => return None,
    };
    Some(name)
}

fn unused_name(name: &str, index: usize) -> Option<&str> {
    name.strip_suffix(&index.to_string())?.strip_suffix("_unused_")
}

/// `topk` of `torch.ops.aten.topk.default`, `cond` of `torch.ops.higher_order.cond`.
fn operator_name(target: &str) -> &str {
    let plain = target.strip_prefix("torch.ops.").unwrap_or(target);
    plain.split('.').nth(1).filter(|name| !name.is_empty()).unwrap_or(plain)
}
