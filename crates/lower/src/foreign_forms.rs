//! What exporters other than ours make of an ATen operator: the ONNX operators, in their order.
//!
//! Strategies align the ATen operators of a model with the nodes of a graph that somebody else wrote. They need to know
//! what may stand for an operator, not how to compute it, so a row here is only a **form**: the ONNX operators that an
//! ATen operator becomes, in order. In a form
//!
//! * `A|B` is one of these operators,
//! * `A?` may well be missing,
//! * `A@3` is there only if the ATen operator reads at least three tensors (a bias, a mask),
//! * ` / ` stands between two forms: an exporter writes the one or the other. The first form whose operators all occur
//!   in the file is the one that counts.
//!
//! Operators that have no row go by their name: `aten.cumsum` may become `CumSum`.

use std::collections::HashMap;
use std::iter::repeat;
use std::sync::OnceLock;

/// How firmly an ATen operator has to show in a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trace {
    /// Leaves no node: copies, dropout at inference, results taken out of a tuple.
    None,
    /// Moves elements only. Exporters drop and merge these freely.
    Move,
    /// Computes something: vanishes only if it is folded, fused or shared.
    Compute,
}

/// A place in a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// ONNX operators, one of which stands here.
    pub operators: Vec<&'static str>,
    pub is_optional: bool,
    /// How many tensors the ATen operator must read for the token to be there.
    pub min_tensors: usize,
}

/// What stands for an ATen operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forms {
    pub trace: Trace,
    /// At least one, unless nothing stands for the operator.
    pub forms: Vec<Vec<Token>>,
}

/// Operators that leave nothing.
const NOTHING: &str = "clone contiguous detach dropout feature_dropout alpha_dropout native_dropout getitem \
    lift_fresh lift_fresh_copy lift _assert_async _assert_scalar _assert_tensor_metadata \
    sym_constrain_range sym_constrain_range_for_size conj resolve_conj resolve_neg requires_grad positive \
    _set_grad_enabled wrap_with_set_grad_enabled wrap_with_autocast view_as_real view_as_complex \
    record_stream pin_memory is_pinned rename refine_names sym_stride sym_storage_offset item \
    _local_scalar_dense empty new_empty empty_like empty_strided _enter_autocast _exit_autocast \
    _record_function_enter_new _record_function_exit sym_ite";

/// Operators that leave nothing but in graphs that spell out what they do: all of a tensor is a slice of it.
const NEXT_TO_NOTHING: &[(&str, &str)] = &[("alias", "Slice? Slice? Slice? Slice?")];

/// Operators that move elements, several with one form.
const MOVES: &[(&str, &str)] = &[
    (
        "view reshape _unsafe_view view_as reshape_as _reshape_alias unflatten flatten",
        "Reshape|Flatten|Squeeze|Unsqueeze",
    ),
    ("unsqueeze", "Unsqueeze|Reshape"),
    ("squeeze", "Squeeze|Reshape"),
    ("transpose permute t swapaxes swapdims movedim moveaxis numpy_T mT adjoint matrix_H", "Transpose"),
    ("expand expand_as broadcast_to", "ConstantOfShape? Mul? Equal? Where? Expand|Identity"),
    ("to _to_copy type_as float half double int long bool", "Cast"),
    ("unbind", "Split|SplitToSequence|Gather|Slice Squeeze?"),
    (
        "split split_with_sizes tensor_split unsafe_split hsplit vsplit",
        "Split / Slice|SplitToSequence Slice? Slice? Slice? Slice?",
    ),
    // The size of a chunk is computed, so that slices stand for it even where other splits stay splits.
    ("chunk unsafe_chunk", "Split|Slice|SplitToSequence Slice? Slice? Slice? Slice?"),
    ("real imag", "Gather|Slice Squeeze?"),
    ("_shape_as_tensor sym_size sym_numel", "Shape|Size Gather? Squeeze?"),
    (
        "full zeros ones new_zeros new_ones new_full zeros_like ones_like full_like fill zero scalar_tensor",
        "Expand|ConstantOfShape|Shape?",
    ),
];

