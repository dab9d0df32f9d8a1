//! Attention over rows whose heads lie side by side.
//!
//! ```text
//! Reshape(Transpose(Attention(heads(q), heads(k), heads(v))))  becomes  Attention(q, k, v, q_num_heads, kv_num_heads)
//! ```
//!
//! `heads` is `Transpose(Reshape(x))`, which may be followed by a rotary embedding. New keys and values that are read by
//! others with their heads apart are outputs of the node. A number that the queries are multiplied with is part of the
//! scale.
//!
//! One row of queries whose heads share keys becomes a row for each head that shares them, so that the products are of
//! matrices. That is faster in onnxruntime by a third. In `float16` its kernel is slow for heads side by side: there, and
//! where queries, keys or values come in another way, the node keeps its axes.

use modelexport_graph::{DType, Dim};

use super::mask::repeat_rows;
use super::scores::unscaled;
use super::{Heads, permutation};
use crate::attrs;
use crate::builder::Builder;
use crate::ir::{Attr, Attrs, Node, ValueId};
use crate::passes::fusion::rewrite::{Pattern, Write};
use crate::passes::fusion::search::{Search, input};

pub const PATTERN: Pattern = Pattern { last: &["Reshape"], since: 23, find };

const EXCHANGED: [i64; 4] = [0, 2, 1, 3];

/// An operand with its heads side by side, and the rotary embedding that it gets after that.
struct Flat {
    from: ValueId,
    /// `from` has an axis for the heads, after that for the rows.
    is_apart: bool,
    heads: i64,
    size: i64,
    rotary: Option<(Vec<Option<ValueId>>, Attrs)>,
}

fn find(search: &mut Search<'_>, root: &Node) -> Option<Write> {
    let result = *root.outputs.first()?;
    let exchanged = search.node(input(root, 0)?, "Transpose")?;
    if permutation(exchanged)? != EXCHANGED {
        return None;
    }
    let attention = search.node(input(exchanged, 0)?, "Attention")?;
    let node = Heads::of(search, attention)?;
    if node.outputs.first().copied() != input(exchanged, 0) {
        return None;
    }
    let [batch, heads, rows, _] = &node.query;
    let (heads, size) = (heads.as_static()?, node.value[3].as_static()?);
    let side_by_side = [batch.clone(), rows.clone(), Dim::Static(heads * size)];
    let other_shape =
        if *search.shape(result)? == side_by_side { None } else { Some(plain_target(search, root)?) };
    let groups = heads.checked_div(node.key[1].as_static()?)?;
    let is_stacked = groups > 1 && rows.is(1) && !node.is_causal() && mask_has_one_head(search, &node);
    if node.dtype != DType::F32 && !is_stacked {
        return None;
    }
    let mut query = flat(search, node.input(0)?)?;
    let (unscaled_query, scale) = unscaled(search, query.from);
    query.from = unscaled_query;
    let attributes = rescaled(&node.attributes, scale)?;
    let (key, value) = (node.input(1)?, node.input(2)?);
    if key == value {
        return None;
    }
    // Others may read the keys and values: with a past, they are no outputs of the node.
    let is_read = !node.has_past() && [key, value].iter().any(|&operand| search.read_count(operand) > 1);
    let operands = (flat(search, key)?, flat(search, value)?);
    let exposed = if is_read { vec![key, value] } else { node.outputs.get(1..)?.to_vec() };
    exposed.iter().for_each(|&value| search.expose(value));
    Some(Box::new(move |builder: &mut Builder| {
        let query = query.emit(builder);
        let (key_heads, key_size, value_size) = (operands.0.heads, operands.0.size, operands.1.size);
        let (key, value) = (operands.0.emit(builder), operands.1.emit(builder));
        let mut attributes = attributes;
        let mask = node.input(3);
        let past = node.inputs.get(4..).unwrap_or_default();
        let attention = |builder: &mut Builder, operands: [ValueId; 3], mask, attributes, count| {
            let inputs = [&operands.map(Some)[..], &[mask], past].concat();
            builder.emit_many("Attention", &inputs, attributes, count)
        };
        let (mut made, target) = if is_stacked {
            let apart = |builder: &mut Builder, x, rows, size| {
                let target = builder.const_ints(&[0, key_heads, rows, size]);
                builder.emit("Reshape", &[x, target], vec![])
            };
            let query = apart(builder, query, groups, key_size);
            let (key, value) = (apart(builder, key, 1, key_size), apart(builder, value, 1, value_size));
            let mask = mask.map(|mask| repeat_rows(builder, mask, groups));
            let mut made = attention(builder, [query, key, value], mask, attributes, node.outputs.len());
            if is_read {
                made.extend([key, value]);
            }
            (made, other_shape.or_else(|| Some(builder.const_ints(&[0, 1, heads * size]))))
        } else {
            attributes.extend(attrs![q_num_heads = heads, kv_num_heads = key_heads]);
            (attention(builder, [query, key, value], mask, attributes, 1 + exposed.len()), other_shape)
        };
        if let (Some(y), Some(target)) = (made.first_mut(), target) {
            *y = builder.emit("Reshape", &[*y, target], vec![]);
        }
        [result].into_iter().chain(exposed).zip(made).collect()
    }))
}

