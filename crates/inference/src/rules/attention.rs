//! Attention: ONNX's, and the operators of onnxruntime that exporters fuse it into.

use modelexport_graph::DType;

use super::Element::{By, Input};
use super::{Row, row, unknown};
use crate::operation::Operation;
use crate::size::{Dims, Size, product};

pub(super) const ROWS: &[Row] = &[
    row(
        "Attention",
        &[(Input(0), output), (Input(1), present_key), (Input(2), present_value), (Input(0), scores)],
    ),
    row("LinearAttention", &[(Input(0), linear), (By(cache_type::<3>), linear_state)]),
];

pub(super) const MICROSOFT: &[Row] = &[
    row("Attention", &[(Input(0), output), (Input(0), present_both)]),
    row("QAttention", &[(Input(2), output), (By(cache_type::<8>), unknown)]),
    row(
        "MultiHeadAttention",
        &[(Input(0), output), (Input(0), present_key), (Input(0), present_value), (Input(0), unknown)],
    ),
    row(
        "GroupQueryAttention SparseAttention",
        &[
            (Input(0), output),
            (By(cache_type::<3>), present_key),
            (By(cache_type::<4>), present_value),
            (Input(0), unknown),
        ],
    ),
];

/// The sizes of an attention.
#[derive(Default)]
pub(crate) struct Sizes {
    pub batch: Size,
    pub heads: Size,
    pub queries: Size,
    /// Those before the operation included.
    pub keys: Size,
    pub head_size: Size,
    pub value_size: Size,
    /// Multiply-adds of the product that query, key and value come from.
    pub projection: Size,
    key_heads: Size,
    /// Keys that are handed to the next call.
    cached: Size,
}

impl Sizes {
    pub(crate) fn of(operation: &Operation<'_>) -> Option<Sizes> {
        let sizes = match (operation.domain, operation.op_type, operation.rank(0)?) {
            ("", _, 4) => heads_apart(operation),
            ("", _, 3) => heads_together(operation),
            ("", ..) => return None,
            (_, "Attention" | "QAttention", _) => projected(operation),
            (_, "MultiHeadAttention", _) => multi_head(operation),
            _ => group_query(operation),
        };
        Some(Sizes { batch: operation.dim(0, 0), ..sizes })
    }
}

fn attribute(operation: &Operation<'_>, name: &str) -> Size {
    operation.attributes.int(name).into()
}

/// The size of an axis of a cache; 0 without one.
fn before(operation: &Operation<'_>, cache: usize, axis: i64) -> Size {
    if operation.has(cache) { operation.dim(cache, axis) } else { Size::Known(0) }
}

fn heads_apart(operation: &Operation<'_>) -> Sizes {
    let keys = operation.dim(1, 2).plus(before(operation, 4, 2));
    Sizes {
        heads: operation.dim(0, 1),
        key_heads: operation.dim(1, 1),
        queries: operation.dim(0, 2),
        keys,
        cached: keys,
        head_size: operation.dim(0, 3),
        value_size: operation.dim(2, 3),
        projection: Size::Known(0),
        ..Sizes::default()
    }
}

fn heads_together(operation: &Operation<'_>) -> Sizes {
    let (heads, key_heads) = (attribute(operation, "q_num_heads"), attribute(operation, "kv_num_heads"));
    let keys = operation.dim(1, 1).plus(before(operation, 4, 2));
    Sizes {
        heads,
        key_heads,
        queries: operation.dim(0, 1),
        keys,
        cached: keys,
        head_size: operation.dim(0, 2).over(heads),
        value_size: operation.dim(2, 2).over(key_heads),
        projection: Size::Known(0),
        ..Sizes::default()
    }
}

/// Query, key and value are one product of the input and a weight.
fn projected(operation: &Operation<'_>) -> Sizes {
    let (heads, width) = (attribute(operation, "num_heads"), operation.dim(1, 1));
    let (key, value) = match operation.ints("qkv_hidden_sizes").as_deref() {
        Some([_, key, value]) => (Size::Known(*key), Size::Known(*value)),
        _ => (width.over(Size::Known(3)), width.over(Size::Known(3))),
    };
    let cache = if operation.op_type == "Attention" { 4 } else { 8 };
    let (queries, past) = (operation.dim(0, 1), before(operation, cache, 3));
    Sizes {
        heads,
        key_heads: heads,
        queries,
        keys: queries.plus(past),
        cached: if operation.flag("past_present_share_buffer") { past } else { queries.plus(past) },
        head_size: key.over(heads),
        value_size: value.over(heads),
        projection: operation.dims(0).map_or(Size::Unknown, product).times(width),
        ..Sizes::default()
    }
}

