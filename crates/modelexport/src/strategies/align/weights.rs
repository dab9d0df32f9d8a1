//! Classes of weights that have the same content.
//!
//! Exporters keep one of several equal weights: in an untrained model, one vector of zeros represents most biases, under the
//! name of the first. A name therefore only identifies the content of a weight, and all parameters with this content form one
//! class.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use modelexport_graph::DType;
use modelexport_graph::aten::Weight;
use modelexport_io::pt2::Archive;
use modelexport_io::source::Sources;

use super::super::Context;
use super::super::evidence::{Evidence, ParameterId};
use super::super::graph::ValueId;

/// Larger weights are not read: exporters compare and merge small ones only.
const MAX_BYTES: u64 = 1 << 16;

/// The class of each parameter of the evidence.
#[derive(Debug)]
pub(crate) struct Classes {
    /// By [`ParameterId`].
    classes: Vec<u32>,
}

impl Classes {
    /// `archive` holds weights whose content the evidence does not tell.
    pub(crate) fn new(evidence: &Evidence, archive: Option<&Archive>) -> Self {
        let mut contents = vec![None; evidence.parameters.len()];
        for (id, fact) in evidence.parameters.iter() {
            if let (Some(slot), Some(sum), Some(dtype)) =
                (contents.get_mut(id.0 as usize), fact.fingerprint, fact.dtype)
            {
                *slot = Some((dtype, fact.elements, sum));
            }
        }
        if let Some(archive) = archive {
            for weight in &archive.program.weights {
                let id = evidence.parameters.find(&weight.name);
                if let Some(slot @ None) = id.and_then(|id| contents.get_mut(id.0 as usize)) {
                    *slot = content(weight, &archive.sources);
                }
            }
        }
        let mut seen: HashMap<(DType, u64, u64), u32> = HashMap::new();
        let class = |(i, content): (usize, &Option<(DType, u64, u64)>)| match content {
            Some(content) => *seen.entry(*content).or_insert(i as u32),
            None => i as u32,
        };
        Classes { classes: contents.iter().enumerate().map(class).collect() }
    }

    pub(crate) fn of(&self, parameter: ParameterId) -> Option<u32> {
        self.classes.get(parameter.0 as usize).copied()
    }

    /// The class that a value of the graph is of, if it is a parameter.
    pub(crate) fn of_value(&self, context: &Context<'_>, value: ValueId) -> Option<u32> {
        // Several parameters that a value may be have one content.
        self.of(*context.anchors.candidates(value).first()?)
    }
}

/// Type, number of elements and a number for the bytes of a small weight.
fn content(weight: &Weight, sources: &Sources) -> Option<(DType, u64, u64)> {
    let data = weight.data.as_ref().filter(|data| data.is_contiguous())?;
    let elements = weight.sizes.iter().try_fold(1u64, |product, &size| product.checked_mul(size))?;
    let length = weight.dtype.byte_len(elements).filter(|length| *length <= MAX_BYTES)?;
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    let start = data.span.offset.checked_add(weight.dtype.byte_len(data.offset)?)?;
    sources.read_at(data.span.source, start, &mut bytes).ok()?;
    let mut hasher = DefaultHasher::new();
    (&weight.sizes, bytes).hash(&mut hasher);
    Some((weight.dtype, elements, hasher.finish()))
}
