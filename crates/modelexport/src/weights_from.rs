//! Weights for a program that was captured without them: from safetensors files, where they stay.
//!
//! A program of the meta device knows name, shape and type of every weight but has no bytes. They are looked up in the
//! files of a checkpoint by name. The names of a checkpoint may have a prefix more or less than those of the program
//! (the model was saved inside another, or captured without its head), and of weights that are tied it holds one.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::path::Path;

use modelexport_graph::aten::Weight;
use modelexport_graph::{DType, StridedView};
use modelexport_io::safetensors::{self, Entry, Tensors};
use modelexport_io::source::Sources;

use crate::Error;

/// How the weights of a program were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attached {
    /// Weights that got their bytes from the files.
    pub count: usize,
    /// The names of the files are those of the program with this in front.
    pub added_prefix: String,
    /// The names of the files are those of the program without this in front.
    pub removed_prefix: String,
    /// Weights that the files do not name, each with the tensor that it is tied to.
    pub tied: Vec<(String, String)>,
}

/// All weights that could not be found or are not what the program takes them for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mismatches(pub Vec<Mismatch>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// PyTorch's name in the program.
    pub weight: String,
    pub problem: Problem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// No tensor has its name, and none can be told to be tied to it.
    Missing,
    /// The tensor of that name has another shape.
    Shape { expected: Vec<u64>, found: Vec<u64> },
    /// The tensor of that name has another type of elements.
    DType { expected: DType, found: DType },
    /// The tensor of that name has other bytes than the model.
    Bytes,
}

impl fmt::Display for Mismatches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, Mismatch { weight, problem }) in self.0.iter().enumerate() {
            if position > 0 {
                writeln!(f)?;
            }
            match problem {
                Problem::Missing => write!(f, "  {weight}: is in none of the files")?,
                Problem::Shape { expected, found } => {
                    write!(f, "  {weight}: has shape {found:?} in the files, expected {expected:?}")?;
                }
                Problem::Bytes => write!(f, "  {weight}: has other bytes in the files than in the model")?,
                Problem::DType { expected, found } => {
                    write!(f, "  {weight}: has type {found} in the files, expected {expected}")?;
                }
            }
        }
        Ok(())
    }
}

/// Gives every one of a program's weights that has no bytes those of the tensor of its name in `path`: a
/// `.safetensors` file, an index of shards, or a folder that has one of them. Nothing is read but headers.
pub fn attach(weights: &mut [Weight], path: &Path, sources: &mut Sources) -> Result<Attached, Error> {
    let tensors = safetensors::read(path, sources)?;
    let missing: Vec<&str> =
        weights.iter().filter(|weight| weight.data.is_none()).map(|weight| &*weight.name).collect();
    let renaming = Renaming::between(&missing, &tensors);
    let mut attached = Attached {
        added_prefix: renaming.added.clone(),
        removed_prefix: renaming.removed.clone(),
        ..Attached::default()
    };
    let mut mismatches = Mismatches::default();
    let mut unnamed = Vec::new();
    for (position, weight) in weights.iter_mut().enumerate().filter(|(_, weight)| weight.data.is_none()) {
        match renaming.find(&weight.name, &tensors) {
            Some((_, entry)) => match check(weight, entry) {
                Some(problem) => mismatches.0.push(Mismatch { weight: weight.name.to_string(), problem }),
                None => {
                    weight.data = Some(view_of(entry));
                    attached.count += 1;
                }
            },
            None => unnamed.push(position),
        }
    }
    let by_kind = Kinds::of(&tensors);
    for position in unnamed {
        let Some(weight) = weights.get_mut(position) else { continue };
        match by_kind.only_one_like(&weight.name, &weight.sizes, weight.dtype) {
            Some((name, entry)) => {
                weight.data = Some(view_of(entry));
                attached.count += 1;
                attached.tied.push((weight.name.to_string(), name.to_owned()));
            }
            None => {
                mismatches.0.push(Mismatch { weight: weight.name.to_string(), problem: Problem::Missing })
            }
        }
    }
    if mismatches.0.is_empty() {
        return Ok(attached);
    }
    Err(Error::WeightsDiffer { path: path.into(), count: mismatches.0.len(), mismatches })
}

fn check(weight: &Weight, entry: &Entry) -> Option<Problem> {
    if weight.sizes != entry.shape {
        return Some(Problem::Shape { expected: weight.sizes.clone(), found: entry.shape.clone() });
    }
    let is_same = weight.dtype == entry.dtype;
    (!is_same).then_some(Problem::DType { expected: weight.dtype, found: entry.dtype })
}

