//! The element type that an in-place operator computes in, which is that of its functional variant. What it writes has
//! the type of the tensor that is written.

use modelexport_graph::DType;
use modelexport_graph::aten::{Arg, Graph, Node};

use super::functional_variant::aten_name;
use crate::promotion::{Operand, ScalarKind, result_type};

/// The type of the result of the functional variant of `node`, which changes a tensor of type `own`.
pub(super) fn computed_dtype(graph: &Graph, node: &Node, own: DType) -> DType {
    match aten_name(&node.target) {
        "eq_" | "ne_" | "not_equal_" | "lt_" | "less_" | "le_" | "less_equal_" | "gt_" | "greater_"
        | "ge_" | "greater_equal_" | "logical_and_" | "logical_or_" | "logical_xor_" | "logical_not_" => {
            DType::Bool
        }
        "add_" | "sub_" | "subtract_" | "mul_" | "multiply_" | "div_" | "divide_" | "true_divide_"
        | "floor_divide_" | "remainder_" | "fmod_" | "pow_" | "atan2_" | "arctan2_" | "hypot_" | "xlogy_"
        | "copysign_" | "nextafter_" | "addcmul_" | "addcdiv_" | "clamp_" | "clip_" | "clamp_min_"
        | "clamp_max_" | "bitwise_and_" | "bitwise_or_" | "bitwise_xor_" | "gcd_" | "lcm_" | "__iand__"
        | "__ior__" | "__ixor__" => promoted(graph, node),
        _ => own,
    }
}

fn promoted(graph: &Graph, node: &Node) -> DType {
    // Options that are numbers too, but take no part in promotion.
    let operands = node.args.iter().filter(|arg| !matches!(&*arg.name, "alpha" | "value" | "rounding_mode"));
    let operands: Vec<Operand> = operands
        .filter_map(|arg| match &arg.arg {
            Arg::Tensor(id) => {
                let meta = graph.tensor(*id)?;
                Some(Operand::Tensor { dtype: meta.dtype, rank: meta.sizes.len() })
            }
            Arg::Bool(_) | Arg::SymBool(_) => Some(Operand::Scalar(ScalarKind::Bool)),
            Arg::Int(_) | Arg::SymInt(_) => Some(Operand::Scalar(ScalarKind::Int)),
            Arg::Float(_) | Arg::SymFloat(_) => Some(Operand::Scalar(ScalarKind::Float)),
            _ => None,
        })
        .collect();
    result_type(&operands)
}