/// Operators that compute.
const COMPUTES: &[(&str, &str)] = &[
    // Products
    ("linear", "Transpose? Gemm|MatMul Add@3"),
    ("addmm", "Gemm|MatMul Add"),
    ("mm", "MatMul|Gemm"),
    ("bmm matmul mv dot vdot linalg_matmul chain_matmul linalg_multi_dot", "MatMul|Gemm"),
    ("baddbmm addbmm addmv addr", "Mul? MatMul Mul? Add"),
    ("einsum", "Einsum / Transpose? Reshape? Transpose? Reshape? MatMul|Mul Reshape? ReduceSum? Transpose?"),
    ("outer ger", "Unsqueeze|Reshape Mul"),
    ("kron", "Mul Reshape"),
    ("bilinear", "Einsum"),
    ("_grouped_mm grouped_mm_fallback grouped_mm", "Split? MatMul Concat?"),
    // Convolutions, pools
    ("conv1d conv2d conv3d convolution _convolution conv", "Pad? Conv|ConvTranspose|ConvInteger Add?"),
    ("conv_transpose1d conv_transpose2d conv_transpose3d", "ConvTranspose"),
    (
        "max_pool1d max_pool2d max_pool3d max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices",
        "Unsqueeze? MaxPool Squeeze?",
    ),
    ("avg_pool1d avg_pool2d avg_pool3d", "Unsqueeze? Pad? AveragePool Squeeze?"),
    (
        "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d _adaptive_avg_pool2d _adaptive_avg_pool3d",
        "GlobalAveragePool|ReduceMean|AveragePool",
    ),
    ("adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d", "GlobalMaxPool|MaxPool|ReduceMax"),
    ("im2col unfold", "Pad? Gather Gather? Transpose? Reshape? / Slice? Concat?"),
    ("col2im fold", "Col2Im"),
    (
        "pad constant_pad_nd reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d \
      replication_pad3d _pad_circular",
        "Pad / Slice Concat Slice? Concat?",
    ),
    // Norms
    (
        "layer_norm native_layer_norm",
        "LayerNormalization / ReduceMean Sub Pow|Mul ReduceMean Add Sqrt Div|Reciprocal Mul Add",
    ),
    (
        "rms_norm _fused_rms_norm",
        "RMSNormalization / SimplifiedLayerNormalization / Pow|Mul ReduceMean Add Sqrt Div|Reciprocal Mul Mul@2",
    ),
    (
        "batch_norm native_batch_norm _native_batch_norm_legit _native_batch_norm_legit_no_training cudnn_batch_norm \
      _batch_norm_impl_index",
        "BatchNormalization",
    ),
    ("instance_norm", "InstanceNormalization / Reshape BatchNormalization Reshape"),
    (
        "group_norm native_group_norm",
        "GroupNormalization / Reshape InstanceNormalization Reshape? Mul@2 Add@3",
    ),
    (
        "linalg_vector_norm norm linalg_norm frobenius_norm",
        "ReduceL2|ReduceL1|ReduceMax|ReduceSum / Abs Pow ReduceSum Pow|Sqrt",
    ),
    ("weight_norm _weight_norm _weight_norm_interface norm_except_dim", "Reshape? ReduceL2 Reshape? Div Mul"),
    // Activations
    ("relu", "Relu"),
    ("relu6 hardtanh clamp clip", "Clip|Min Max?"),
    ("clamp_min clamp_max", "Clip|Max|Min"),
    ("gelu", "Gelu / Div Erf Add Mul Mul / Mul Mul Mul Add Mul Tanh Add Mul Mul?"),
    ("silu swish", "Swish / Sigmoid Mul"),
    ("mish", "Mish / Softplus Tanh Mul"),
    ("hardswish", "HardSwish / Add Clip Mul Div / HardSigmoid Mul"),
    ("hardsigmoid", "HardSigmoid / Add Clip Div"),
    ("glu", "Split Sigmoid Mul"),
    ("softmax _softmax special_softmax", "Softmax Cast?"),
    ("_safe_softmax", "Softmax IsNaN? Where?"),
    ("log_softmax _log_softmax special_log_softmax", "LogSoftmax Cast?"),
    ("log_sigmoid log_sigmoid_forward", "Sigmoid Log / Neg Softplus Neg / Abs Neg Exp Add Log Min Sub"),
    ("leaky_relu", "LeakyRelu"),
    ("prelu _prelu_kernel", "PRelu"),
    ("elu", "Elu"),
    ("selu", "Selu"),
    ("celu", "Celu"),
    ("softplus", "Mul? Softplus Div?"),
    ("softsign", "Softsign"),
    ("tanhshrink", "Tanh Sub"),
    ("threshold", "LessOrEqual|Greater Where"),
    // Attention
    (
        "scaled_dot_product_attention _scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_attention_math \
      _scaled_dot_product_efficient_attention _scaled_dot_product_flash_attention \
      _scaled_dot_product_fused_attention_overrideable _scaled_dot_product_attention_math_for_mps",
        "Attention / Transpose? Reshape? Transpose? Reshape? Sqrt? Mul|Div? Mul? Where? MatMul Mul|Div? Add? Softmax \
         IsNaN? Where? MatMul",
    ),
    (
        "_native_multi_head_attention _transformer_encoder_layer_fwd",
        "MatMul Add Reshape Transpose MatMul Softmax MatMul Transpose Reshape MatMul Add",
    ),
    // Recurrent layers
    (
        "lstm",
        "Transpose? Slice? LSTM Transpose? Reshape? Squeeze? Slice? LSTM? Transpose? Reshape? Concat? Concat?",
    ),
    (
        "gru",
        "Transpose? Slice? GRU Transpose? Reshape? Squeeze? Slice? GRU? Transpose? Reshape? Concat? Concat?",
    ),
    (
        "rnn_tanh rnn_relu",
        "Transpose? Slice? RNN Transpose? Reshape? Squeeze? Slice? RNN? Transpose? Concat?",
    ),
    // Arithmetic
    ("add iadd", "Mul? Add|Or"),
    ("sub isub subtract", "Mul? Sub"),
    ("rsub", "Sub"),
    ("mul imul multiply", "Mul|And"),
    ("div divide true_divide truediv", "Cast? Div Floor? Trunc?"),
    ("floor_divide floordiv", "Div|Floor Floor? Sub? Where?"),
    ("remainder fmod mod", "Mod / Div Floor Mul Sub"),
    ("pow", "Pow|Mul|Sqrt|Reciprocal"),
    ("square", "Mul|Pow"),
    ("rsqrt", "Sqrt Reciprocal|Div"),
    ("addcmul", "Mul Mul? Add"),
    ("addcdiv", "Div Mul? Add"),
    ("lerp", "Sub Mul Add"),
    ("neg", "Neg"),
    ("maximum", "Max|Or"),
    ("minimum", "Min|And"),
    ("sign sgn", "Sign"),
    ("exp2", "Pow"),
    ("expm1", "Exp Sub"),
    ("log1p", "Add Log"),
    ("log2 log10", "Log Div|Mul"),
    ("trunc fix", "Abs Floor Sign Mul"),
    ("frac", "Floor|Abs Sub"),
    ("logaddexp", "Exp Exp Add Log"),
    ("logsumexp", "ReduceLogSumExp"),
    ("atan2", "Div Atan"),
    ("hypot", "Mul Mul Add Sqrt"),
    ("sinc", "Mul Sin Div Where"),
    ("erfinv", "Log"),
    ("fmax", "Max"),
    ("fmin", "Min"),
    ("absolute", "Abs"),
    ("negative", "Neg"),
    ("expit", "Sigmoid"),
    ("erfc", "Erf Sub"),
    ("xlogy", "Log Mul Where?"),
    ("logit", "Sub Div Log"),
    ("float_power", "Cast? Pow"),
    ("deg2rad rad2deg", "Mul"),
    ("nan_to_num", "IsNaN Where IsInf? Where?"),
    ("softshrink hardshrink", "Shrink / Greater|Less Where"),
    ("inner tensordot", "Transpose? Reshape? MatMul|Gemm|Einsum Reshape?"),
    ("cross linalg_cross", "Gather|Slice Mul Mul Sub"),
    ("cosine_similarity", "Mul ReduceSum|ReduceL2 Mul? Div"),
    ("trace", "Mul ReduceSum"),
    ("mse_loss", "Sub Mul|Pow ReduceMean?"),
    ("l1_loss smooth_l1_loss huber_loss", "Sub Abs ReduceMean?"),
    (
        "cross_entropy_loss nll_loss nll_loss_nd nll_loss_forward",
        "LogSoftmax? SoftmaxCrossEntropyLoss|NegativeLogLikelihoodLoss|GatherElements",
    ),
    ("binary_cross_entropy binary_cross_entropy_with_logits kl_div", "Log Mul Add? ReduceMean?"),
    // Comparison, logic
    ("eq", "Equal"),
    ("ne not_equal", "Equal Not"),
    ("lt less", "Less|Not"),
    ("gt greater", "Greater|Not"),
    ("le less_equal", "LessOrEqual|Greater Not?"),
    ("ge greater_equal", "GreaterOrEqual|Less Not?"),
    ("logical_and bitwise_and and __and__ iand __iand__", "And|BitwiseAnd|Mul"),
    ("logical_or bitwise_or or __or__ ior __ior__", "Or|BitwiseOr"),
    ("logical_xor bitwise_xor __xor__ xor", "Xor|BitwiseXor"),
    ("logical_not bitwise_not invert", "Not|BitwiseNot"),
    ("isnan", "IsNaN"),
    ("isinf", "IsInf"),
    ("isfinite", "IsInf IsNaN Or Not"),
    ("where", "Where"),
    ("masked_fill", "Cast? Where"),
    ("masked_scatter", "Expand? NonZero ScatterND"),
    ("masked_select", "NonZero GatherND / Compress"),
    ("isin", "Equal ReduceMax|ReduceSum"),
    // Reductions
    ("sum", "Cast? ReduceSum"),
    ("mean", "ReduceMean"),
    ("nanmean", "IsNaN Where ReduceMean"),
    ("amax", "ReduceMax"),
    ("amin", "ReduceMin"),
    ("max", "ReduceMax|Max ArgMax?"),
    ("min", "ReduceMin|Min ArgMin?"),
    ("prod", "ReduceProd"),
    ("all _is_all_true", "Cast? ReduceMin|ReduceAll Cast?"),
    ("any _is_any_true", "Cast? ReduceMax|ReduceAny Cast?"),
    ("argmax", "ArgMax"),
    ("argmin", "ArgMin"),
    ("var", "ReduceMean Sub Mul|Pow ReduceMean|ReduceSum Mul? Div?"),
    ("std", "ReduceMean Sub Mul|Pow ReduceMean|ReduceSum Mul? Div? Sqrt"),
    ("var_mean std_mean", "ReduceMean Sub Mul|Pow ReduceMean|ReduceSum Mul? Div? Sqrt?"),
    ("cumsum", "CumSum"),
    ("cumprod", "Log CumSum Exp / Scan|Loop"),
    // Order
    ("sort argsort topk msort kthvalue", "TopK"),
    ("median", "TopK Gather"),
    ("unique _unique2 unique_consecutive", "Unique"),
    ("bucketize searchsorted", "Unsqueeze? Less|LessOrEqual|Greater|GreaterOrEqual Cast? ReduceSum"),
    ("histc bincount", "Floor|OneHot|ScatterElements ReduceSum?"),
    // Selection, joining
    ("embedding", "Gather"),
    ("embedding_bag _embedding_bag", "Gather ReduceSum|ReduceMean|Loop"),
    ("select", "Gather|Slice Squeeze?"),
    ("slice narrow", "Slice|Gather"),
    ("diff", "Slice Slice Sub"),
    ("index _unsafe_index", "Transpose? Unsqueeze? Concat? GatherND|Gather Transpose?"),
    ("index_select", "Gather"),
    ("gather take_along_dim", "GatherElements"),
    ("take", "Reshape Gather"),
    ("cat concat concatenate hstack vstack dstack column_stack", "Concat"),
    ("stack", "Unsqueeze? Unsqueeze? Concat"),
    ("index_put _index_put_impl _unsafe_index_put", "Expand? Unsqueeze? Concat? ScatterND|Where"),
    ("index_copy index_add index_fill", "Expand? ScatterElements|ScatterND"),
    ("scatter scatter_add scatter_reduce", "Expand? ScatterElements"),
    ("slice_scatter select_scatter", "Slice? Transpose? ScatterND|ScatterElements|Concat|Where Transpose?"),
    ("copy", "Expand|Where|Cast"),
    ("repeat tile", "Unsqueeze? Expand? Tile|Expand Reshape?"),
    ("repeat_interleave", "Unsqueeze? Tile|Expand|Gather Reshape?"),
    ("flip fliplr flipud", "Slice|Gather"),
    ("roll", "Slice Slice Concat Slice? Slice? Concat? Slice? Slice? Concat?"),
    ("rot90", "Slice Transpose"),
    ("tril triu", "Trilu"),
    ("diagonal diag diag_embed", "Gather|Slice|GatherElements|Mul"),
    ("meshgrid", "Reshape? Expand Reshape? Expand"),
    ("one_hot", "OneHot"),
    ("nonzero nonzero_numpy argwhere", "NonZero Transpose"),
    // Sources
    ("arange", "Range"),
    ("linspace logspace", "Range Mul? Add?"),
    ("eye", "EyeLike"),
    ("rand rand_like uniform", "RandomUniform|RandomUniformLike"),
    ("randn randn_like normal", "RandomNormal|RandomNormalLike"),
    ("randint randint_like", "RandomUniform|RandomUniformLike Floor?"),
    ("bernoulli", "Bernoulli|RandomUniformLike"),
    ("multinomial", "Multinomial"),
    // Images
    (
        "upsample_nearest1d upsample_nearest2d upsample_nearest3d _upsample_nearest_exact1d _upsample_nearest_exact2d \
      upsample_linear1d upsample_bilinear2d upsample_trilinear3d upsample_bicubic2d _upsample_bicubic2d_aa \
      _upsample_bilinear2d_aa interpolate",
        "Concat? Resize|Upsample",
    ),
    ("grid_sampler grid_sampler_2d grid_sampler_3d", "GridSample"),
    ("affine_grid_generator", "AffineGrid"),
    (
        "pixel_shuffle pixel_unshuffle channel_shuffle",
        "DepthToSpace|SpaceToDepth / Reshape Transpose Reshape",
    ),
    // Complex numbers, spectra
    (
        "fft_fft fft_fftn fft_fft2 fft_ifft fft_ifftn fft_ifft2 fft_rfft fft_irfft fft_rfftn fft_irfftn fft_rfft2 \
      fft_irfft2 _fft_r2c _fft_c2c _fft_c2r",
        "Unsqueeze? Transpose? DFT Transpose? DFT? Transpose? Slice?",
    ),
    ("stft", "STFT"),
    ("polar complex", "Cos? Sin? Mul? Mul? Unsqueeze? Unsqueeze? Concat"),
    // Control flow
    ("cond", "If"),
    ("while_loop scan map map_impl", "Loop|Scan"),
    ("nms", "NonMaxSuppression"),
    ("roi_align", "RoiAlign"),
    ("deform_conv2d", "DeformConv"),
    ("cdist _cdist_forward pairwise_distance _euclidean_dist", "Sub Pow|Mul|Abs ReduceSum Sqrt|Pow"),
];