pub(crate) fn view_of(entry: &Entry) -> StridedView {
    let mut strides = vec![1; entry.shape.len()];
    let mut stride = 1u64;
    for (place, &size) in strides.iter_mut().zip(&entry.shape).rev() {
        *place = stride;
        stride = stride.saturating_mul(size.max(1));
    }
    StridedView { span: entry.span, offset: 0, sizes: entry.shape.clone(), strides }
}

/// One prefix that all names of the files have more or less than those of the program.
#[derive(Default)]
pub(crate) struct Renaming {
    added: String,
    removed: String,
}

impl Renaming {
    /// The one under which most names meet; none if most meet as they are.
    pub fn between(weights: &[&str], tensors: &Tensors) -> Renaming {
        let exact = weights.iter().filter(|name| tensors.contains_key(**name)).count();
        let mut votes: BTreeMap<(bool, &str), usize> = BTreeMap::new();
        for weight in weights {
            for rest in suffixes(weight).filter(|rest| tensors.contains_key(*rest)) {
                *votes.entry((false, prefix_of(weight, rest))).or_default() += 1;
            }
        }
        let wanted: HashSet<&str> = weights.iter().copied().collect();
        for tensor in tensors.keys() {
            for rest in suffixes(tensor).filter(|rest| wanted.contains(rest)) {
                *votes.entry((true, prefix_of(tensor, rest))).or_default() += 1;
            }
        }
        // Of equal numbers the first in order, so that the outcome does not depend on chance.
        let best = votes.into_iter().rev().max_by_key(|(_, count)| *count);
        match best {
            Some(((is_added, prefix), count)) if count > exact => match is_added {
                true => Renaming { added: prefix.to_owned(), removed: String::new() },
                false => Renaming { added: String::new(), removed: prefix.to_owned() },
            },
            _ => Renaming::default(),
        }
    }

    /// The tensor for a weight: under its renamed name, or else under its own.
    pub fn find<'t>(&self, weight: &str, tensors: &'t Tensors) -> Option<(&'t str, &'t Entry)> {
        let renamed = match (self.removed.is_empty(), weight.strip_prefix(self.removed.as_str())) {
            (false, Some(rest)) => rest.to_owned(),
            _ => format!("{}{weight}", self.added),
        };
        let found = tensors.get_key_value(renamed.as_str()).or_else(|| tensors.get_key_value(weight));
        found.map(|(name, entry)| (name.as_str(), entry))
    }
}

/// What is left of a dotted name without its first parts.
fn suffixes(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('.').filter_map(move |(at, _)| name.get(at + 1..))
}

fn prefix_of<'n>(name: &'n str, rest: &str) -> &'n str {
    name.strip_suffix(rest).unwrap_or_default()
}

/// Tensors by shape and type.
///
/// A checkpoint holds one of the weights that are tied, and a capture of the meta device does not tell which are. A
/// matrix that is missing is tied if one tensor only has its shape, its type and the last part of its name.
pub(crate) struct Kinds<'t>(HashMap<Kind<'t>, Vec<(&'t str, &'t Entry)>>);

/// Shape, type and last part of the name.
type Kind<'t> = (&'t [u64], DType, &'t str);

impl<'t> Kinds<'t> {
    pub fn of(tensors: &'t Tensors) -> Kinds<'t> {
        let mut kinds: HashMap<_, Vec<_>> = HashMap::new();
        for (name, entry) in tensors {
            let key = (entry.shape.as_slice(), entry.dtype, last_part(name));
            kinds.entry(key).or_default().push((name.as_str(), entry));
        }
        Kinds(kinds)
    }

    pub fn only_one_like(&self, name: &str, sizes: &[u64], dtype: DType) -> Option<(&'t str, &'t Entry)> {
        if sizes.len() < 2 {
            return None;
        }
        match self.0.get(&(sizes, dtype, last_part(name)))?.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }
}

fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use modelexport_graph::aten::WeightKind;

    use super::*;

    fn weight(name: &str, sizes: &[u64], dtype: DType) -> Weight {
        Weight { name: name.into(), kind: WeightKind::Parameter, dtype, sizes: sizes.into(), data: None }
    }

