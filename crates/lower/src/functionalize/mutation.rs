//! In-place operators: what they write is computed by their functional variant and noted as the new contents of the
//! tensor.

use std::sync::Arc;

use modelexport_graph::DType;
use modelexport_graph::aten::{Arg, NamedArg, Node, TensorMeta, ValueId, ValueKind};
use modelexport_graph::shape::{static_numel, static_shape};

use super::aliases::{AliasId, MAX_DEPTH, Writer};
use super::arguments::named;
use super::dtype::computed_dtype;
use super::functional_variant::{self, Effect, aten_name};
use super::rewriter::{Rewriter, TensorId};
use super::strides::is_contiguous;
use super::view::{self, Kind, View, shown_by, source_of};
use crate::error::Result;

/// Pending writes of one memory before they are carried to its root whether read or not: what a read looks through
/// stays short.
const MAX_PENDING: usize = 64;

impl Rewriter<'_> {
    pub(super) fn in_place(&mut self, node: Node, effect: Effect) -> Result<()> {
        let Some(value) = source_of(&node) else {
            return self.refuse("changes something that is not one tensor");
        };
        let (Some(tensor), Some(place)) = (self.tensor(value), self.place(value)) else {
            return self
                .refuse(format!("changes `{}`, which no node before it makes", self.value_name(value)));
        };
        let results = view::results_of(&node);
        let is_dropout = aten_name(&node.target).ends_with("dropout_");
        let written = match effect {
            Effect::Nothing => None,
            // Without training nothing is dropped.
            Effect::Update if is_dropout && matches!(node.arg("train"), Some(Arg::Bool(false))) => None,
            Effect::Storage if matches!(aten_name(&node.target), "resize_" | "resize_as_") => {
                match self.resized(node)? {
                    Some(node) => return self.reshape_in_place(node, tensor, place),
                    None => None,
                }
            }
            Effect::Storage => {
                return self.refuse("gives a tensor other memory or another size, which cannot be followed");
            }
            Effect::Reshape => return self.reshape_in_place(node, tensor, place),
            Effect::FillDiagonal => return self.fill_diagonal(node, tensor, place),
            Effect::Copy => Some(self.copy(node, value)?),
            Effect::Update | Effect::Overwrite => Some(self.compute(node, effect)?),
        };
        if let Some(written) = written {
            self.write(place, written)?;
        }
        for result in results {
            self.name_tensor(result, tensor);
        }
        Ok(())
    }

    /// Emits the functional variant of an in-place node; the value that holds what is written.
    fn compute(&mut self, mut node: Node, effect: Effect) -> Result<ValueId> {
        let name = aten_name(&node.target).to_owned();
        let Some(target) = functional_variant::functional_variant(&node.target) else {
            return self.refuse("changes a tensor in a way that is not known");
        };
        let own = self.own_meta(&node)?;
        let computed = computed_dtype(self.graph, &node, own.dtype);
        for (i, arg) in node.args.iter_mut().enumerate() {
            arg.name = functional_variant::variant_argument(&name, &arg.name).into();
            match effect == Effect::Overwrite && i == 0 {
                true => self.look_at_arg(&mut arg.arg)?,
                false => self.read_arg(&mut arg.arg)?,
            }
        }
        node.target = target.into();
        if name == "zero_" {
            node.args.push(named("value", Arg::Int(0)));
        }
        let result = self.result_of(&node, &own);
        if computed == own.dtype {
            node.outputs = vec![Arg::Tensor(result)];
            self.nodes.push(node);
            return Ok(result);
        }
        // An in-place operator computes in the promoted type and keeps the type of its tensor.
        let dtype = own.dtype;
        let wide = self.new_value(&node.name, TensorMeta { dtype: computed, ..own });
        node.outputs = vec![Arg::Tensor(wide)];
        self.nodes.push(node);
        self.convert(wide, dtype, result);
        Ok(result)
    }

    /// `copy_`: the other tensor itself if it looks alike, else broadcast and converted.
    fn copy(&mut self, node: Node, own: ValueId) -> Result<ValueId> {
        let Some(Arg::Tensor(source)) = node.arg("src").cloned() else {
            return self.refuse("copies from something that is not a tensor");
        };
        let meta = self.own_meta(&node)?;
        let looks_alike = self
            .graph
            .tensor(source)
            .is_some_and(|source| source.sizes == meta.sizes && source.dtype == meta.dtype);
        let source = self.read(source)?;
        if looks_alike {
            return Ok(source);
        }
        let own = self.look_at(own)?;
        let result = self.result_of(&node, &meta);
        self.nodes.push(Node {
            target: "aten.copy.default".into(),
            args: vec![named("self", Arg::Tensor(own)), named("src", Arg::Tensor(source))],
            outputs: vec![Arg::Tensor(result)],
            ..node
        });
        Ok(result)
    }

    /// The tensor shows another view of its memory from now on; all its names see that.
    fn reshape_in_place(&mut self, mut node: Node, tensor: TensorId, place: AliasId) -> Result<()> {
        let Some(target) = functional_variant::functional_variant(&node.target) else {
            return self.refuse("changes a tensor in a way that is not known");
        };
        node.target = target.into();
        let results = view::results_of(&node);
        let Some(&result) = results.first() else {
            return self.refuse("returns no tensor");
        };
        let recorded = source_of(&node).and_then(|value| self.graph.tensor(value));
        if self.aliases.get(place).map(|place| &place.meta) != recorded {
            return self.refuse("changes a tensor that does not look as it was recorded");
        }
        let shown = shown_by(self.graph, &node);
        self.view(node, shown)?;
        let Some(new) = self.place(result) else { return self.refuse("returns an unknown tensor") };
        if let Some(slot) = self.tensors.get_mut(tensor.0) {
            *slot = new;
        }
        for result in results {
            self.name_tensor(result, tensor);
        }
        Ok(())
    }

    /// What `resize_` is: another view of the leading elements; `None` if the sizes stay. More elements than the tensor has
    /// would be memory that nobody has written.
    fn resized(&self, node: Node) -> Result<Option<Node>> {
        let old = self.own_meta(&node)?;
        let Some(new) = view::results_of(&node).first().and_then(|&result| self.graph.tensor(result)) else {
            return self.refuse("returns no tensor");
        };
        if new.sizes == old.sizes && new.strides == old.strides {
            return Ok(None);
        }
        if !is_contiguous(&old) || !is_contiguous(new) {
            return self.refuse("gives another size to a tensor whose elements do not lie in order");
        }
        let (Some(have), Some(want), Some(sizes)) =
            (static_numel(&old.sizes), static_numel(&new.sizes), static_shape(&new.sizes))
        else {
            return self.refuse("gives a tensor another size that is symbolic");
        };
        if want > have {
            return self
                .refuse(format!("grows a tensor from {have} to {want} elements, which nothing has written"));
        }
        let own = node.arg("self").cloned();
        let mut args: Vec<NamedArg> = own.into_iter().map(|own| named("self", own)).collect();
        args.push(named("size", Arg::Ints(sizes)));
        if want == have {
            return Ok(Some(Node { target: "aten.view_.default".into(), args, ..node }));
        }
        args.push(named("stride", Arg::Ints(static_shape(&new.strides).unwrap_or_default())));
        Ok(Some(Node { target: "aten.as_strided_.default".into(), args, ..node }))
    }

    /// `fill_diagonal_` of a matrix is `fill_` of its diagonal.
    fn fill_diagonal(&mut self, node: Node, tensor: TensorId, place: AliasId) -> Result<()> {
        let meta = self.own_meta(&node)?;
        let (Some([rows, columns]), Some(fill)) = (static_matrix(&meta), node.arg("fill_value").cloned())
        else {
            return self.refuse("fills the diagonal of a tensor that is not a matrix of known size");
        };
        if matches!(node.arg("wrap"), Some(Arg::Bool(true))) && rows > columns {
            return self.refuse("fills a diagonal that wraps around, which is not supported");
        }
        let stride: Option<i64> = meta.strides.iter().map(|stride| stride.as_static()).sum();
        let Some(stride) = stride else { return self.refuse("fills a diagonal of unknown stride") };
        let diagonal =
            TensorMeta { sizes: vec![rows.min(columns).into()], strides: vec![stride.into()], ..meta };
        let shown = self.new_value(&node.name, diagonal.clone());
        let kind = Kind::Part {
            view: "aten.diagonal.default",
            scatter: "aten.diagonal_scatter.default",
            rest: vec![named("offset", Arg::Int(0)), named("dim1", Arg::Int(0)), named("dim2", Arg::Int(1))],
        };
        let view = View { kind, interval: None, certain: true };
        let node = Arc::new(node);
        let target = self.add_view(&node, place, shown, &view, false);
        let own = match self.aliases.get(target).and_then(|place| place.value) {
            Some(value) => value,
            None => self.take(target)?,
        };
        let filled = self.new_value(&node.name, diagonal);
        self.nodes.push(Node {
            target: "aten.fill.Scalar".into(),
            args: vec![named("self", Arg::Tensor(own)), named("value", fill)],
            outputs: vec![Arg::Tensor(filled)],
            ..Node::clone(&node)
        });
        self.write(target, filled)?;
        for result in view::results_of(&node) {
            self.name_tensor(result, tensor);
        }
        Ok(())
    }

    /// A norm in training mode: its result is kept, the statistics that it updates cannot be read afterwards.
    pub(super) fn updates_statistics(&mut self, mut node: Node, running: &[ValueId]) -> Result<()> {
        for arg in &mut node.args {
            match arg.arg {
                Arg::Tensor(id) if running.contains(&id) => self.look_at_arg(&mut arg.arg)?,
                _ => self.read_arg(&mut arg.arg)?,
            }
        }
        for place in running.iter().filter_map(|&id| self.place(id)).collect::<Vec<_>>() {
            self.aliases.invalidate(place, &format!("which `{}` updates while training", node.name));
            self.note_writer(place);
        }
        for result in view::results_of(&node) {
            self.add_tensor(result);
        }
        self.nodes.push(node);
        Ok(())
    }

    fn write(&mut self, place: AliasId, value: ValueId) -> Result<()> {
        let Some(found) = self.aliases.get(place) else { return Ok(()) };
        if found.overlaps {
            return self.refuse(
                "writes to a tensor whose elements share memory (an expanded tensor, or overlapping windows): \
                 clone it first",
            );
        }
        if found.depth > MAX_DEPTH {
            return self.refuse(format!("writes through more than {MAX_DEPTH} views of views"));
        }
        let writer = Writer::of(&self.at);
        let root = found.root;
        self.note_writer(place);
        if self.aliases.write(place, value, writer) > MAX_PENDING {
            self.contents(root)?;
        }
        Ok(())
    }

    /// What the tensor that an in-place node changes looks like.
    fn own_meta(&self, node: &Node) -> Result<TensorMeta> {
        let place = source_of(node).and_then(|value| self.place(value));
        match place.and_then(|place| self.aliases.get(place)) {
            Some(place) => Ok(place.meta.clone()),
            None => self.refuse("changes an unknown tensor"),
        }
    }

    /// The value that an in-place node returns, or a new one if it returns nothing.
    fn result_of(&mut self, node: &Node, meta: &TensorMeta) -> ValueId {
        match view::results_of(node).first() {
            Some(&result) => {
                if let Some(value) = self.graph.values.get_mut(result.0 as usize) {
                    value.kind = ValueKind::Tensor(meta.clone().into());
                }
                result
            }
            None => self.new_value(&node.name.clone(), meta.clone()),
        }
    }

    fn convert(&mut self, value: ValueId, dtype: DType, result: ValueId) {
        let name = self.names.take(&format!("{}_to", self.at.name.trim_end_matches('_')));
        self.nodes.push(Node {
            name,
            target: "aten._to_copy.default".into(),
            args: vec![named("self", Arg::Tensor(value)), keyword("dtype", Arg::DType(dtype))],
            outputs: vec![Arg::Tensor(result)],
            scope: self.at.scope,
            method: self.at.method,
            trace: self.at.trace,
        });
    }
}

/// The two sizes of a matrix.
fn static_matrix(meta: &TensorMeta) -> Option<[i64; 2]> {
    match meta.sizes.as_slice() {
        [rows, columns] => Some([rows.as_static()?, columns.as_static()?]),
        _ => None,
    }
}

fn keyword(name: &str, arg: Arg) -> NamedArg {
    NamedArg { is_keyword: true, ..named(name, arg) }
}
