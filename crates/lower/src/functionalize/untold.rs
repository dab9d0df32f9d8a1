//! Memory that is shared without the program saying so. An archive keeps the storages of the state and of other tensors
//! apart, and those of each element type; of a storage that both need it has two copies. Where a weight is written and
//! the storage of another one, which the program could not know to be the same, has the same bytes, the export is refused.

use std::collections::HashSet;

use modelexport_graph::aten::{InputSpec, Program, ValueId, Weight};
use modelexport_graph::{DType, Span, StridedView};

use super::Written;
use super::storage::weight_of;
use crate::error::{Error, Result};
use crate::passes::Load;

/// Bytes that are compared at once.
const CHUNK: u64 = 1 << 20;

/// Refuses a program that may write to memory which another weight shows, too.
pub fn refuse_untold_sharing(program: &Program, written: &[Written], load: Load<'_>) -> Result<()> {
    if written.is_empty() {
        return Ok(());
    }
    let read = values_read(program);
    for changed in written {
        let Some(writer) = Seen::of(program, changed.input) else { continue };
        for input in 0..program.signature.inputs.len() {
            let Some(other) = Seen::of(program, input) else { continue };
            if read.contains(&other.value) && writer.may_be(&other) && writer.has_bytes_of(&other, load) {
                let reason = format!(
                    "changes `{}`, whose memory has the same bytes as that of `{}`. An archive does not tell whether a tensor \
                     of the state shares memory with one that is not saved, nor tensors of different types: export the live \
                     model, or keep one of the two and take the other from it in `forward`",
                    writer.weight.name, other.weight.name
                );
                return Err(Error::Node { place: Box::new(changed.place.clone()), reason });
            }
        }
    }
    Ok(())
}

fn values_read(program: &Program) -> HashSet<ValueId> {
    let mut read = HashSet::new();
    let args = program.graph.nodes.iter().flat_map(|node| node.args.iter().map(|arg| &arg.arg));
    for arg in args.chain(&program.graph.outputs) {
        arg.for_each_tensor(&mut |id| {
            read.insert(id);
        });
    }
    read
}

/// A weight among the inputs.
struct Seen<'a> {
    value: ValueId,
    weight: &'a Weight,
    data: &'a StridedView,
    is_saved: bool,
}

impl<'a> Seen<'a> {
    fn of(program: &'a Program, input: usize) -> Option<Seen<'a>> {
        let spec = program.signature.inputs.get(input)?;
        let weight = program.weights.get(weight_of(spec)? as usize)?;
        let mut value = None;
        program.graph.inputs.get(input)?.for_each_tensor(&mut |id| value = Some(id));
        let is_saved =
            !matches!(spec, InputSpec::TensorConstant { .. } | InputSpec::Buffer { persistent: false, .. });
        Some(Seen { value: value?, weight, data: weight.data.as_ref()?, is_saved })
    }

    /// Whether the two could be one storage of which the archive has two copies.
    fn may_be(&self, other: &Seen<'_>) -> bool {
        let (a, b) = (self.data.span, other.data.span);
        let is_apart = self.is_saved != other.is_saved || self.weight.dtype != other.weight.dtype;
        is_apart && a.source == b.source && a.offset != b.offset && a.length == b.length && a.length > 0
    }

    /// Whether the storages have the same bytes. Fresh tensors that are all zero or the like do not count: they are
    /// many, and equal by chance.
    fn has_bytes_of(&self, other: &Seen<'_>, load: Load<'_>) -> bool {
        let is_plain = self.fills_its_storage() && other.fills_its_storage();
        let mut first = None;
        let mut varies = false;
        for start in (0..self.data.span.length).step_by(CHUNK as usize) {
            let (Some(mine), Some(theirs)) =
                (bytes(self.data.span, start, load), bytes(other.data.span, start, load))
            else {
                return false;
            };
            if mine != theirs {
                return false;
            }
            let first = *first.get_or_insert(mine.first().copied());
            varies |= mine.iter().any(|&byte| Some(byte) != first);
        }
        varies || !is_plain
    }

    fn fills_its_storage(&self) -> bool {
        let count = modelexport_graph::element_count(&self.data.sizes);
        let length = count.and_then(|count| self.weight.dtype.byte_len(count));
        self.data.is_contiguous() && length == Some(self.data.span.length)
    }
}

/// Some bytes of a storage.
fn bytes(span: Span, start: u64, load: Load<'_>) -> Option<Vec<u8>> {
    let sizes = vec![CHUNK.min(span.length - start)];
    let data = StridedView { span, offset: start, sizes: sizes.clone(), strides: vec![1] };
    load(&Weight {
        name: "".into(),
        kind: modelexport_graph::aten::WeightKind::Constant,
        dtype: DType::U8,
        sizes,
        data: Some(data),
    })
}