    /// A file of tensors of `f32`, all zeros.
    fn checkpoint(tensors: &[(&str, &[u64])]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let mut at = 0;
        let mut entries = Vec::new();
        for (name, shape) in tensors {
            let end = at + shape.iter().product::<u64>() * 4;
            entries
                .push(format!(r#""{name}":{{"dtype":"F32","shape":{shape:?},"data_offsets":[{at},{end}]}}"#));
            at = end;
        }
        let header = format!("{{{}}}", entries.join(","));
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(header.as_bytes());
        bytes.resize(bytes.len() + at as usize, 0);
        std::fs::write(folder.path().join(safetensors::FILE_NAME), bytes).unwrap();
        folder
    }

    fn attached(
        mut weights: Vec<Weight>,
        tensors: &[(&str, &[u64])],
    ) -> (Vec<Weight>, Result<Attached, Error>) {
        let folder = checkpoint(tensors);
        let outcome = attach(&mut weights, folder.path(), &mut Sources::new());
        (weights, outcome)
    }

    #[test]
    fn weights_get_the_bytes_of_the_tensors_of_their_names() {
        let weights = vec![weight("a.weight", &[2, 3], DType::F32), weight("b", &[4], DType::F32)];
        let (weights, outcome) = attached(weights, &[("b", &[4]), ("a.weight", &[2, 3]), ("unused", &[1])]);
        assert_eq!(outcome.unwrap(), Attached { count: 2, ..Attached::default() });
        let views: Vec<&StridedView> = weights.iter().filter_map(|w| w.data.as_ref()).collect();
        assert_eq!(views[0].strides, [3, 1]);
        assert_eq!(views[0].span.length, 24);
        assert_eq!(views[0].span.offset, views[1].span.offset + 16);
    }

    #[test]
    fn a_prefix_more_or_less_is_found() {
        for (prefix, other, added, removed) in
            [("", "model.", "model.", ""), ("top.net.", "", "", "top.net.")]
        {
            let names = ["x.weight", "y.weight", "y.bias"];
            let weights = names.map(|name| weight(&format!("{prefix}{name}"), &[2], DType::F32)).to_vec();
            let tensors = names.map(|name| format!("{other}{name}"));
            let tensors: Vec<(&str, &[u64])> =
                tensors.iter().map(|name| (name.as_str(), &[2u64][..])).collect();
            let (_, outcome) = attached(weights, &tensors);
            let found = outcome.unwrap();
            assert_eq!((found.count, &*found.added_prefix, &*found.removed_prefix), (3, added, removed));
        }
    }

    #[test]
    fn a_weight_with_another_prefix_than_the_rest_keeps_its_own_name() {
        let weights = ["model.a", "model.b", "head"].map(|name| weight(name, &[2], DType::F32)).to_vec();
        let (_, outcome) = attached(weights, &[("a", &[2]), ("b", &[2]), ("head", &[2])]);
        assert_eq!(outcome.unwrap().count, 3);
    }

    #[test]
    fn a_missing_matrix_is_tied_to_the_only_one_like_it() {
        let weights =
            vec![weight("embed.weight", &[9, 2], DType::F32), weight("head.weight", &[9, 2], DType::F32)];
        let (weights, outcome) = attached(weights, &[("embed.weight", &[9, 2]), ("other.weight", &[2, 9])]);
        assert_eq!(outcome.unwrap().tied, [("head.weight".to_owned(), "embed.weight".to_owned())]);
        assert_eq!(weights[0].data, weights[1].data);
    }

    #[test]
    fn every_mismatch_is_told_at_once() {
        let weights = vec![
            weight("a", &[2], DType::F32),
            weight("b", &[3], DType::F32),
            weight("c", &[4], DType::F16),
            weight("d.weight", &[5, 5], DType::F32),
            weight("e.weight", &[6, 6], DType::F32),
        ];
        let tensors: [(&str, &[u64]); 5] =
            [("a", &[2]), ("b", &[7]), ("c", &[4]), ("x.weight", &[5, 5]), ("y.weight", &[5, 5])];
        let (_, outcome) = attached(weights, &tensors);
        let error = outcome.unwrap_err();
        let text = error.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].ends_with("does not fit; 4 weights differ:"), "{text}");
        assert_eq!(
            lines[1..],
            [
                "  b: has shape [7] in the files, expected [3]",
                "  c: has type float32 in the files, expected float16",
                "  d.weight: is in none of the files",
                "  e.weight: is in none of the files",
            ]
        );
        assert_eq!(error.kind(), modelexport_io::ErrorKind::BadInput);
    }

    #[test]
    fn weights_that_have_bytes_keep_them() {
        let mut own = weight("a", &[2], DType::F32);
        own.data = Some(StridedView {
            span: modelexport_graph::Span { source: modelexport_graph::SourceId(9), offset: 0, length: 8 },
            offset: 0,
            sizes: vec![2],
            strides: vec![1],
        });
        let before = own.data.clone();
        let (weights, outcome) = attached(vec![own], &[("a", &[5])]);
        assert_eq!(outcome.unwrap().count, 0);
        assert_eq!(weights[0].data, before);
    }
}
