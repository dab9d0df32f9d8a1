//! Differences of weights: their names, and whether their numbers are equal.
//!
//! Weights of the same name are compared first. A remaining weight with the same numbers was renamed. Several weights whose
//! numbers are all in one were joined. Numbers in another layout are equal, and so are numbers that were cast or quantized;
//! the difference says which.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::Path;

use modelexport_graph::onnx::{Model, Tensor, TensorData};
use modelexport_graph::{DType, Name};
use modelexport_io::external_data;
use modelexport_io::fingerprint::Fingerprint;
use modelexport_io::source::Sources;

use super::elements::{Elements, number, side_by_side, width};
use super::layout::{self, Layout, Shaped};
use super::{Category, Difference, conversion};
use crate::hierarchy::Quantised;
use crate::numbers::counted;
use crate::tagged_file::TaggedFile;

/// As many weights as are tried for one that may be quantised.
const MOST_TRIED: usize = 64;

/// As many weights may be joined into one.
const MOST_JOINED: usize = 4;

/// What is known of the weights of two files.
#[derive(Default)]
pub(super) struct Weights {
    /// With the weight after whose module it is.
    pub differences: Vec<(Name, Difference)>,
    /// Names after by names before.
    pub renamed: HashMap<Name, Name>,
}

impl Weights {
    fn push(&mut self, owner: &Tensor, difference: Difference) {
        self.differences.push((owner.name.clone(), difference));
    }
}

pub(super) fn compare(before: &mut TaggedFile, after: &mut TaggedFile, with_values: bool) -> Weights {
    let old = resolved(before, with_values);
    let new = resolved(after, with_values);
    let sides = Sides { old: &before.sources, new: &after.sources };
    let mut weights = Weights::default();
    let by_name: HashMap<&Name, &Tensor> = new.iter().map(|tensor| (&tensor.name, tensor)).collect();
    let mut gone = Vec::new();
    for tensor in &old {
        match by_name.get(&tensor.name) {
            None => gone.push(tensor),
            Some(other) => {
                let difference = sides.difference(tensor, other, with_values);
                difference.into_iter().for_each(|difference| weights.push(tensor, difference));
            }
        }
    }
    let known: HashSet<&Name> = old.iter().map(|tensor| &tensor.name).collect();
    let mut came: Vec<&Tensor> = new.iter().filter(|tensor| !known.contains(&tensor.name)).collect();
    if with_values {
        sides.renamed(&mut gone, &mut came, &mut weights);
        sides.converted(&mut gone, &mut came, &mut weights);
    }
    for tensor in gone {
        weights.push(tensor, Difference::structure("weight removed", &*tensor.name).from(shape_text(tensor)));
    }
    let mut quantised = Quantised::default();
    after.model.graph.nodes.iter().for_each(|node| quantised.note(node));
    let (scales, came): (Vec<&Tensor>, Vec<&Tensor>) =
        came.into_iter().partition(|tensor| quantised.is_scale(&tensor.name));
    for tensor in came {
        weights.push(tensor, Difference::structure("weight added", &*tensor.name).to(shape_text(tensor)));
    }
    if !scales.is_empty() {
        let subject =
            format!("{} and zero points of quantised weights", counted(scales.len() as u64, "scale"));
        let difference = Difference::structure("scales added", subject).times(scales.len());
        weights.differences.push(("".into(), difference));
    }
    weights
}

/// The weights of a file, with external ones looked up where that is possible. One whose file is not there stays
/// external and is compared by where it says that its bytes are.
fn resolved(file: &mut TaggedFile, with_values: bool) -> Vec<Tensor> {
    let mut model = Model::default();
    model.graph.initializers = file.model.graph.initializers.clone();
    if with_values {
        let folder =
            file.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // The tensors up to the one that cannot be found are resolved all the same.
        let _ = external_data::resolve(&mut model, folder, &mut file.sources);
    }
    model.graph.initializers
}

fn type_text(tensor: &Tensor) -> String {
    tensor.dtype().map_or_else(|| format!("type {}", tensor.data_type), |dtype| dtype.name().to_owned())
}

