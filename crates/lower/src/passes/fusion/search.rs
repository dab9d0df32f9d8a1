//! How a pattern is looked for: from its last node up to its inputs. What the search goes through becomes part of the
//! pattern, and goes away if the pattern is found.

use modelexport_graph::hash::HashSet;
use modelexport_graph::{DType, Dim};

use super::table::{Place, Table};
use crate::builder::Builder;
use crate::ir::{Attr, Graph, Ir, Node, ValueId};

/// The search for one pattern in one graph.
pub struct Search<'a> {
    pub ir: &'a Ir,
    graph: &'a Graph,
    /// The number of the graph in the table.
    number: u32,
    table: &'a Table,
    /// Places of the nodes of the pattern, the last node first.
    parts: Vec<Part>,
    /// Values of the pattern that others may read, because the new nodes give them, too.
    exposed: Vec<ValueId>,
}

#[derive(Clone, Copy)]
struct Part {
    at: usize,
    /// The node may stay if somebody else reads what it makes.
    may_stay: bool,
}

impl<'a> Search<'a> {
    /// A search that begins at the node `root` of `graph`, which has `number` in `table`.
    pub(super) fn new(
        builder: &'a Builder,
        graph: &'a Graph,
        number: u32,
        table: &'a Table,
        root: usize,
    ) -> Self {
        let parts = vec![Part { at: root, may_stay: false }];
        Search { ir: &builder.ir, graph, number, table, parts, exposed: Vec::new() }
    }

    // ---- nodes

