//! The angles of a rotary embedding, one for each pair of elements.
//!
//! Models compute an angle for each pair, double it, and take the cosine and the sine of all: `cos(concat(f, f))`. What
//! doubles is followed down to, and what comes after it is computed again of the single angles. The old nodes go if all
//! that reads them is rewritten; equal new ones become one node. A constant must hold all its numbers twice.

use modelexport_graph::{DType, Dim};

use super::super::search::{Search, input, is};
use super::Layout;
use super::parts::{joined, stacked};
use crate::builder::Builder;
use crate::ir::{Attr, Node, ValueId};

/// What lies further up is not looked for.
const MOST_STEPS: usize = 16;

/// Which elements are turned together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pairs {
    /// The first one of each half, the second one of each half, and so on.
    Halves,
    /// The first two, the next two, and so on.
    Neighbours,
}

/// Cosines or sines, one for each pair.
pub struct Angles {
    shape: Vec<Dim>,
    recipe: Recipe,
}

/// How the angles are made.
enum Recipe {
    Is(ValueId),
    /// Of a constant that has each number twice.
    Constant(ValueId, Pairs),
    /// By a node whose input with this number holds them.
    Applied {
        node: Node,
        input: usize,
        is_elementwise: bool,
        inner: Box<Recipe>,
    },
    /// By a node that puts axes of one in.
    Unsqueezed {
        node: Node,
        axes: Vec<i64>,
        inner: Box<Recipe>,
    },
}

impl Angles {
    /// The angles that `value` holds twice.
    pub fn doubled(search: &mut Search<'_>, value: ValueId, pairs: Pairs) -> Option<Angles> {
        let recipe = search.look(|search| halved(search, value, pairs, MOST_STEPS))?;
        let (last, outer) = search.shape(value)?.split_last()?;
        let size = last.as_static().filter(|size| size % 2 == 0)?;
        let shape = outer.iter().cloned().chain([Dim::Static(size / 2)]).collect();
        Some(Angles { shape, recipe })
    }

    /// The angles `value`.
    pub fn single(search: &Search<'_>, value: ValueId) -> Angles {
        let shape = search.shape(value).unwrap_or_default().to_vec();
        Angles { shape, recipe: as_it_is(search, value, MOST_STEPS) }
    }

    /// Whether there are angles for `size` pairs at each place of a sequence, the same for all heads.
    pub fn fits(&self, layout: Layout, batch: &Dim, sequence: &Dim, size: i64) -> bool {
        let one = &Dim::Static(1);
        let has_size = |dim: &Dim| *dim == Dim::Static(size);
        match (layout, self.shape.as_slice()) {
            (Layout::HeadsFirst, [rows, heads, places, last])
            | (Layout::SequenceFirst, [rows, places, heads, last]) => {
                (rows == batch || rows == one) && heads == one && places == sequence && has_size(last)
            }
            (Layout::HeadsFirst, [heads, places, last]) => {
                heads == one && places == sequence && has_size(last)
            }
            (Layout::HeadsFirst, [places, last]) => places == sequence && has_size(last),
            _ => false,
        }
    }

    /// Whether there are angles for each of the batch.
    pub fn has_batch(&self, batch: &Dim) -> bool {
        let is_one = *batch == Dim::Static(1);
        is_one || (self.shape.len() == 4 && self.shape.first() == Some(batch))
    }

    /// The angles with the axes batch, sequence and pair; expanded to `rows` if they are the same for all of the batch.
    pub fn write(
        self,
        builder: &mut Builder,
        layout: Layout,
        dtype: DType,
        rows: Option<ValueId>,
    ) -> ValueId {
        let heads = if layout == Layout::HeadsFirst { 1 } else { 2 };
        let angles = match self.shape.len() {
            4 => self.recipe.write(builder, Some(heads)),
            2 => {
                let angles = self.recipe.write(builder, None);
                builder.unsqueeze(angles, &[0])
            }
            _ => self.recipe.write(builder, None),
        };
        let angles = builder.cast(angles, dtype);
        match rows {
            Some(rows) => builder.emit("Expand", &[angles, rows], vec![]),
            None => angles,
        }
    }
}

