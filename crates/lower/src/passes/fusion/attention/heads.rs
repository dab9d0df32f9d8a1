//! Heads of keys and values that are not what the program computes with, but what it computes that from.
//!
//! ```text
//! Attention(q, repeated(k), repeated(v))          becomes  Attention(q, k, v)
//! Attention(q, Concat(past_k, k), Concat(past_v, v))  becomes  Attention(q, k, v, None, past_k, past_v)
//! ```
//!
//! `repeated` is `Reshape(Expand(Unsqueeze(k, 2)))`, or an `Expand` of one head. The second form gives the concatenated
//! keys and values, too, which may be read after it. Casts between float types may stand between any two nodes of the
//! first. Conditions: keys and values are repeated alike, and a causal node has no past, because `is_causal` counts columns
//! from the end of the past.

use modelexport_graph::Dim;

use super::Heads;
use crate::builder::Builder;
use crate::ir::{Attr, Node, ValueId};
use crate::passes::fusion::rewrite::{Pattern, Write};
use crate::passes::fusion::search::{Search, input};

pub const CACHED: Pattern = Pattern { last: &["Attention"], since: 23, find: cached };
pub const REPEATED: Pattern = Pattern { last: &["Attention"], since: 23, find: repeated };

fn cached(search: &mut Search<'_>, root: &Node) -> Option<Write> {
    let node = Heads::of(search, root)?;
    let (key, value) = before_repeat(search, &node)?;
    let (past_key, new_key) = concatenated(search, key)?;
    let (past_value, new_value) = concatenated(search, value)?;
    let is_same_type = [key, value].iter().all(|&part| search.dtype(part) == Some(node.dtype));
    if !is_same_type || node.is_causal() || node.has_past() || node.outputs.len() > 1 {
        return None;
    }
    search.expose(key);
    search.expose(value);
    Some(Box::new(move |builder: &mut Builder| {
        let mask = node.input(3);
        let inputs = [node.input(0), Some(new_key), Some(new_value), mask, Some(past_key), Some(past_value)];
        let made = builder.emit_many("Attention", &inputs, node.attributes, 3);
        node.outputs.into_iter().chain([key, value]).zip(made).collect()
    }))
}

fn repeated(search: &mut Search<'_>, root: &Node) -> Option<Write> {
    let node = Heads::of(search, root)?;
    let (key, value) = before_repeat(search, &node)?;
    if Some(key) == node.input(1) || node.has_past() {
        return None;
    }
    Some(Box::new(move |builder: &mut Builder| {
        let (key, value) = (builder.cast(key, node.dtype), builder.cast(value, node.dtype));
        let inputs = [node.input(0), Some(key), Some(value), node.input(3)];
        let made = builder.emit_optional("Attention", &inputs, node.attributes);
        node.outputs.into_iter().map(|output| (output, made)).collect()
    }))
}

/// Keys and values before they were repeated, if they were.
fn before_repeat(search: &mut Search<'_>, node: &Heads) -> Option<(ValueId, ValueId)> {
    let (key, value) = (node.input(1)?, node.input(2)?);
    let found = search.attempt(|search| {
        let (key, key_heads) = unrepeated(search, key, &node.query[1])?;
        let (value, value_heads) = unrepeated(search, value, &node.query[1])?;
        (key_heads == value_heads).then_some((key, value))
    });
    Some(found.unwrap_or((key, value)))
}

/// What `value` repeats for groups of `heads`, and how many heads that has.
fn unrepeated(search: &mut Search<'_>, value: ValueId, heads: &Dim) -> Option<(ValueId, i64)> {
    let value = search.before_casts(value);
    let [batch, whole, rows, size] = search.shape(value)? else { return None };
    let is_from = |shape: &[Dim]| match shape {
        [a, count, b, c] if a == batch && b == rows && c == size && whole == heads => count.as_static(),
        _ => None,
    };
    if let Some(expand) = search.attempt(|search| search.node_that_may_stay(value, "Expand")) {
        let from = search.before_casts(input(expand, 0)?);
        return is_from(search.shape(from)?).filter(|&count| count == 1).map(|count| (from, count));
    }
    let reshape = search.node_that_may_stay(value, "Reshape")?;
    let wide = search.before_casts(input(reshape, 0)?);
    let expand = search.node_that_may_stay(wide, "Expand")?;
    let thin = search.before_casts(input(expand, 0)?);
    let [_, _, groups, _, _] = search.shape(wide)? else { return None };
    let [_, count, Dim::Static(1), _, _] = search.shape(thin)? else { return None };
    let from = match search.attempt(|search| search.node_that_may_stay(thin, "Unsqueeze")) {
        Some(node) => input(node, 0)?,
        None => input(search.node_that_may_stay(thin, "Reshape")?, 0)?,
    };
    let found = is_from(search.shape(from)?)?;
    let times = heads.as_static()?.checked_div(found)?;
    (count.is(found) && groups.is(times)).then_some((from, found))
}

/// What is concatenated to `value`, row by row.
fn concatenated(search: &mut Search<'_>, value: ValueId) -> Option<(ValueId, ValueId)> {
    let node = search.node(value, "Concat")?;
    let is_rows = matches!(node.attribute("axis"), Some(Attr::Int(2 | -2)));
    let [Some(past), Some(new)] = *node.inputs.as_slice() else { return None };
    let has_axes = [past, new].iter().all(|&part| search.shape(part).is_some_and(|shape| shape.len() == 4));
    (is_rows && has_axes).then_some((past, new))
}