/// Operators that scale and shift, which exporters merge into the product or convolution before them.
const SCALES: &str = "batch_norm native_batch_norm _native_batch_norm_legit _native_batch_norm_legit_no_training \
    cudnn_batch_norm _batch_norm_impl_index add sub mul div";

/// Operators into which a scale can be merged.
const PRODUCTS: &str = "linear addmm mm bmm matmul baddbmm conv1d conv2d conv3d convolution _convolution \
    conv_transpose1d conv_transpose2d conv_transpose3d";

/// Operators that work group by group.
const REPEATED: &str = "_grouped_mm grouped_mm_fallback grouped_mm";

/// Operators that look data up in a table.
const LOOKUPS: &str = "embedding embedding_bag index_select index gather";

/// Operators whose result is what they read, if it has the same type and size.
const KEEPERS: &str = "view reshape _unsafe_view view_as reshape_as _reshape_alias unflatten flatten squeeze expand \
    expand_as broadcast_to to _to_copy type_as pad constant_pad_nd slice narrow repeat tile cat concat concatenate";

/// Operators that take only type and size from the tensors they read, or from all but the first.
const SIZE_READERS: &str = "new_zeros new_ones new_full new_empty zeros_like ones_like full_like empty_like sym_size \
    sym_numel sym_stride _shape_as_tensor zero fill";