/// How to make what `value` holds twice.
fn halved(search: &mut Search<'_>, value: ValueId, pairs: Pairs, steps: usize) -> Option<Recipe> {
    let steps = steps.checked_sub(1)?;
    if search.ir.literal(value).is_some() {
        return is_double(search, value, pairs).then_some(Recipe::Constant(value, pairs));
    }
    let doubled = match pairs {
        Pairs::Halves => joined(search, value),
        Pairs::Neighbours => stacked(search, value),
    };
    if let Some([a, b]) = doubled {
        return (a == b).then_some(Recipe::Is(a));
    }
    if pairs == Pairs::Neighbours
        && let Some(found) = repeated(search, value)
    {
        return Some(found);
    }
    let node = search.maker(value)?;
    let applied = |search: &mut Search<'_>, at: usize, is_elementwise: bool| {
        let inner = Box::new(halved(search, input(node, at)?, pairs, steps)?);
        Some(Recipe::Applied { node: node.clone(), input: at, is_elementwise, inner })
    };
    if !node.domain.is_empty() {
        return None;
    }
    match &*node.op {
        "Cos" | "Sin" | "Cast" | "Neg" => applied(search, 0, true),
        "Mul" | "Div" | "Add" | "Sub" => {
            let is_scalar = |at: usize| input(node, at).is_some_and(|other| search.number(other).is_some());
            match (is_scalar(0), is_scalar(1)) {
                (_, true) => applied(search, 0, true),
                (true, _) => applied(search, 1, true),
                _ => None,
            }
        }
        // Rows of a table.
        "Gather"
            if search.shape(input(node, 0)?)?.len() == 2
                && node.attribute("axis").is_none_or(|axis| *axis == Attr::Int(0)) =>
        {
            applied(search, 0, false)
        }
        "Unsqueeze" => {
            let axes = put_in(search, node)?;
            let rank = search.shape(value)?.len() as i64;
            let inner = Box::new(halved(search, input(node, 0)?, pairs, steps)?);
            (!axes.contains(&(rank - 1))).then(|| Recipe::Unsqueezed { node: node.clone(), axes, inner })
        }
        _ => None,
    }
}

/// `v` of `Reshape(Expand(Unsqueeze(v, -1), […, 2]))`, with the other axes that are put in.
fn repeated(search: &mut Search<'_>, value: ValueId) -> Option<Recipe> {
    let all = input(search.maker(value).filter(|node| is(node, "Reshape"))?, 0)?;
    let single = input(search.maker(all).filter(|node| is(node, "Expand"))?, 0)?;
    let node = search.maker(single).filter(|node| is(node, "Unsqueeze"))?;
    let from = input(node, 0)?;
    let (two, outer) = search.shape(all)?.split_last()?;
    let (one, before) = search.shape(single)?.split_last()?;
    let (last, rest) = search.shape(value)?.split_last()?;
    let (size, kept) = outer.split_last()?;
    let is_repeated = *two == Dim::Static(2)
        && *one == Dim::Static(1)
        && outer == before
        && rest == kept
        && last.as_static() == size.as_static().map(|size| 2 * size);
    let mut axes = put_in(search, node)?;
    let at = axes.iter().position(|&axis| axis == outer.len() as i64)?;
    axes.remove(at);
    let inner = Recipe::Is(from);
    is_repeated.then(|| match axes.is_empty() {
        true => inner,
        false => Recipe::Unsqueezed { node: node.clone(), axes, inner: Box::new(inner) },
    })
}