    /// The node of this graph that makes `value`. It does not become part of the pattern.
    pub fn maker(&self, value: ValueId) -> Option<&'a Node> {
        self.graph.nodes.get(self.place(value)?)
    }

    /// The node that makes `value`, if it is an `op` of standard ONNX: a part of the pattern from now on.
    pub fn node(&mut self, value: ValueId, op: &str) -> Option<&'a Node> {
        self.part(value, op, false)
    }

    /// As [`Search::node`], of a node that stays if others read what it makes: a cast of an input, for instance.
    pub fn node_that_may_stay(&mut self, value: ValueId, op: &str) -> Option<&'a Node> {
        self.part(value, op, true)
    }

    fn part(&mut self, value: ValueId, op: &str, may_stay: bool) -> Option<&'a Node> {
        let at = self.place(value)?;
        let node = self.graph.nodes.get(at).filter(|node| is(node, op))?;
        if !self.parts.iter().any(|part| part.at == at) {
            self.parts.push(Part { at, may_stay });
        }
        Some(node)
    }

    fn place(&self, value: ValueId) -> Option<usize> {
        let place = self.table.maker(value).filter(|place| place.graph == self.number)?;
        Some(place.node as usize)
    }

    /// What `find` finds; if it finds nothing, what it went through is no part of the pattern.
    pub fn attempt<T>(&mut self, find: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let (parts, exposed) = (self.parts.len(), self.exposed.len());
        let found = find(self);
        if found.is_none() {
            self.parts.truncate(parts);
            self.exposed.truncate(exposed);
        }
        found
    }

    /// What `find` finds; what it goes through is no part of the pattern.
    pub fn look<T>(&mut self, find: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let parts = self.parts.len();
        let found = find(self);
        self.parts.truncate(parts);
        found
    }

    /// What `find` finds with the two inputs of `node` in this order, or else in the other one.
    pub fn either<T>(
        &mut self,
        node: &Node,
        find: impl Fn(&mut Self, ValueId, ValueId) -> Option<T>,
    ) -> Option<T> {
        let [Some(a), Some(b)] = *node.inputs.as_slice() else { return None };
        self.attempt(|search| find(search, a, b)).or_else(|| self.attempt(|search| find(search, b, a)))
    }

    /// `value` before all casts from one float type to another, which become part of the pattern.
    pub fn before_casts(&mut self, mut value: ValueId) -> ValueId {
        while let Some(from) = self.cast_float(value) {
            self.node_that_may_stay(value, "Cast");
            value = from;
        }
        value
    }

    /// What a cast between float types casts.
    fn cast_float(&self, value: ValueId) -> Option<ValueId> {
        let node = self.maker(value).filter(|node| is(node, "Cast"))?;
        let from = input(node, 0)?;
        (is_float(self.ir.dtype(from)?) && is_float(self.ir.dtype(value)?)).then_some(from)
    }

    /// Others may read `value`: the new nodes give it, too.
    pub fn expose(&mut self, value: ValueId) {
        self.exposed.push(value);
    }

    /// How often `value` is read.
    pub fn read_count(&self, value: ValueId) -> usize {
        self.table.readers(value).len()
    }

    /// The inputs of this graph.
    pub fn inputs(&self) -> &'a [ValueId] {
        &self.graph.inputs
    }

    // ---- values

    /// The number that a constant of one element holds.
    pub fn number(&self, value: ValueId) -> Option<f64> {
        let literal = self.ir.literal(value).filter(|literal| literal.dims.iter().all(|&dim| dim == 1))?;
        literal.numbers()?.first().map(|number| number.as_f64())
    }

    /// Whether `value` is the constant `number`, as exactly as its type can say.
    pub fn is_number(&self, value: ValueId, number: f64) -> bool {
        let tolerance = self.tolerance(value) * number.abs();
        self.number(value).is_some_and(|found| (found - number).abs() <= tolerance)
    }

    /// How much of itself a constant may differ from what is meant: its type rounds it, and people write about so many
    /// digits.
    pub fn tolerance(&self, value: ValueId) -> f64 {
        match self.ir.dtype(value) {
            Some(DType::F16) => 1e-3,
            Some(DType::BF16) => 8e-3,
            _ => 1e-6,
        }
    }

    /// The number beside the other operand of a node that takes two in any order, and that operand.
    pub fn with_number(&self, node: &Node) -> Option<(ValueId, f64)> {
        let [Some(a), Some(b)] = *node.inputs.as_slice() else { return None };
        match (self.number(a), self.number(b)) {
            (_, Some(number)) => Some((a, number)),
            (Some(number), _) => Some((b, number)),
            _ => None,
        }
    }

    pub fn dtype(&self, value: ValueId) -> Option<DType> {
        self.ir.dtype(value)
    }

    pub fn shape(&self, value: ValueId) -> Option<&'a [Dim]> {
        self.ir.shape(value)
    }

    /// The shape of `value`. If it is not known and `value` is a difference: that of what is subtracted from, which is
    /// the same if a mean of it is subtracted.
    pub fn centered_shape(&self, value: ValueId) -> Option<&'a [Dim]> {
        self.shape(value).or_else(|| {
            let difference = self.maker(value).filter(|node| is(node, "Sub"))?;
            self.shape(input(difference, 0)?)
        })
    }

    /// The axes of a `Reduce…` node that keeps them, counted from behind, in order.
    pub fn reduced_axes(&self, node: &Node) -> Option<Vec<i64>> {
        if matches!(node.attribute("keepdims"), Some(Attr::Int(0))) {
            return None;
        }
        let axes = match (input(node, 1), node.attribute("axes")) {
            (Some(axes), _) => self.ir.literal(axes)?.as_ints()?,
            (None, Some(Attr::Ints(axes))) => axes.clone(),
            _ => return None,
        };
        let rank = self.centered_shape(input(node, 0)?)?.len() as i64;
        let mut axes: Vec<i64> = axes.iter().map(|&axis| if axis < 0 { axis } else { axis - rank }).collect();
        axes.sort_unstable();
        Some(axes)
    }

    // ---- the end

    /// The places of the pattern's nodes, if nothing else reads what is made in between: no old node, and no new one
    /// that was written before, which read what is `needed`.
    pub(super) fn closed(mut self, needed: &HashSet<ValueId>) -> Option<Vec<usize>> {
        loop {
            let open = self.parts.iter().skip(1).position(|part| !self.is_inner(part.at, needed));
            let Some(open) = open.map(|open| open + 1) else { break };
            if !self.parts.get(open)?.may_stay {
                return None;
            }
            self.parts.remove(open);
        }
        Some(self.parts.iter().map(|part| part.at).collect())
    }

    /// Whether only the pattern reads what the node at `at` makes. What is exposed may be read from the last node on.
    fn is_inner(&self, at: usize, needed: &HashSet<ValueId>) -> bool {
        let Some(node) = self.graph.nodes.get(at) else { return false };
        let root = self.parts.first().map_or(0, |root| root.at);
        let is_part = |place: &Place| {
            place.graph == self.number && self.parts.iter().any(|part| part.at == place.node as usize)
        };
        node.outputs.iter().all(|output| {
            let is_late = |place: &Place| {
                self.exposed.contains(output) && place.graph == self.number && place.node as usize > root
            };
            let is_free = !needed.contains(output);
            is_free && self.table.readers(*output).iter().all(|place| is_part(place) || is_late(place))
        })
    }
}

/// Whether the node is an `op` of standard ONNX.
pub fn is(node: &Node, op: &str) -> bool {
    node.op == op && node.domain.is_empty()
}

pub fn input(node: &Node, i: usize) -> Option<ValueId> {
    node.inputs.get(i).copied().flatten()
}

pub fn is_float(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64)
}