const SIZE_READERS_BUT_FIRST: &str = "type_as expand_as view_as reshape_as";

/// How many of the tensors that an operator reads matter by their content, the first ones.
pub fn tensors_read(target: &str, given: usize) -> usize {
    let has = |names: &str| names.split_whitespace().any(|name| name == key(target));
    match () {
        () if has(SIZE_READERS) => 0,
        () if has(SIZE_READERS_BUT_FIRST) => given.min(1),
        () => given,
    }
}

/// Whether an operator does nothing when its result has the type and size of what it reads.
pub fn keeps_same_size(target: &str) -> bool {
    KEEPERS.split_whitespace().any(|name| name == key(target))
}

/// Whether exporters may write one node for an operator `first` and the operator `then` that reads its result.
pub fn is_merged(first: &str, then: &str) -> bool {
    is_product(first) && is_scale(then)
}

/// Whether a scale can be merged into an operator.
pub fn is_product(target: &str) -> bool {
    PRODUCTS.split_whitespace().any(|name| name == key(target))
}

/// Whether an operator looks data up in a table.
pub fn is_lookup(target: &str) -> bool {
    LOOKUPS.split_whitespace().any(|name| name == key(target))
}

/// Whether an operator becomes its form as often as there are groups in its data.
pub fn is_repeated(target: &str) -> bool {
    REPEATED.split_whitespace().any(|name| name == key(target))
}