fn as_it_is(search: &Search<'_>, value: ValueId, steps: usize) -> Recipe {
    let unsqueezed = || {
        let node = search.maker(value).filter(|node| is(node, "Unsqueeze"))?;
        let (axes, from) = (put_in(search, node)?, input(node, 0)?);
        Some(Recipe::Unsqueezed { node: node.clone(), axes, inner: Box::new(Recipe::Is(from)) })
    };
    let cast = || {
        let steps = steps.checked_sub(1)?;
        let node = search.maker(value).filter(|node| is(node, "Cast"))?;
        let inner = Box::new(as_it_is(search, input(node, 0)?, steps));
        Some(Recipe::Applied { node: node.clone(), input: 0, is_elementwise: true, inner })
    };
    unsqueezed().or_else(cast).unwrap_or(Recipe::Is(value))
}

/// The axes that an `Unsqueeze` puts in, counted from the front.
fn put_in(search: &Search<'_>, node: &Node) -> Option<Vec<i64>> {
    let axes = search.ir.literal(input(node, 1)?)?.as_ints()?;
    let rank = (search.shape(input(node, 0)?)?.len() + axes.len()) as i64;
    Some(axes.iter().map(|&axis| if axis < 0 { axis + rank } else { axis }).collect())
}

/// Whether a constant has each number twice.
fn is_double(search: &Search<'_>, value: ValueId, pairs: Pairs) -> bool {
    let Some(literal) = search.ir.literal(value) else { return false };
    let Some(&size) = literal.dims.last() else { return false };
    let count = literal.element_count();
    if size % 2 != 0 || count == 0 || literal.bytes.len() % count != 0 {
        return false;
    }
    let (row, element) = (literal.bytes.len() / count * size as usize, literal.bytes.len() / count);
    let are_equal = |bytes: &[u8]| bytes.split_at(bytes.len() / 2).0 == bytes.split_at(bytes.len() / 2).1;
    let unit = if pairs == Pairs::Halves { row } else { 2 * element };
    literal.bytes.chunks(unit).all(are_equal)
}

impl Recipe {
    /// Emits the nodes; the axis `drop` of one is left out.
    fn write(self, builder: &mut Builder, drop: Option<i64>) -> ValueId {
        let squeezed = |builder: &mut Builder, value| match drop {
            Some(axis) => builder.squeeze(value, &[axis]),
            None => value,
        };
        match self {
            Recipe::Is(value) => squeezed(builder, value),
            Recipe::Constant(value, pairs) => {
                let shape = builder.shape(value).unwrap_or_default();
                let size = shape.last().and_then(Dim::as_static).unwrap_or(0);
                let (end, step) = if pairs == Pairs::Halves { (size / 2, 1) } else { (size, 2) };
                let half = builder.slice(value, &[-1], &[0], &[end], &[step]);
                squeezed(builder, half)
            }
            Recipe::Applied { node, input, is_elementwise: true, inner } => {
                let inner = inner.write(builder, drop);
                repeat(builder, &node, input, inner)
            }
            Recipe::Applied { node, input, is_elementwise: false, inner } => {
                let inner = inner.write(builder, None);
                let value = repeat(builder, &node, input, inner);
                squeezed(builder, value)
            }
            Recipe::Unsqueezed { mut node, axes, inner } => {
                let inner = inner.write(builder, None);
                let kept: Vec<i64> = match drop.filter(|axis| axes.contains(axis)) {
                    Some(axis) => {
                        let others = axes.iter().filter(|&&other| other != axis);
                        others.map(|&other| if other > axis { other - 1 } else { other }).collect()
                    }
                    None => axes.clone(),
                };
                if kept.is_empty() {
                    return inner;
                }
                let is_whole = kept.len() == axes.len();
                let kept = builder.const_ints(&kept);
                node.inputs = vec![Some(inner), Some(kept)];
                let value = repeat(builder, &node, 0, inner);
                if is_whole { squeezed(builder, value) } else { value }
            }
        }
    }
}

/// `node` with another input.
fn repeat(builder: &mut Builder, node: &Node, at: usize, value: ValueId) -> ValueId {
    let mut inputs = node.inputs.clone();
    if let Some(slot) = inputs.get_mut(at) {
        *slot = Some(value);
    }
    builder.repeat(node, inputs)
}
