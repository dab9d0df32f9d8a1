//! Norms that update running statistics while they train. Their results do not depend on the update, which an
//! exported model does not make.

use modelexport_graph::aten::{Arg, Node, ValueId};

use super::functional_variant::aten_name;

/// The running statistics that `node` changes.
pub(super) fn updated_by(node: &Node) -> Option<Vec<ValueId>> {
    let switch = match aten_name(&node.target) {
        "batch_norm"
        | "cudnn_batch_norm"
        | "native_batch_norm"
        | "_native_batch_norm_legit"
        | "miopen_batch_norm" => "training",
        "instance_norm" => "use_input_stats",
        "_batch_norm_with_update" => "",
        _ => return None,
    };
    if !switch.is_empty() && !matches!(node.arg(switch), Some(Arg::Bool(true))) {
        return None;
    }
    let running = ["running_mean", "running_var"].into_iter().filter_map(|name| match node.arg(name) {
        Some(Arg::Tensor(id)) => Some(*id),
        _ => None,
    });
    let running: Vec<ValueId> = running.collect();
    (!running.is_empty()).then_some(running)
}