/// Whether an operator scales and shifts, so that exporters may merge it into the product before it.
pub fn is_scale(target: &str) -> bool {
    SCALES.split_whitespace().any(|name| name == key(target))
}

/// The name of an operator without namespace, overload and the mark of in-place operators:
/// `aten.add_.Tensor` is `add`.
pub fn key(target: &str) -> &str {
    let mut parts = target.split('.');
    let first = parts.next().unwrap_or(target);
    let name = parts.next().unwrap_or(first);
    match name.strip_suffix('_') {
        Some(stem) if !stem.is_empty() && !stem.ends_with('_') => stem,
        _ => name,
    }
}

/// What may stand for the ATen operator `target` (`aten.linear.default`); `None` for operators nothing is known of.
pub fn find(target: &str) -> Option<&'static Forms> {
    let name = key(target);
    let plain = || name.strip_suffix("_copy").or_else(|| name.strip_prefix("special_"));
    table().get(name).or_else(|| table().get(plain()?))
}

/// Whether an ONNX operator goes by the name of an ATen operator: `CumSum` and `aten.cumsum`.
pub fn is_namesake(target: &str, operator: &str) -> bool {
    let letters = |text: &str| -> Vec<u8> {
        text.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase()).collect()
    };
    letters(key(target)) == letters(operator)
}

