//! Finds the parameters that have the content of a tensor.
//!
//! Content is identified by a fingerprint that does not depend on the order of elements. A fingerprint needs all elements, so
//! a large tensor is first compared by a sample of its elements, in order and transposed, because exporters transpose weights.
//! Only tensors without a matching sample are read completely.

mod sample;

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use modelexport_graph::{DType, StridedView};
use modelexport_io::fingerprint::{Fingerprint, Fingerprinter};
use modelexport_io::source::Sources;

use super::evidence::{Evidence, ParameterFact, ParameterId};
use super::graph::{Constant, Content};
use sample::Sample;

/// Bytes that are read at a time.
const CHUNK: usize = 1 << 20;

/// Element type and number of elements.
pub(super) type Size = (DType, u64);

/// Parameters by their content.
pub(super) struct KnownContents<'e> {
    evidence: &'e Evidence,
    /// Sizes of parameters that no name matched: only for these does the content matter.
    sizes: HashSet<Size>,
    /// Where the weights of a captured program lie.
    weights: HashMap<&'e str, &'e StridedView>,
    by_sample: HashMap<Sample, Vec<ParameterId>>,
    samples: HashMap<ParameterId, Sample>,
    by_fingerprint: Fingerprints,
    /// The same of those that have a sample, once somebody asks.
    of_sampled: HashMap<Size, OnceCell<Fingerprints>>,
}

#[derive(Default)]
struct Fingerprints {
    parameters: HashMap<Fingerprint, Vec<ParameterId>>,
    fingerprints: HashMap<ParameterId, Fingerprint>,
}

impl Fingerprints {
    fn add(&mut self, id: ParameterId, fingerprint: Option<Fingerprint>) {
        if let Some(fingerprint) = fingerprint {
            self.fingerprints.insert(id, fingerprint);
            self.parameters.entry(fingerprint).or_default().push(id);
        }
    }
}

impl<'e> KnownContents<'e> {
    /// Of the parameters that have one of the sizes in the graph and that of a parameter that is not among the `named`.
    pub(super) fn new(
        evidence: &'e Evidence,
        in_graph: &HashSet<Size>,
        named: &HashSet<ParameterId>,
    ) -> Self {
        let unnamed = evidence.parameters.iter().filter(|(id, _)| !named.contains(id));
        let sizes = unnamed.filter_map(|(_, fact)| size_of(fact)).filter(|size| in_graph.contains(size));
        let captured = evidence.program.iter().flat_map(|archive| &archive.program.weights);
        let mut known = KnownContents {
            evidence,
            sizes: sizes.collect(),
            weights: captured.filter_map(|weight| Some((&*weight.name, weight.data.as_ref()?))).collect(),
            by_sample: HashMap::new(),
            samples: HashMap::new(),
            by_fingerprint: Fingerprints::default(),
            of_sampled: HashMap::new(),
        };
        for (id, fact) in evidence.parameters.iter() {
            let Some(size) = size_of(fact).filter(|size| known.sizes.contains(size)) else { continue };
            match known.sample_of(fact, size) {
                Some(sample) => {
                    known.by_sample.entry(sample).or_default().push(id);
                    known.samples.insert(id, sample);
                    known.of_sampled.entry(size).or_default();
                }
                None => known.by_fingerprint.add(id, known.fingerprint_of(fact, size.0)),
            }
        }
        known
    }

    /// Whether the content of a tensor of this size matters.
    pub(super) fn has_size(&self, size: Size) -> bool {
        self.sizes.contains(&size)
    }

    /// The parameters with the content of one of them, itself included.
    pub(super) fn equal_to(&self, id: ParameterId) -> &[ParameterId] {
        let equal = match self.samples.get(&id) {
            Some(sample) => self.by_sample.get(sample),
            None => {
                let fingerprint = self.by_fingerprint.fingerprints.get(&id);
                fingerprint.and_then(|fingerprint| self.by_fingerprint.parameters.get(fingerprint))
            }
        };
        equal.map(Vec::as_slice).unwrap_or_default()
    }

    /// The parameters with the content of a tensor of the graph, which lies in `sources`.
    pub(super) fn equal_to_tensor(
        &self,
        tensor: Constant<'_>,
        size: Size,
        sources: &Sources,
    ) -> &[ParameterId] {
        if let (Content::Stored(view), Some(_)) = (tensor.content, self.of_sampled.get(&size)) {
            let taken = [Sample::of(view, size.0, sources), Sample::of_transposed(view, size.0, sources)];
            let mut found = taken.iter().flatten().filter_map(|sample| self.by_sample.get(sample));
            if let Some(found) = found.next() {
                return found;
            }
        }
        let Some(fingerprint) = of_content(tensor.content, size.0, sources) else { return &[] };
        let of_sampled = self.of_sampled.get(&size).map(|cell| cell.get_or_init(|| self.of_sampled(size)));
        let mut known = std::iter::once(&self.by_fingerprint).chain(of_sampled);
        known.find_map(|known| known.parameters.get(&fingerprint)).map(Vec::as_slice).unwrap_or_default()
    }

    fn of_sampled(&self, size: Size) -> Fingerprints {
        let mut fingerprints = Fingerprints::default();
        for (id, fact) in self.evidence.parameters.iter() {
            if size_of(fact) == Some(size) && self.samples.contains_key(&id) {
                fingerprints.add(id, self.fingerprint_of(fact, size.0));
            }
        }
        fingerprints
    }

