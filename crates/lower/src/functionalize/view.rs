//! Which results of a node share memory with its inputs, and how they show it.
//!
//! PyTorch decides for some operators at run time whether they give a view or a copy (`reshape`, `contiguous`,
//! `to`); the sizes, strides and types that were recorded tell which it was.

use modelexport_graph::Dim;
use modelexport_graph::aten::{Arg, Graph, NamedArg, Node, TensorMeta, ValueId};

use super::arguments::{dim_arg, dim_of, named};
use super::functional_variant::parts;
use super::strides::{self, Answer};

pub(super) const AS_STRIDED: &str = "aten.as_strided.default";
/// Its own inverse.
const CONJUGATE: &str = "aten._conj.default";

/// A result that shares memory with an input.
#[derive(Clone, Debug)]
pub(super) struct AliasedResult {
    pub(super) result: ValueId,
    pub(super) source: ValueId,
    pub(super) how: How,
}

#[derive(Clone, Debug)]
pub(super) enum How {
    /// The very same elements in the same shape.
    Same,
    View(View),
}

/// How a view shows the elements of what it is a view of.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) kind: Kind,
    /// The part of one axis that is shown, where it is known.
    pub(super) interval: Option<Interval>,
    /// Whether it is sure that the operator did not copy.
    pub(super) certain: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// All elements in the same order.
    Reshape,
    /// All elements; axis `i` is axis `permutation[i]` of the source.
    Permute(Vec<i64>),
    /// Some elements; `scatter` writes them back, with the same further arguments as `view`.
    Part {
        view: &'static str,
        scatter: &'static str,
        rest: Vec<NamedArg>,
    },
    /// All elements in another type; `inverse` brings them back.
    Convert {
        inverse: &'static str,
    },
    RealPart,
    ImaginaryPart,
    /// Known only by repeating the node; written back through the positions of its elements.
    Repeat,
    /// Cannot be repeated alone: the node has several sources.
    Opaque,
}

impl Kind {
    /// Whether the view shows every element of its source once.
    pub(super) fn covers_source(&self) -> bool {
        matches!(self, Kind::Reshape | Kind::Permute(_) | Kind::Convert { .. })
    }

    /// The elements at the places that the sizes and strides among the arguments of `node` tell.
    pub(super) fn strided(node: &Node) -> Kind {
        let rest = node.args.iter().skip(1).cloned().collect();
        Kind::Part { view: AS_STRIDED, scatter: "aten.as_strided_scatter.default", rest }
    }

    pub(super) fn is_strided(&self) -> bool {
        matches!(self, Kind::Part { view: AS_STRIDED, .. })
    }

    pub(super) fn conjugates(&self) -> bool {
        matches!(self, Kind::Convert { inverse: CONJUGATE })
    }
}

/// Indices `first..end` of the axis `axis`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) axis: i64,
    pub(super) first: i64,
    pub(super) end: i64,
}

impl Interval {
    pub(super) fn is_apart_from(self, other: Interval) -> bool {
        self.axis == other.axis && (self.end <= other.first || other.end <= self.first)
    }
}

/// The first tensor among the arguments.
pub(super) fn source_of(node: &Node) -> Option<ValueId> {
    node.args.iter().find_map(|arg| match arg.arg {
        Arg::Tensor(id) => Some(id),
        _ => None,
    })
}

/// All tensors among the results, lists flattened.
pub(super) fn results_of(node: &Node) -> Vec<ValueId> {
    let mut results = Vec::new();
    for output in &node.outputs {
        match output {
            Arg::Tensor(id) => results.push(*id),
            Arg::Tensors(ids) => results.extend(ids),
            _ => {}
        }
    }
    results
}

