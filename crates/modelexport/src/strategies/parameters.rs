//! Which parameter of the model a value of the graph is.
//!
//! By name first. An exporter may have renamed, transposed or folded a parameter; then its content tells, by a
//! fingerprint that does not depend on the order of elements. Fingerprints are taken only of tensors that no name
//! matched, and on the side of the evidence only where type and size fit.

use std::collections::{HashMap, HashSet};

use modelexport_graph::{DType, StridedView};
use modelexport_io::fingerprint::{Fingerprint, Fingerprinter};
use modelexport_io::source::Sources;

use super::evidence::{Evidence, ParameterFact, ParameterId, sorted_dims};
use super::graph::{Constant, Content, GraphView, ValueId};
use super::lists::Lists;

/// Smaller tensors are not told apart by their content: too many constants have the same few numbers.
const LEAST_ELEMENTS: u64 = 8;

/// Bytes that are read at a time.
const CHUNK: usize = 1 << 20;

/// By [`ValueId`]: the parameters that a value may be.
#[derive(Clone, Debug, Default)]
pub struct Anchors {
    candidates: Lists<ParameterId>,
    /// Parameters that no value of the graph matches by name or content, by their dimensions.
    by_dims: HashMap<Vec<u64>, Vec<ParameterId>>,
}

impl Anchors {
    /// `sources` is where the tensors of the graph lie.
    pub fn new(graph: &GraphView, sources: &Sources, evidence: &Evidence) -> Self {
        // Any value may have a parameter's name: one that equals another is made from it by an `Identity`.
        let mut candidates: Vec<Vec<ParameterId>> = graph
            .values()
            .map(|(_, value)| evidence.parameters.find(graph.text(value.name)).into_iter().collect())
            .collect();
        let named: HashSet<ParameterId> = candidates.iter().flatten().copied().collect();
        let tensors: Vec<(ValueId, Constant<'_>, Size)> = graph
            .values()
            .filter_map(|(id, _)| {
                let tensor = graph.constant(id)?;
                let size = |all: u64, &dim: &i64| all.checked_mul(u64::try_from(dim).ok()?);
                let elements = tensor.dims.iter().try_fold(1, size)?;
                (elements >= LEAST_ELEMENTS).then_some((id, tensor, (tensor.dtype?, elements)))
            })
            .collect();
        let known = KnownContents::new(evidence, tensors.iter().map(|(_, _, size)| *size).collect(), &named);
        for (id, tensor, size) in tensors {
            let Some(place) = candidates.get_mut(id.0 as usize).filter(|_| known.sizes.contains(&size))
            else {
                continue;
            };
            // An exporter that finds equal tensors keeps one of them, so that the others may be meant as well.
            let content = match place.first() {
                Some(&named) => known.contents.get(&named).copied(),
                None => of_content(tensor.content, size.0, sources),
            };
            let equal = content.and_then(|content| known.by_content.get(&content));
            place.extend(equal.into_iter().flatten().filter(|id| !named.contains(id)));
            if place.is_empty() {
                place.extend(equal.into_iter().flatten());
            }
        }
        pass_through_copies(graph, &mut candidates);
        let candidates = candidates.into_iter().collect::<Lists<ParameterId>>();
        let found: HashSet<ParameterId> = candidates.iter().flatten().copied().collect();
        let mut by_dims: HashMap<Vec<u64>, Vec<ParameterId>> = HashMap::new();
        for (id, fact) in evidence.parameters.iter().filter(|(id, _)| !found.contains(id)) {
            if let Some(dims) = fact.sorted_dims.as_ref().filter(|_| fact.elements >= LEAST_ELEMENTS) {
                by_dims.entry(dims.clone()).or_default().push(id);
            }
        }
        Anchors { candidates, by_dims }
    }

    /// The parameters that a constant of the graph may have been made from by changing its numbers, as an exporter
    /// does that merges a norm into a convolution: those of the same dimensions that are nowhere else.
    pub fn changed_from(&self, graph: &GraphView, value: ValueId) -> &[ParameterId] {
        let Some(tensor) = graph.constant(value).filter(|_| self.candidates(value).is_empty()) else {
            return &[];
        };
        let is_weight = tensor.dims.len() > 1 && tensor.dtype.is_some_and(DType::is_float);
        let dims = sorted_dims(tensor.dims.iter().map(|dim| dim.unsigned_abs()));
        self.by_dims.get(&dims).filter(|_| is_weight).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether no value of the graph is the parameter.
    pub fn is_gone(&self, parameter: ParameterId, evidence: &Evidence) -> bool {
        let dims = evidence.parameters.get(parameter).and_then(|fact| fact.sorted_dims.as_ref());
        dims.and_then(|dims| self.by_dims.get(dims))
            .is_some_and(|gone| gone.binary_search(&parameter).is_ok())
    }

    /// The parameters that a value may be, in the order of the evidence; empty if it is none.
    pub fn candidates(&self, value: ValueId) -> &[ParameterId] {
        self.candidates.get(value.0)
    }

    /// The parameter that a value is, if only one fits.
    pub fn parameter(&self, value: ValueId) -> Option<ParameterId> {
        match self.candidates(value) {
            [only] => Some(*only),
            _ => None,
        }
    }
}

/// What a copy of a constant is, the constant is: exporters that find equal tensors copy the one that they keep.
fn pass_through_copies(graph: &GraphView, candidates: &mut [Vec<ParameterId>]) {
    for (id, entry) in graph.nodes().filter(|(_, entry)| graph.text(entry.op_type) == "Identity") {
        let is_main = entry.holder().is_none();
        let (Some(input), [output]) = (graph.inputs(id).next(), graph.outputs(id)) else { continue };
        let of_input = candidates.get(input.0 as usize).cloned().unwrap_or_default();
        if let Some(place) = candidates.get_mut(output.0 as usize).filter(|place| is_main && place.is_empty())
        {
            *place = of_input;
        }
    }
}

/// Element type and number of elements.
type Size = (DType, u64);

/// Parameters by their content.
#[derive(Default)]
struct KnownContents {
    by_content: HashMap<Fingerprint, Vec<ParameterId>>,
    contents: HashMap<ParameterId, Fingerprint>,
    /// Sizes of parameters that no name matched: only for these does the content matter.
    sizes: HashSet<Size>,
}

impl KnownContents {
    /// Contents of the parameters that have one of the sizes in the graph.
    fn new(evidence: &Evidence, in_graph: HashSet<Size>, named: &HashSet<ParameterId>) -> Self {
        let size_of = |fact: &ParameterFact| Some((fact.dtype?, fact.elements));
        let mut known = KnownContents::default();
        let unnamed = evidence.parameters.iter().filter(|(id, _)| !named.contains(id));
        known.sizes =
            unnamed.filter_map(|(_, fact)| size_of(fact)).filter(|size| in_graph.contains(size)).collect();
        let weights = weights_by_name(evidence);
        for (id, fact) in evidence.parameters.iter() {
            let Some((dtype, _)) = size_of(fact).filter(|size| known.sizes.contains(size)) else { continue };
            if let Some(content) = content_of(fact, dtype, evidence, &weights) {
                known.contents.insert(id, content);
                known.by_content.entry(content).or_default().push(id);
            }
        }
        known
    }
}

/// Where the weights of a captured program, or of a tagged ONNX file, lie.
fn weights_by_name(evidence: &Evidence) -> HashMap<&str, &StridedView> {
    let captured = evidence.program.iter().flat_map(|archive| &archive.program.weights);
    captured.filter_map(|weight| Some((&*weight.name, weight.data.as_ref()?))).collect()
}

fn content_of(
    fact: &ParameterFact,
    dtype: DType,
    evidence: &Evidence,
    weights: &HashMap<&str, &StridedView>,
) -> Option<Fingerprint> {
    if let Some(sum) = fact.fingerprint {
        return Some(Fingerprint { dtype, elements: fact.elements, sum });
    }
    of_view(weights.get(&*fact.name)?, dtype, &evidence.program.as_ref()?.sources)
}

fn of_content(content: Content<'_>, dtype: DType, sources: &Sources) -> Option<Fingerprint> {
    match content {
        Content::Bytes(bytes) => {
            let mut fingerprinter = Fingerprinter::new(dtype)?;
            fingerprinter.update(bytes);
            fingerprinter.finish()
        }
        Content::Stored(view) => of_view(view, dtype, sources),
        Content::Other => None,
    }
}

/// The content of a view that is one run of bytes, or the whole of its storage in another order.
fn of_view(view: &StridedView, dtype: DType, sources: &Sources) -> Option<Fingerprint> {
    let elements = view.sizes.iter().try_fold(1u64, |all, &size| all.checked_mul(size))?;
    let length = dtype.byte_len(elements)?;
    if !view.is_contiguous() && (view.offset != 0 || length != view.span.length || view.strides.contains(&0))
    {
        return None;
    }
    let mut offset = view.span.offset.checked_add(dtype.byte_len(view.offset)?)?;
    let end = offset.checked_add(length)?;
    let mut fingerprinter = Fingerprinter::new(dtype)?;
    let mut buffer = vec![0; CHUNK.min(usize::try_from(length).ok()?)];
    while offset < end {
        let count = usize::try_from(end - offset).unwrap_or(CHUNK).min(CHUNK);
        let piece = buffer.get_mut(..count)?;
        sources.read_at(view.span.source, offset, piece).ok()?;
        fingerprinter.update(piece);
        offset += count as u64;
    }
    fingerprinter.finish()
}