fn shape_text(tensor: &Tensor) -> String {
    let dims: Vec<String> = tensor.dims.iter().map(i64::to_string).collect();
    format!("{}[{}]", type_text(tensor), dims.join(", "))
}

/// Both are matrices, and one has the shape of the other transposed.
fn has_turned_dims(old: &Tensor, new: &Tensor) -> bool {
    matches!((&*old.dims, &*new.dims), ([rows, columns], [a, b]) if (rows, columns) == (b, a))
}

fn sizes(tensor: &Tensor) -> Option<Vec<u64>> {
    tensor.dims.iter().map(|&dim| u64::try_from(dim).ok()).collect()
}

/// Where the weights of both files lie.
#[derive(Clone, Copy)]
struct Sides<'s> {
    old: &'s Sources,
    new: &'s Sources,
}

impl Sides<'_> {
    /// What differs between two weights that are meant to be one.
    fn difference(self, old: &Tensor, new: &Tensor, with_values: bool) -> Option<Difference> {
        let (was, is) = (shape_text(old), shape_text(new));
        if was == is && !with_values {
            return None;
        }
        if was == is {
            let (was, is) = self.values_differ(old, new)?;
            return Some(match self.layout(old, new) {
                Ok(Some(layout)) => {
                    let difference = Difference::structure("weight layout changed", &*old.name);
                    difference.from(shape_text(old)).to(format!("{}, {}", shape_text(new), layout.text()))
                }
                _ => Difference::new(Category::Weights, "weight changed", &*old.name).from(was).to(is),
            });
        }
        let is_type_alone =
            old.data_type != new.data_type && (old.dims == new.dims || has_turned_dims(old, new));
        let (kind, told) = match is_type_alone {
            true if with_values => ("weight type changed", self.conversion(old, new).ok().flatten()),
            true => ("weight type changed", None),
            false if !with_values => ("weight shape changed", None),
            false => match self.layout(old, new) {
                Ok(Some(layout)) => ("weight layout changed", Some(layout.text())),
                _ => ("weight shape changed", None),
            },
        };
        let is = told.map_or_else(|| is.clone(), |told| format!("{is}, {told}"));
        Some(Difference::structure(kind, &*old.name).from(was).to(is))
    }

    /// The layout in which the new weight has the numbers of the old one.
    fn layout(self, old: &Tensor, new: &Tensor) -> io::Result<Option<Layout>> {
        let (Some(dtype), Some(old_dims), Some(new_dims)) = (old.dtype(), sizes(old), sizes(new)) else {
            return Ok(None);
        };
        let (Some(a), Some(b), Some(width)) =
            (Elements::of(old, self.old), Elements::of(new, self.new), width(dtype))
        else {
            return Ok(None);
        };
        if new.dtype() != Some(dtype) {
            return Ok(None);
        }
        let before = Shaped { elements: a.at_hand()?, dims: &old_dims };
        let after = Shaped { elements: b.at_hand()?, dims: &new_dims };
        layout::find(&before, &after, width)
    }

    /// In words, if the new weight has the numbers of the old one in another type.
    fn conversion(self, old: &Tensor, new: &Tensor) -> io::Result<Option<String>> {
        let (Some(from), Some(to), Some(dims)) = (old.dtype(), new.dtype(), sizes(old)) else {
            return Ok(None);
        };
        let (Some(a), Some(b)) = (Elements::of(old, self.old), Elements::of(new, self.new)) else {
            return Ok(None);
        };
        let found = |a: &Elements<'_>, dims: &[u64]| {
            conversion::find(&conversion::Pair { before: (a, from), after: (&b, to), dims })
        };
        if old.dims == new.dims
            && let Some(told) = found(&a, &dims)?
        {
            return Ok(Some(told));
        }
        let ([rows, columns], Some(width)) = (&*dims, width(from)) else { return Ok(None) };
        match a.transposed(*rows, *columns, width).filter(|_| has_turned_dims(old, new)) {
            Some(turned) => {
                let told = found(&turned, &[*columns, *rows])?;
                Ok(told.map(|told| format!("transposed, {told}")))
            }
            None => Ok(None),
        }
    }

    /// Takes weights that have another name, and those that were joined, out of those that went and came.
    fn renamed(self, gone: &mut Vec<&Tensor>, came: &mut Vec<&Tensor>, weights: &mut Weights) {
        if gone.is_empty() || came.is_empty() {
            return;
        }
        let fingerprint = |tensor: &Tensor, sources| {
            Elements::of(tensor, sources).and_then(|elements| elements.fingerprint(tensor.dtype()?))
        };
        let old_prints: Vec<Option<Fingerprint>> =
            gone.iter().map(|tensor| fingerprint(tensor, self.old)).collect();
        let mut by_shape: BTreeMap<&[i64], Vec<usize>> = BTreeMap::new();
        for (at, tensor) in gone.iter().enumerate() {
            by_shape.entry(&tensor.dims).or_default().push(at);
        }
        let mut by_print: BTreeMap<Fingerprint, Vec<usize>> = BTreeMap::new();
        for (at, print) in old_prints.iter().enumerate().rev() {
            print.iter().for_each(|print| by_print.entry(*print).or_default().push(at));
        }
        let mut found: HashSet<usize> = HashSet::new();
        came.retain(|new| {
            let Some(print) = fingerprint(new, self.new) else { return true };
            if let Some(at) = by_print.get_mut(&print).and_then(Vec::pop)
                && let Some(old) = gone.get(at)
            {
                found.insert(at);
                let layout = self.layout(old, new).ok().flatten();
                let told = match layout {
                    Some(layout) if layout.is_same() => String::new(),
                    Some(layout) => format!(", {}", layout.text()),
                    None => ", the same numbers in another order".to_owned(),
                };
                let (was, is) = (shape_text(old), shape_text(new));
                let difference = Difference::structure("weight renamed", &*new.name);
                weights.push(old, difference.from(format!("{} {was}", old.name)).to(format!("{is}{told}")));
                weights.renamed.insert(new.name.clone(), old.name.clone());
                return false;
            }
            let alike = by_shape.values().map(|places| {
                places.iter().copied().filter(|at| !found.contains(at)).collect::<Vec<usize>>()
            });
            let joined = alike.into_iter().find_map(|places| joined(&places, &old_prints, print));
            let Some(joined) = joined else { return true };
            let names: Vec<&str> =
                joined.iter().filter_map(|at| gone.get(*at)).map(|tensor| &*tensor.name).collect();
            let difference = Difference::structure("weights joined", &*new.name);
            let is = format!("{}, the same numbers", shape_text(new));
            let owner = joined.first().and_then(|at| gone.get(*at)).copied().unwrap_or(new);
            weights.push(owner, difference.from(names.join(", ")).to(is));
            found.extend(joined);
            false
        });
        let mut at = 0..;
        gone.retain(|_| at.next().is_none_or(|at| !found.contains(&at)));
    }

    /// The same for weights that have another name and another type.
    fn converted(self, gone: &mut Vec<&Tensor>, came: &mut Vec<&Tensor>, weights: &mut Weights) {
        gone.retain(|old| {
            let mut fitting: Vec<usize> = (0..came.len())
                .filter(|&at| {
                    let fits = |new: &Tensor| new.dims == old.dims || has_turned_dims(old, new);
                    came.get(at).is_some_and(|new| fits(new) && new.data_type != old.data_type)
                })
                .collect();
            // Tools name what they make after what they made it from.
            fitting.sort_by_key(|&at| !came.get(at).is_some_and(|new| new.name.starts_with(&*old.name)));
            let found = fitting.into_iter().take(MOST_TRIED).find_map(|at| {
                let told = self.conversion(old, came.get(at)?).ok().flatten()?;
                Some((at, told))
            });
            let Some((at, told)) = found else { return true };
            let new = came.remove(at);
            let (was, is) = (shape_text(old), shape_text(new));
            let kind = match new.dtype().is_some_and(DType::is_float) {
                true => "weight type changed",
                false => "weight quantised",
            };
            let difference = Difference::structure(kind, &*new.name);
            weights.push(old, difference.from(format!("{} {was}", old.name)).to(format!("{is}, {told}")));
            false
        });
    }

    /// How the numbers of two tensors of one shape differ, in words; `None` if they are equal.
    fn values_differ(self, old: &Tensor, new: &Tensor) -> Option<(String, String)> {
        let (Some(a), Some(b)) = (Elements::of(old, self.old), Elements::of(new, self.new)) else {
            return stored_differently(&old.data, &new.data);
        };
        if a.is_same_place(&b) {
            return None;
        }
        if a.len() != b.len() {
            return Some((counted(a.len(), "byte"), counted(b.len(), "byte")));
        }
        let mut tally = Tally::new(old.dtype());
        let width = tally.width();
        let read = side_by_side((&a, &b), (width, width), &mut |x, y| {
            if x != y {
                tally.add(x, y);
            }
        });
        match read {
            Ok(()) => tally.finish(),
            Err(error) => Some(("unreadable".to_owned(), error.to_string())),
        }
    }
}