/// The results of `node` that share memory with an input. Symbolic bounds of pieces become values of `graph`.
pub(super) fn shown_by(graph: &mut Graph, node: &Node) -> Vec<AliasedResult> {
    let Some(("aten", name, overload)) = parts(&node.target) else { return Vec::new() };
    if matches!(name, "broadcast_tensors" | "meshgrid" | "atleast_1d" | "atleast_2d" | "atleast_3d")
        && let Some(Arg::Tensors(sources)) = node.args.first().map(|arg| &arg.arg)
    {
        let how = || How::View(View { kind: Kind::Opaque, interval: None, certain: true });
        let pairs = results_of(node).into_iter().zip(sources);
        return pairs.map(|(result, &source)| AliasedResult { result, source, how: how() }).collect();
    }
    let Some(source) = source_of(node) else { return Vec::new() };
    let Some(old) = graph.tensor(source).cloned() else { return Vec::new() };
    let mut shown = Vec::new();
    let mut start = Dim::Static(0);
    for (index, result) in results_of(node).into_iter().enumerate() {
        let Some(new) = graph.tensor(result).cloned() else { continue };
        let call = Call { node, name, overload, old: &old, new: &new };
        let Some(view) = call.view(graph, index, &mut start) else { continue };
        let is_same = view.certain && old == new && !matches!(view.kind, Kind::Convert { .. });
        let how = if is_same { How::Same } else { How::View(view) };
        shown.push(AliasedResult { result, source, how });
    }
    shown
}

/// A call of an ATen operator with what is known of its source and of one result.
struct Call<'a> {
    node: &'a Node,
    name: &'a str,
    overload: &'a str,
    old: &'a TensorMeta,
    new: &'a TensorMeta,
}