fn table() -> &'static HashMap<&'static str, Forms> {
    static TABLE: OnceLock<HashMap<&'static str, Forms>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = HashMap::new();
        let rows = [(NEXT_TO_NOTHING, Trace::None), (MOVES, Trace::Move), (COMPUTES, Trace::Compute)];
        for ((names, form), trace) in rows.iter().flat_map(|(rows, trace)| rows.iter().zip(repeat(*trace))) {
            let forms = Forms { trace, forms: form.split(" / ").map(parse).collect() };
            table.extend(names.split_whitespace().map(|name| (name, forms.clone())));
        }
        let nothing = Forms { trace: Trace::None, forms: Vec::new() };
        table.extend(NOTHING.split_whitespace().map(|name| (name, nothing.clone())));
        table
    })
}

fn parse(form: &'static str) -> Vec<Token> {
    form.split_whitespace().map(parse_token).collect()
}

fn parse_token(text: &'static str) -> Token {
    let (text, is_optional) = match text.strip_suffix('?') {
        Some(stem) => (stem, true),
        None => (text, false),
    };
    let (text, min_tensors) = match text.split_once('@') {
        Some((stem, count)) => (stem, count.parse().unwrap_or(0)),
        None => (text, 0),
    };
    Token { operators: text.split('|').collect(), is_optional, min_tensors }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_no_namespace_overload_or_mark_of_mutation() {
        assert_eq!(key("aten.add_.Tensor"), "add");
        assert_eq!(key("aten.linear.default"), "linear");
        assert_eq!(key("aten.__and__.Tensor"), "__and__");
        assert_eq!(key("_operator.getitem"), "getitem");
        assert_eq!(key("aten._softmax.default"), "_softmax");
    }

    #[test]
    fn forms_are_read_as_they_are_written() {
        let linear = find("aten.linear.default").unwrap();
        assert_eq!(linear.trace, Trace::Compute);
        let [form] = linear.forms.as_slice() else { panic!("one form") };
        assert_eq!(form[0], Token { operators: vec!["Transpose"], is_optional: true, min_tensors: 0 });
        assert_eq!(form[1], Token { operators: vec!["Gemm", "MatMul"], is_optional: false, min_tensors: 0 });
        assert_eq!(form[2], Token { operators: vec!["Add"], is_optional: false, min_tensors: 3 });
        assert_eq!(find("aten.gelu.default").unwrap().forms.len(), 3);
        assert_eq!(find("aten.dropout.default").unwrap().trace, Trace::None);
        assert_eq!(find("mylib.unheard_of.default"), None);
    }

    #[test]
    fn every_operator_has_one_row() {
        let rows = [NEXT_TO_NOTHING, MOVES, COMPUTES].into_iter().flatten().map(|row| row.0).chain([NOTHING]);
        let mut names: Vec<&str> = rows.flat_map(str::split_whitespace).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn copies_and_special_functions_are_known_by_their_plain_names() {
        assert_eq!(find("aten.view_copy.default"), find("aten.view.default"));
        assert_eq!(find("aten.special_expm1.default"), find("aten.expm1.default"));
        assert_eq!(find("aten._to_copy.default").map(|forms| forms.trace), Some(Trace::Move));
    }

    #[test]
    fn namesakes_differ_in_case_and_underscores_only() {
        assert!(is_namesake("aten.cumsum.default", "CumSum"));
        assert!(is_namesake("aten.log_softmax.int", "LogSoftmax"));
        assert!(!is_namesake("aten.gather.default", "GatherElements"));
    }
}