/// Of weights of one shape some that follow each other, whose numbers are together those of a `whole`.
fn joined(places: &[usize], prints: &[Option<Fingerprint>], whole: Fingerprint) -> Option<Vec<usize>> {
    let print = |at: &usize| prints.get(*at).copied().flatten();
    let elements = places.first().and_then(print)?.elements;
    let count = usize::try_from(whole.elements.checked_div(elements)?).ok()?;
    if !(2..=MOST_JOINED).contains(&count) || !whole.elements.is_multiple_of(elements) {
        return None;
    }
    let is_whole = |window: &&[usize]| {
        let parts: Option<Vec<Fingerprint>> = window.iter().map(print).collect();
        parts.is_some_and(|parts| {
            let sum = parts.iter().fold(0u64, |sum, part| sum.wrapping_add(part.sum));
            sum == whole.sum && parts.iter().all(|part| part.dtype == whole.dtype)
        })
    };
    places.windows(count).find(is_whole).map(<[usize]>::to_vec)
}

/// Tensors whose bytes are not at hand: equal if they are written equally.
fn stored_differently(a: &TensorData, b: &TensorData) -> Option<(String, String)> {
    let is_equal = match (a, b) {
        (TensorData::Typed(x), TensorData::Typed(y)) => x == y,
        (TensorData::External(x), TensorData::External(y)) => x == y,
        (TensorData::TypedStored(x), TensorData::TypedStored(y)) => x == y,
        _ => false,
    };
    let text = |data: &TensorData| match data {
        TensorData::Raw(_) => "raw bytes".to_owned(),
        TensorData::Stored(_) | TensorData::Scaled { .. } => "raw bytes in a file".to_owned(),
        TensorData::External(_) => "external data that cannot be found".to_owned(),
        TensorData::Typed(_) | TensorData::TypedStored(_) => "a typed list".to_owned(),
    };
    (!is_equal).then(|| (text(a), format!("{}; the numbers were not compared", text(b))))
}