impl Call<'_> {
    /// How result number `index` shows the source; `None`: it has memory of its own. `start` is where the next piece
    /// of an axis starts, for operators that cut one into pieces.
    fn view(&self, graph: &mut Graph, index: usize, start: &mut Dim) -> Option<View> {
        let rank = self.old.sizes.len() as i64;
        let kind = match self.name {
            "alias" | "detach" | "lift_fresh" | "positive" | "pin_memory" => Kind::Reshape,
            "resolve_conj" | "resolve_neg" if !self.old.dtype.is_complex() => Kind::Reshape,
            "contiguous" => return self.unless_copied(self.is_contiguous_already()),
            "to" | "type_as" => return self.unless_copied(self.keeps_type_and_layout()),
            "dropout" | "alpha_dropout" | "feature_dropout" | "feature_alpha_dropout"
                if self.bool("train") != Some(true) =>
            {
                Kind::Reshape
            }
            "view" if self.overload == "dtype" => self.converted()?,
            "view" | "view_as" | "_unsafe_view" | "_reshape_alias" | "unsqueeze" | "squeeze"
            | "unflatten" | "atleast_1d" | "atleast_2d" | "atleast_3d" => Kind::Reshape,
            "reshape" | "reshape_as" | "flatten" | "ravel" => {
                return self.unless_copied(strides::reshape_is_view(self.old, self.new));
            }
            "expand" | "expand_as" | "broadcast_to" => {
                if strides::overlaps_itself(self.new) {
                    Kind::Repeat
                } else {
                    Kind::Reshape
                }
            }
            "slice" => {
                return Some(View {
                    kind: self.part("aten.slice.Tensor", "aten.slice_scatter.default"),
                    interval: self.slice_interval(graph),
                    certain: true,
                });
            }
            "select" => {
                let axis = self.axis("dim", 0)?;
                let first = self.int("index").and_then(|index| self.counted_from_front(index, axis));
                return Some(View {
                    kind: self.part("aten.select.int", "aten.select_scatter.default"),
                    interval: first.map(|first| Interval { axis, first, end: first.saturating_add(1) }),
                    certain: true,
                });
            }
            "narrow" if self.overload == "default" => {
                let axis = self.axis("dim", 0)?;
                let mut start = dim_of(graph, self.node.arg("start")?)?;
                if let Dim::Static(first) = start
                    && first < 0
                {
                    start = start.plus(self.old.sizes.get(axis as usize)?);
                }
                let end = start.plus(&dim_of(graph, self.node.arg("length")?)?);
                return Some(self.piece(graph, axis, &start, &end));
            }
            "unbind" => {
                let axis = self.axis("dim", 0)?;
                let rest = vec![named("dim", Arg::Int(axis)), named("index", Arg::Int(index as i64))];
                let first = index as i64;
                return Some(View {
                    kind: Kind::Part {
                        view: "aten.select.int",
                        scatter: "aten.select_scatter.default",
                        rest,
                    },
                    interval: Some(Interval { axis, first, end: first + 1 }),
                    certain: true,
                });
            }
            "split"
            | "split_with_sizes"
            | "chunk"
            | "tensor_split"
            | "unsafe_split"
            | "unsafe_chunk"
            | "unsafe_split_with_sizes"
            | "hsplit"
            | "vsplit"
            | "dsplit" => {
                let axis = match self.name {
                    "hsplit" => i64::from(rank > 1),
                    "vsplit" => 0,
                    "dsplit" => 2,
                    _ => self.axis("dim", 0)?,
                };
                let end = start.plus(self.new.sizes.get(axis as usize)?);
                let first = std::mem::replace(start, end.clone());
                return Some(self.piece(graph, axis, &first, &end));
            }
            "diagonal" => self.part("aten.diagonal.default", "aten.diagonal_scatter.default"),
            "linalg_diagonal" => self.linalg_diagonal(),
            "as_strided" => {
                let is_whole_memory = strides::is_contiguous(self.old) && self.old.storage_offset.is(0);
                match is_whole_memory {
                    true => Kind::strided(self.node),
                    false => Kind::Opaque,
                }
            }
            "transpose" | "swapdims" => self.exchange(self.axis("dim0", 0)?, self.axis("dim1", 1)?),
            "swapaxes" => self.exchange(self.axis("axis0", 0)?, self.axis("axis1", 1)?),
            "t" | "numpy_T" => Kind::Permute((0..rank).rev().collect()),
            "mT" => self.exchange(rank - 2, rank - 1),
            "adjoint" | "mH" | "matrix_H" if !self.old.dtype.is_complex() => {
                self.exchange(rank - 2, rank - 1)
            }
            "adjoint" | "mH" | "matrix_H" => Kind::Opaque,
            "permute" => {
                let dims = self.ints("dims")?;
                Kind::Permute(dims.into_iter().map(|axis| self.normalized(axis)).collect::<Option<_>>()?)
            }
            "movedim" | "moveaxis" => self.moved()?,
            "view_as_real" => Kind::Convert { inverse: "aten.view_as_complex.default" },
            "view_as_complex" => Kind::Convert { inverse: "aten.view_as_real.default" },
            "conj" | "_conj" if self.old.dtype.is_complex() => Kind::Convert { inverse: CONJUGATE },
            "conj" | "_conj" => Kind::Reshape,
            "real" if self.old.dtype.is_complex() => Kind::RealPart,
            "real" => Kind::Reshape,
            "imag" => Kind::ImaginaryPart,
            "unfold" => Kind::Repeat,
            "narrow" => Kind::Repeat,
            "_neg_view" | "resolve_conj" | "resolve_neg" => Kind::Opaque,
            _ => return None,
        };
        Some(View { kind, interval: None, certain: true })
    }

    // ---- operators that may copy

    fn unless_copied(&self, is_view: Answer) -> Option<View> {
        let certain = match is_view {
            Answer::No => return None,
            Answer::Yes => true,
            Answer::Unknown => false,
        };
        Some(View { kind: Kind::Reshape, interval: None, certain })
    }

    /// `contiguous` gives the tensor itself if its strides are those that are asked for.
    fn is_contiguous_already(&self) -> Answer {
        let is_plain = match self.node.arg("memory_format") {
            None | Some(Arg::None) => true,
            Some(Arg::MemoryFormat(format)) => *format == modelexport_graph::aten::MemoryFormat::Contiguous,
            Some(_) => false,
        };
        let already =
            if is_plain { strides::is_contiguous(self.old) } else { self.old.strides == self.new.strides };
        if already { Answer::Yes } else { Answer::No }
    }

    fn keeps_type_and_layout(&self) -> Answer {
        let keeps = self.old.dtype == self.new.dtype
            && self.old.strides == self.new.strides
            && self.old.storage_offset == self.new.storage_offset
            && self.bool("copy") != Some(true);
        if keeps { Answer::Yes } else { Answer::No }
    }

    // ---- parts

    fn part(&self, view: &'static str, scatter: &'static str) -> Kind {
        Kind::Part { view, scatter, rest: self.node.args.iter().skip(1).cloned().collect() }
    }

    /// `start..end` of an axis.
    fn piece(&self, graph: &mut Graph, axis: i64, start: &Dim, end: &Dim) -> View {
        let interval = match (start, end) {
            (Dim::Static(first), Dim::Static(end)) => Some(Interval { axis, first: *first, end: *end }),
            _ => None,
        };
        let rest = vec![
            named("dim", Arg::Int(axis)),
            named("start", dim_arg(graph, start)),
            named("end", dim_arg(graph, end)),
        ];
        let kind = Kind::Part { view: "aten.slice.Tensor", scatter: "aten.slice_scatter.default", rest };
        View { kind, interval, certain: true }
    }

    fn slice_interval(&self, graph: &Graph) -> Option<Interval> {
        let axis = self.axis("dim", 0)?;
        let bound = |name: &str, default: i64| match self.node.arg(name) {
            None | Some(Arg::None) => Some(default),
            Some(arg) => self.counted_from_front(dim_of(graph, arg)?.as_static()?, axis),
        };
        Some(Interval { axis, first: bound("start", 0)?, end: bound("end", i64::MAX)? })
    }

    /// The diagonal of the last two axes unless they are named; `diagonal` itself takes the first two.
    fn linalg_diagonal(&self) -> Kind {
        let value = |name: &str, default: i64| Arg::Int(self.int(name).unwrap_or(default));
        let rest = vec![
            named("offset", value("offset", 0)),
            named("dim1", value("dim1", -2)),
            named("dim2", value("dim2", -1)),
        ];
        Kind::Part { view: "aten.diagonal.default", scatter: "aten.diagonal_scatter.default", rest }
    }

    // ---- orders of axes

    fn exchange(&self, a: i64, b: i64) -> Kind {
        let mut permutation: Vec<i64> = (0..self.old.sizes.len() as i64).collect();
        if let (Ok(a), Ok(b)) = (usize::try_from(a), usize::try_from(b))
            && a.max(b) < permutation.len()
        {
            permutation.swap(a, b);
        }
        Kind::Permute(permutation)
    }

    fn moved(&self) -> Option<Kind> {
        let axes = |name: &str| -> Option<Vec<i64>> {
            self.ints(name)?.into_iter().map(|axis| self.normalized(axis)).collect()
        };
        let (from, to) = (axes("source")?, axes("destination")?);
        let rank = self.old.sizes.len() as i64;
        let mut rest = (0..rank).filter(|axis| !from.contains(axis));
        let permutation = (0..rank)
            .map(|axis| match to.iter().position(|&place| place == axis) {
                Some(moved) => from.get(moved).copied(),
                None => rest.next(),
            })
            .collect::<Option<Vec<i64>>>()?;
        Some(Kind::Permute(permutation))
    }

    /// `view.dtype` between types of one width has an inverse; between others it changes the last size.
    fn converted(&self) -> Option<Kind> {
        Some(match self.old.dtype.bits() == self.new.dtype.bits() {
            true => Kind::Convert { inverse: "aten.view.dtype" },
            false => Kind::Opaque,
        })
    }

    // ---- arguments

    fn int(&self, name: &str) -> Option<i64> {
        match self.node.arg(name)? {
            Arg::Int(value) => Some(*value),
            _ => None,
        }
    }

    fn ints(&self, name: &str) -> Option<Vec<i64>> {
        match self.node.arg(name)? {
            Arg::Int(value) => Some(vec![*value]),
            Arg::Ints(values) => Some(values.clone()),
            _ => None,
        }
    }

    fn bool(&self, name: &str) -> Option<bool> {
        match self.node.arg(name)? {
            Arg::Bool(value) => Some(*value),
            _ => None,
        }
    }

    fn normalized(&self, axis: i64) -> Option<i64> {
        let rank = (self.old.sizes.len() as i64).max(1);
        let axis = if axis < 0 { axis + rank } else { axis };
        (0..rank).contains(&axis).then_some(axis)
    }

    fn axis(&self, name: &str, default: i64) -> Option<i64> {
        self.normalized(self.int(name).unwrap_or(default))
    }

    /// An index of an axis; a negative one needs the size of the axis.
    fn counted_from_front(&self, index: i64, axis: i64) -> Option<i64> {
        if index >= 0 {
            return Some(index);
        }
        let size = self.old.sizes.get(usize::try_from(axis).ok()?)?.as_static()?;
        Some((index + size).max(0))
    }
}