/// The shape that a `Reshape` gives, if it does not depend on the one that it gets.
fn plain_target(search: &Search<'_>, reshape: &Node) -> Option<ValueId> {
    let target = input(reshape, 1)?;
    (!search.ir.literal(target)?.as_ints()?.contains(&0)).then_some(target)
}

/// `attributes` with a scale that is `factor` times as large.
fn rescaled(attributes: &Attrs, factor: f64) -> Option<Attrs> {
    let mut attributes = attributes.clone();
    let scale = attributes.iter_mut().find(|(name, _)| name == "scale").map(|(_, value)| value)?;
    let Attr::Float(old) = scale else { return None };
    *scale = Attr::from(f64::from(*old) * factor);
    (factor > 0.0).then_some(attributes)
}

fn mask_has_one_head(search: &Search<'_>, node: &Heads) -> bool {
    let Some(mask) = node.input(3) else { return true };
    search.shape(mask).is_some_and(|shape| shape.iter().nth_back(2).is_none_or(|heads| heads.is(1)))
}

/// What `operand` is before its heads were taken apart.
fn flat(search: &mut Search<'_>, operand: ValueId) -> Option<Flat> {
    let [batch, heads, rows, size] = search.shape(operand)? else { return None };
    let (heads, size) = (heads.as_static()?, size.as_static()?);
    let rotary = search.attempt(|search| search.node(operand, "RotaryEmbedding"));
    if rotary.is_some_and(|node| node.attribute("num_heads").is_some()) {
        return None;
    }
    let exchanged = match rotary {
        Some(node) => input(node, 0)?,
        None => operand,
    };
    let node = search.node(exchanged, "Transpose")?;
    if permutation(node)? != EXCHANGED {
        return None;
    }
    let apart = input(node, 0)?;
    let side_by_side = [batch.clone(), rows.clone(), Dim::Static(heads * size)];
    let before = search.attempt(|search| {
        let from = input(search.node_that_may_stay(apart, "Reshape")?, 0)?;
        (*search.shape(from)? == side_by_side).then_some(from)
    });
    let rotary = rotary.map(|node| (node.inputs.clone(), node.attributes.clone()));
    Some(Flat { from: before.unwrap_or(apart), is_apart: before.is_none(), heads, size, rotary })
}

impl Flat {
    fn emit(self, builder: &mut Builder) -> ValueId {
        let mut x = self.from;
        if self.is_apart {
            let target = builder.const_ints(&[0, 0, self.heads * self.size]);
            x = builder.emit("Reshape", &[x, target], vec![]);
        }
        if let Some((inputs, mut attributes)) = self.rotary {
            attributes.extend(attrs![num_heads = self.heads]);
            let inputs: Vec<Option<ValueId>> =
                [Some(x)].into_iter().chain(inputs.into_iter().skip(1)).collect();
            x = builder.emit_optional("RotaryEmbedding", &inputs, attributes);
        }
        x
    }
}