/// Counts elements that differ, and by how much at most.
struct Tally {
    dtype: Option<DType>,
    differing: u64,
    largest: f64,
    /// The largest number of the tensor before, where something differs.
    scale: f64,
}

impl Tally {
    fn new(dtype: Option<DType>) -> Self {
        Tally { dtype, differing: 0, largest: 0.0, scale: 0.0 }
    }

    fn width(&self) -> usize {
        self.dtype.and_then(width).unwrap_or(1)
    }

    fn add(&mut self, left: &[u8], right: &[u8]) {
        let width = self.width();
        let number = |bytes: &[u8]| self.dtype.and_then(|dtype| number(bytes, dtype));
        for (a, b) in left.chunks(width).zip(right.chunks(width)) {
            if a == b {
                continue;
            }
            self.differing += 1;
            if let (Some(x), Some(y)) = (number(a), number(b)) {
                let distance = (x - y).abs();
                // A distance to something that is no number is the largest there is.
                self.largest = if distance.is_nan() { f64::INFINITY } else { self.largest.max(distance) };
                self.scale = self.scale.max(x.abs());
            }
        }
    }

    fn finish(self) -> Option<(String, String)> {
        if self.differing == 0 {
            return None;
        }
        let verb = if self.differing == 1 { "differs" } else { "differ" };
        let numbers = counted(self.differing, "number");
        Some((format!("up to {:.6e}", self.scale), format!("{numbers} {verb} by up to {:.6e}", self.largest)))
    }
}