    /// Of a parameter whose elements can be read.
    fn sample_of(&self, fact: &ParameterFact, (dtype, _): Size) -> Option<Sample> {
        if fact.fingerprint.is_some() {
            return None;
        }
        Sample::of(self.weights.get(&*fact.name)?, dtype, &self.evidence.program.as_ref()?.sources)
    }

    fn fingerprint_of(&self, fact: &ParameterFact, dtype: DType) -> Option<Fingerprint> {
        if let Some(sum) = fact.fingerprint {
            return Some(Fingerprint { dtype, elements: fact.elements, sum });
        }
        of_view(self.weights.get(&*fact.name)?, dtype, &self.evidence.program.as_ref()?.sources)
    }
}

fn size_of(fact: &ParameterFact) -> Option<Size> {
    Some((fact.dtype?, fact.elements))
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use modelexport_graph::aten::{Graph, Program, Signature, Weight, WeightKind};
    use modelexport_graph::storage::row_major_strides;
    use modelexport_graph::{ModuleId, ModuleTree, Scopes, Span};
    use modelexport_io::fingerprint::mix;
    use modelexport_io::pt2::Archive;

    use super::super::evidence::EvidenceFormat;
    use super::*;

    /// Enough elements for a sample.
    const SIZES: [u64; 2] = [160, 128];

    fn numbers(seed: u64) -> Vec<u32> {
        (0..SIZES.iter().product()).map(|place| mix(place ^ seed << 32) as u32).collect()
    }

    fn place(sources: &mut Sources, sizes: &[u64], numbers: &[u32]) -> StridedView {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let length = bytes.len() as u64;
        let span = Span { source: sources.add_memory("numbers", Arc::new(bytes)), offset: 0, length };
        StridedView { span, offset: 0, sizes: sizes.to_vec(), strides: row_major_strides(sizes) }
    }

    /// A captured program whose parameters have these elements.
    fn evidence(parameters: &[Vec<u32>]) -> Evidence {
        let mut sources = Sources::new();
        let mut evidence = Evidence::new(EvidenceFormat::Program, ModuleTree::default(), Scopes::default());
        let mut weights = Vec::new();
        for (number, elements) in parameters.iter().enumerate() {
            let name = format!("weight.{number}");
            evidence.parameters.add(ParameterFact {
                name: name.as_str().into(),
                owner: ModuleId(0),
                readers: Vec::new(),
                dtype: Some(DType::F32),
                elements: elements.len() as u64,
                sorted_dims: None,
                fingerprint: None,
            });
            weights.push(Weight {
                name: name.as_str().into(),
                kind: WeightKind::Parameter,
                dtype: DType::F32,
                sizes: SIZES.to_vec(),
                data: Some(place(&mut sources, &SIZES, elements)),
            });
        }
        let program = Program {
            graph: Graph::default(),
            signature: Signature::default(),
            ranges: Vec::new(),
            weights,
            modules: ModuleTree::default(),
            scopes: Scopes::default(),
            traces: Vec::new(),
            torch_version: String::new(),
            schema_version: (0, 0),
        };
        evidence.program = Some(Archive { program, sources });
        evidence
    }

    /// The parameters that a tensor of the graph with these elements may be.
    fn found(parameters: &[Vec<u32>], sizes: &[u64], elements: &[u32]) -> Vec<u32> {
        let evidence = evidence(parameters);
        let size = (DType::F32, elements.len() as u64);
        let known = KnownContents::new(&evidence, &HashSet::from([size]), &HashSet::new());
        let mut sources = Sources::new();
        let view = place(&mut sources, sizes, elements);
        let dims: Vec<i64> = sizes.iter().map(|&size| size as i64).collect();
        let tensor = Constant { dtype: Some(DType::F32), dims: &dims, content: Content::Stored(&view) };
        known.equal_to_tensor(tensor, size, &sources).iter().map(|id| id.0).collect()
    }

    #[test]
    fn a_weight_is_found_as_it_is_and_transposed() {
        let parameters = [numbers(1), numbers(2)];
        assert_eq!(found(&parameters, &SIZES, &parameters[1]), [1]);
        let [rows, columns] = SIZES.map(|size| size as usize);
        let turned: Vec<u32> =
            (0..rows * columns).map(|place| parameters[1][place % rows * columns + place / rows]).collect();
        assert_eq!(found(&parameters, &[SIZES[1], SIZES[0]], &turned), [1]);
    }

    #[test]
    fn a_weight_in_any_other_order_is_found_by_all_its_elements() {
        let parameters = [numbers(1), numbers(2)];
        let reversed: Vec<u32> = parameters[1].iter().rev().copied().collect();
        assert_eq!(found(&parameters, &SIZES, &reversed), [1]);
        assert_eq!(found(&parameters, &SIZES, &numbers(3)), [0; 0]);
    }

    #[test]
    fn equal_weights_are_all_found() {
        let parameters = [numbers(1), numbers(2), numbers(1)];
        assert_eq!(found(&parameters, &SIZES, &parameters[0]), [0, 2]);
        let zeros = vec![0; parameters[0].len()];
        assert_eq!(found(&[zeros.clone(), numbers(2), zeros.clone()], &SIZES, &zeros), [0, 2]);
    }
}