/// Query, key and value may lie in one tensor, or key and value, with an axis for which it is.
fn multi_head(operation: &Operation<'_>) -> Sizes {
    let heads = attribute(operation, "num_heads");
    // Number and size of what has a head each.
    let of = |i: usize| match operation.rank(i) {
        Some(3) => (operation.dim(i, 1), operation.dim(i, 2).over(heads)),
        Some(4) => (operation.dim(i, 2), operation.dim(i, 3)),
        Some(5) => (operation.dim(i, 1), operation.dim(i, 4)),
        _ => (Size::Unknown, Size::Unknown),
    };
    let key = if operation.has(1) { 1 } else { 0 };
    let value = if operation.has(2) { 2 } else { key };
    // With more inputs, the past is a buffer that what is new is written into.
    let keys =
        if operation.inputs.len() > 8 { Size::Unknown } else { of(key).0.plus(before(operation, 6, 2)) };
    Sizes {
        heads,
        key_heads: heads,
        queries: operation.dim(0, 1),
        keys,
        cached: keys,
        head_size: of(0).1,
        value_size: of(value).1,
        projection: Size::Known(0),
        ..Sizes::default()
    }
}

/// Several heads of queries share a head of keys; all three may lie in one tensor.
fn group_query(operation: &Operation<'_>) -> Sizes {
    let (heads, key_heads) = (attribute(operation, "num_heads"), attribute(operation, "kv_num_heads"));
    let all_heads = if operation.has(1) { heads } else { heads.plus(key_heads.times(Size::Known(2))) };
    let head_size = operation.dim(0, 2).over(all_heads);
    let queries = operation.dim(0, 1);
    let is_first = !operation.has(3);
    let stated = if operation.op_type == "GroupQueryAttention" { operation.scalar(6) } else { Size::Unknown };
    Sizes {
        heads,
        key_heads,
        queries,
        keys: if is_first { stated.or(queries) } else { stated },
        head_size,
        value_size: head_size,
        projection: Size::Known(0),
        ..Sizes::default()
    }
}

fn output(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let sizes = Sizes::of(operation)?;
    Some(match (operation.domain, operation.rank(0)?) {
        ("", 4) => vec![sizes.batch, sizes.heads, sizes.queries, sizes.value_size],
        _ => vec![sizes.batch, sizes.queries, sizes.heads.times(sizes.value_size)],
    })
}

fn present_key(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let sizes = Sizes::of(operation)?;
    // A cache of quantised numbers may be packed.
    let size = if attribute(operation, "kv_cache_bit_width") == Size::Unknown {
        sizes.head_size
    } else {
        Size::Unknown
    };
    Some(vec![sizes.batch, sizes.key_heads, sizes.cached, size])
}

fn present_value(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let sizes = Sizes::of(operation)?;
    let size = if attribute(operation, "kv_cache_bit_width") == Size::Unknown {
        sizes.value_size
    } else {
        Size::Unknown
    };
    Some(vec![sizes.batch, sizes.key_heads, sizes.cached, size])
}

fn present_both(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let sizes = Sizes::of(operation)?;
    Some(vec![Size::Known(2), sizes.batch, sizes.heads, sizes.cached, sizes.head_size])
}

fn scores(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let sizes = Sizes::of(operation)?;
    Some(vec![sizes.batch, sizes.heads, sizes.queries, sizes.keys])
}

/// That of the cache that was given, or of the query.
fn cache_type<const CACHE: usize>(operation: &Operation<'_>) -> Option<DType> {
    operation.input(CACHE).map_or(operation.dtype(0), |cache| cache.dtype)
}

fn linear(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let value_size = operation.dim(2, 2).over(attribute(operation, "kv_num_heads"));
    let width = attribute(operation, "q_num_heads").times(value_size);
    Some(vec![operation.dim(0, 0), operation.dim(0, 1), width])
}

fn linear_state(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let heads = attribute(operation, "kv_num_heads");
    let of_head = |i: usize| operation.dim(i, 2).over(heads);
    Some(vec![operation.dim(0, 0), heads, of_head(1), of_head(2)])
}
