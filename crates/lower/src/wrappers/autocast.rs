//! Autocast: inside its region some operators run in a lower precision and some in `float32`, whatever their inputs
//! are. The program has the inputs before the cast and the results after it, so that the type of a result tells what
//! its float inputs are cast to.

use modelexport_graph::aten::{Arg, Graph, NamedArg, Node, TensorMeta, ValueId, ValueKind};
use modelexport_graph::{DType, Method, Name, ScopeId};

/// Whether `node` is an autocast region that is switched on: `(device, dtype, enabled, cache, graph, …)`.
pub(super) fn is_on(node: &Node) -> bool {
    &*node.target == "higher_order.wrap_with_autocast"
        && matches!(node.args.get(2).map(|arg| &arg.arg), Some(Arg::Bool(true)))
}

/// Types that autocast takes in and gives out.
fn is_cast(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16 | DType::F32)
}

/// Makes the casts of a region visible.
pub(super) fn cast(graph: &mut Graph) {
    let mut nodes = Vec::with_capacity(graph.nodes.len());
    for mut node in std::mem::take(&mut graph.nodes) {
        if let Some(dtype) = result_dtype(graph, &node) {
            for arg in &mut node.args {
                match &mut arg.arg {
                    Arg::Tensor(id) => {
                        *id = converted(
                            graph,
                            *id,
                            dtype,
                            (&node.name, node.scope, node.method, node.trace),
                            &mut nodes,
                        );
                    }
                    Arg::Tensors(ids) => {
                        for id in ids {
                            let origin = (&node.name, node.scope, node.method, node.trace);
                            *id = converted(graph, *id, dtype, origin, &mut nodes);
                        }
                    }
                    _ => {}
                }
            }
        }
        nodes.push(node);
    }
    graph.nodes = nodes;
}

/// The type that the inputs of `node` are cast to, if autocast concerns it.
fn result_dtype(graph: &Graph, node: &Node) -> Option<DType> {
    let name = node.target.strip_prefix("aten.")?.split('.').next()?;
    if !CAST.contains(&name) {
        return None;
    }
    let dtype = match node.outputs.first()? {
        Arg::Tensor(id) => graph.tensor(*id)?.dtype,
        Arg::Tensors(ids) => graph.tensor(*ids.first()?)?.dtype,
        _ => return None,
    };
    is_cast(dtype).then_some(dtype)
}

type Origin<'a> = (&'a Name, Option<ScopeId>, Method, Option<u32>);

fn converted(
    graph: &mut Graph,
    id: ValueId,
    dtype: DType,
    origin: Origin<'_>,
    nodes: &mut Vec<Node>,
) -> ValueId {
    let Some(meta) = graph.tensor(id) else { return id };
    if !is_cast(meta.dtype) || meta.dtype == dtype {
        return id;
    }
    let meta = TensorMeta { dtype, ..meta.clone() };
    let (name, scope, method, trace) = origin;
    // FX names are identifiers, so that a dot makes a name that nothing else has.
    let name: Name = format!("{name}.cast.{}", graph.values.len()).into();
    let result = graph.add_value(name.clone(), ValueKind::Tensor(meta.into()));
    let named = |name: &str, arg: Arg, is_keyword: bool| NamedArg { name: name.into(), arg, is_keyword };
    nodes.push(Node {
        name,
        target: "aten._to_copy.default".into(),
        args: vec![named("self", Arg::Tensor(id), false), named("dtype", Arg::DType(dtype), true)],
        outputs: vec![Arg::Tensor(result)],
        scope,
        method,
        trace,
    });
    result
}

/// Operators that PyTorch's autocast runs in another type than their inputs have, on any device.
const CAST: &[&str] = &[
    // In the lower precision.
    "_convolution",
    "addbmm",
    "addmm",
    "addmv",
    "addr",
    "baddbmm",
    "bmm",
    "chain_matmul",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "convolution",
    "einsum",
    "gru_cell",
    "linalg_multi_dot",
    "linalg_vecdot",
    "linear",
    "lstm_cell",
    "matmul",
    "mm",
    "mv",
    "prelu",
    "rnn_relu_cell",
    "rnn_tanh_cell",
    "scaled_dot_product_attention",
    // In float32.
    "_upsample_bicubic2d_aa",
    "_upsample_bilinear2d_aa",
    "_upsample_nearest_exact1d",
    "_upsample_nearest_exact2d",
    "_upsample_nearest_exact3d",
    "acos",
    "asin",
    "avg_pool3d",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cdist",
    "cosh",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cumprod",
    "cumsum",
    "dist",
    "erfinv",
    "exp",
    "expm1",
    "grid_sampler",
    "group_norm",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "linalg_matrix_norm",
    "linalg_vector_norm",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_softmax",
    "logsumexp",
    "margin_ranking_loss",
    "mse_loss",
    "native_layer_norm",
    "nll_loss",
    "nll_loss2d",
    "norm",
    "pdist",
    "polar",
    "pow",
    "prod",
    "quantile",
    "reciprocal",
    "renorm",
    "rms_norm",
    "rsqrt",
    "sinh",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softplus",
    "stft",
    "sum",
    "tan",
    "trace",
    "triplet_margin_loss",
    "upsample_bicubic2d",
    "upsample_bilinear2d",
    "upsample_linear1d",
    "upsample_nearest1d",
    "upsample_nearest2d",
    "upsample_nearest3d",
    "upsample_trilinear3d",
    "view_as_complex",
    // In the widest type of their inputs.
    "addcdiv",
    "addcmul",
    "atan2",
    "bilinear",
    "cat",
    "cross",
    "dot",
    "index_put",
    "scatter_add",
    "stack",
    "tensordot",
    "vdot",
];
