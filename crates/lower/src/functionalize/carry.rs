//! Carries contents between a place and its views: up, when a view was written and what holds it is read; down,
//! when a view is read after what it shows has changed.

use modelexport_graph::aten::{Arg, NamedArg, TensorMeta, ValueId};
use modelexport_graph::{DType, Dim};

use super::aliases::{AliasId, Step, Writer};
use super::arguments::{dim_arg, dims_arg, element_count, named};
use super::rewriter::Rewriter;
use super::view::Kind;
use crate::error::Result;

impl Rewriter<'_> {
    // ---- up

    /// Carries the `writes`, all of them below `target`, into `target`, in order. Writes in a row that go through
    /// one view of `target` are carried into that view first.
    pub(super) fn carry_all(&mut self, target: AliasId, writes: &[AliasId]) -> Result<()> {
        let mut rest = writes;
        while let Some(&first) = rest.first() {
            let child = self.aliases.towards(target, first);
            let count =
                rest.iter().take_while(|&&write| self.aliases.towards(target, write) == child).count();
            let (run, after) = rest.split_at(count);
            self.carry_run(target, child, run)?;
            rest = after;
        }
        Ok(())
    }

    fn carry_run(&mut self, target: AliasId, child: AliasId, run: &[AliasId]) -> Result<()> {
        let Some(place) = self.aliases.get(child) else { return Ok(()) };
        let Some(step) = place.step.clone() else { return Ok(()) };
        if place.overlaps || matches!(step.view.kind, Kind::Repeat) {
            for &write in run {
                let value = self.scatter_by_position(target, write)?;
                self.aliases.set_carried(target, write, value);
                self.aliases.set_outdated(write);
            }
            return Ok(());
        }
        self.check(&step)?;
        let below = match run {
            [first, below @ ..] if *first == child => below,
            _ => run,
        };
        if !below.is_empty() {
            self.carry_all(child, below)?;
        }
        let value = self.scatter(target, child, &step)?;
        self.aliases.set_carried(target, child, value);
        self.aliases.set_in_step(child);
        Ok(())
    }

    /// What `target` holds after `child` was written, which `step` shows of it.
    fn scatter(&mut self, target: AliasId, child: AliasId, step: &Step) -> Result<ValueId> {
        let (Some(above), Some(below)) = (self.aliases.get(target), self.aliases.get(child)) else {
            return self.refuse("writes to an unknown tensor");
        };
        let meta = above.meta.clone();
        let (Some(source), Some(writer)) = (below.value, below.writer.clone()) else {
            return self.refuse("writes to a tensor that no node before it makes");
        };
        let wanted = format!("{}_scatter", writer.name.trim_end_matches('_'));
        let source_arg = |name: &str| named(name, Arg::Tensor(source));
        let (operator, args) = match &step.view.kind {
            Kind::Reshape => {
                let sizes = dims_arg(self.graph, &meta.sizes);
                ("aten.reshape.default", vec![source_arg("self"), named("shape", sizes)])
            }
            Kind::Permute(permutation) => {
                let mut inverse = vec![0; permutation.len()];
                for (i, &axis) in permutation.iter().enumerate() {
                    if let Some(slot) = usize::try_from(axis).ok().and_then(|axis| inverse.get_mut(axis)) {
                        *slot = i as i64;
                    }
                }
                ("aten.permute.default", vec![source_arg("self"), named("dims", Arg::Ints(inverse))])
            }
            Kind::Part { scatter, rest, .. } => {
                let old = self.take(target)?;
                let old = self.laid_out(old, &meta, step, &wanted, &writer);
                let mut args = vec![named("self", Arg::Tensor(old)), source_arg("src")];
                args.extend(rest.iter().cloned());
                (*scatter, args)
            }
            Kind::Convert { inverse: "aten.view.dtype" } => {
                ("aten.view.dtype", vec![source_arg("self"), named("dtype", Arg::DType(meta.dtype))])
            }
            Kind::Convert { inverse } => (*inverse, vec![source_arg("self")]),
            Kind::RealPart | Kind::ImaginaryPart => {
                let old = self.take(target)?;
                let writes_real = matches!(step.view.kind, Kind::RealPart);
                let other = if writes_real { "aten.imag.default" } else { "aten.real.default" };
                let part = TensorMeta { dtype: meta.dtype.real(), ..meta.clone() };
                let kept = self.emit(other, vec![named("self", Arg::Tensor(old))], part, &wanted, &writer);
                let (real, imag) = if writes_real { (source, kept) } else { (kept, source) };
                let args = vec![named("real", Arg::Tensor(real)), named("imag", Arg::Tensor(imag))];
                ("aten.complex.default", args)
            }
            Kind::Repeat | Kind::Opaque => {
                return self.refuse("writes through a view that cannot be followed: clone it first");
            }
        };
        Ok(self.emit(operator, args, meta, &wanted, &writer))
    }

    /// What `target` holds after `write` was written, through views that show an element more than once: the
    /// positions of all elements of `target` go through the same views, and say where each written element belongs.
    fn scatter_by_position(&mut self, target: AliasId, write: AliasId) -> Result<ValueId> {
        let old = self.take(target)?;
        let (Some(above), Some(below)) = (self.aliases.get(target), self.aliases.get(write)) else {
            return self.refuse("writes to an unknown tensor");
        };
        let (meta, written_sizes) = (above.meta.clone(), below.meta.sizes.clone());
        let (Some(source), Some(writer)) = (below.value, below.writer.clone()) else {
            return self.refuse("writes to a tensor that no node before it makes");
        };
        let wanted = format!("{}_scatter", writer.name.trim_end_matches('_'));
        let positions = |sizes: &[Dim]| row_major(DType::I64, sizes);

        let count = element_count(&meta.sizes);
        let end = dim_arg(self.graph, &count);
        let flat = positions(std::slice::from_ref(&count));
        let mut at = self.emit("aten.arange.default", vec![named("end", end)], flat, &wanted, &writer);
        at = self.reshaped(at, positions(&meta.sizes), &wanted, &writer);
        let (mut above, mut above_meta) = (target, meta.clone());
        while above != write {
            let next = self.aliases.towards(above, write);
            let Some(place) = self.aliases.get(next) else { break };
            let Some(step) = place.step.clone() else { break };
            let below_meta = place.meta.clone();
            if matches!(
                step.view.kind,
                Kind::Convert { .. } | Kind::RealPart | Kind::ImaginaryPart | Kind::Opaque
            ) {
                return self.refuse("writes through a view that cannot be followed: clone it first");
            }
            self.check(&step)?;
            at = self.laid_out(at, &above_meta, &step, &wanted, &writer);
            let (operator, args) = repeated(&step, at);
            at = self.emit(&operator, args, positions(&below_meta.sizes), &wanted, &writer);
            (above, above_meta) = (next, below_meta);
        }
        let written = [element_count(&written_sizes)];
        let at = self.reshaped(at, positions(&written), &wanted, &writer);
        let source = self.reshaped(source, row_major(meta.dtype, &written), &wanted, &writer);
        let flat = row_major(meta.dtype, &[count]);
        let old = self.reshaped(old, flat.clone(), &wanted, &writer);
        let args = vec![
            named("self", Arg::Tensor(old)),
            named("dim", Arg::Int(0)),
            named("index", Arg::Tensor(at)),
            named("src", Arg::Tensor(source)),
        ];
        let scattered = self.emit("aten.scatter.src", args, flat, &wanted, &writer);
        Ok(self.reshaped(scattered, meta, &wanted, &writer))
    }

    fn reshaped(&mut self, value: ValueId, meta: TensorMeta, wanted: &str, writer: &Writer) -> ValueId {
        if self.graph.tensor(value).is_some_and(|old| old.sizes == meta.sizes) {
            return value;
        }
        let shape = dims_arg(self.graph, &meta.sizes);
        let args = vec![named("self", Arg::Tensor(value)), named("shape", shape)];
        self.emit("aten.reshape.default", args, meta, wanted, writer)
    }

    // ---- down

    /// The contents of the view `place`, taken from what the place above holds.
    pub(super) fn take_view(&mut self, place: AliasId) -> Result<ValueId> {
        let Some(found) = self.aliases.get(place) else { return self.refuse("reads an unknown tensor") };
        let (meta, like) = (found.meta.clone(), found.like);
        let Some(step) = found.step.clone() else {
            return self.refuse("reads a tensor that no node before it makes");
        };
        self.check(&step)?;
        let parent = self.aliases.get(step.parent).map(|place| (place.value, place.meta.clone()));
        let Some((Some(above), above_meta)) = parent else {
            return self.refuse("reads a tensor that no node before it makes");
        };
        if matches!(step.view.kind, Kind::Opaque) {
            return self.refuse(format!(
                "reads `{}` after what it is a view of was changed, which cannot be followed: clone it first",
                step.node.name
            ));
        }
        let wanted = self.graph.value(like).map_or_else(|| step.node.name.clone(), |like| like.name.clone());
        // A window of a weight was made by no node: it is taken for the node that reads it.
        let maker = if step.node.outputs.is_empty() { &self.at } else { &*step.node };
        let origin = Writer::of(maker);
        let above = self.laid_out(above, &above_meta, &step, &wanted, &origin);
        let (operator, args) = repeated(&step, above);
        Ok(self.emit(&operator, args, meta, &wanted, &origin))
    }

    /// `value` with the strides and the offset of the place that it holds the contents of, if `step` goes by them: what
    /// was copied to a place may have others.
    fn laid_out(
        &mut self,
        value: ValueId,
        place: &TensorMeta,
        step: &Step,
        wanted: &str,
        writer: &Writer,
    ) -> ValueId {
        let Some(own) = self.graph.tensor(value).cloned() else { return value };
        let is_alike = own.strides == place.strides && own.storage_offset == place.storage_offset;
        if is_alike || !step.view.kind.is_strided() {
            return value;
        }
        let meta = TensorMeta { dtype: own.dtype, ..place.clone() };
        self.emit("aten.alias.default", vec![named("self", Arg::Tensor(value))], meta, wanted, writer)
    }

    /// Refuses to go through a reshape of which nobody can say whether it copied.
    fn check(&self, step: &Step) -> Result<()> {
        if step.view.certain {
            return Ok(());
        }
        self.refuse(format!(
            "needs to know whether `{}` ({}) shares memory with its input, which symbolic sizes leave open: \
             clone it before changing one of the two",
            step.node.name, step.node.target
        ))
    }
}

/// The operator and arguments that show of `value` what `step` shows.
fn repeated(step: &Step, value: ValueId) -> (String, Vec<NamedArg>) {
    if let Kind::Part { view, rest, .. } = &step.view.kind {
        let mut args = vec![named("self", Arg::Tensor(value))];
        args.extend(rest.iter().cloned());
        return ((*view).to_owned(), args);
    }
    let (target, mut args) = (&step.node.target, step.node.args.clone());
    if let Some(source) = args.iter_mut().find(|arg| matches!(arg.arg, Arg::Tensor(_))) {
        source.arg = Arg::Tensor(value);
    }
    (target.to_string(), args)
}

/// Metadata of a contiguous tensor.
fn row_major(dtype: DType, sizes: &[Dim]) -> TensorMeta {
    let strides = (1..=sizes.len()).map(|i| element_count(sizes.get(i..).unwrap_or_default())).collect();
    TensorMeta {
        dtype,
        sizes: sizes.to_vec(),
        strides,
        storage_offset: Dim::Static(0),
        layout: modelexport_graph::aten::Layout::Strided,
    }
}
