//! Parameters, buffers and constants: their metadata in the archive, and the position of their bytes.

use std::collections::{HashMap, HashSet};

use modelexport_graph::aten::{Layout, TensorMeta, Weight, WeightKind};
use modelexport_graph::shape::static_shape;
use modelexport_graph::{Dim, Name, Span, StridedView};

use super::error::{Problem, ProgramLocation};
use super::json;
use super::schema::{PayloadConfig, PayloadMeta};
use super::values::{Interner, tensor_meta};

/// All weights of an archive.
#[derive(Default)]
pub(super) struct Weights {
    pub list: Vec<Weight>,
    by_name: HashMap<Name, u32>,
    /// Stored as pickles: an error as soon as the graph needs one.
    pickled: HashSet<Name>,
}

/// A folder of the archive with tensors and the configuration that describes them.
pub(super) struct Folder<'a> {
    /// `<root>/data/weights/`
    pub path: &'a str,
    /// Full name of the configuration, and what it says.
    pub config: &'a str,
    pub bytes: &'a [u8],
    /// What its tensors are unless the configuration says that they are parameters.
    pub kind: WeightKind,
}

impl Weights {
    /// Adds the tensors of a folder; `find` says where the bytes of an entry are.
    pub fn read_folder(
        &mut self,
        folder: &Folder<'_>,
        find: &dyn Fn(&str) -> Result<Option<Span>, Problem>,
        shared: &mut Interner,
    ) -> Result<(), Problem> {
        let config: PayloadConfig<'_> = json::parse(folder.config, folder.bytes)?;
        for (name, payload) in config.config.0 {
            let name = shared.name(&name);
            if self.by_name.contains_key(&name) || self.pickled.contains(&name) {
                let message = format!("the weight {:?}", &*name);
                return Err(Problem::JsonDuplicateKey { entry: folder.config.into(), message });
            }
            if payload.use_pickle {
                self.pickled.insert(name);
                continue;
            }
            let weight = read_weight(folder, find, &name, payload, shared)?;
            self.by_name.insert(name, self.list.len() as u32);
            self.list.push(weight);
        }
        Ok(())
    }

    /// The index of a weight that the graph needs. It must be what the graph takes it for.
    pub fn need(&mut self, name: &str, kind: WeightKind, graph: Option<&TensorMeta>) -> Result<u32, Problem> {
        let Some(&index) = self.by_name.get(name) else {
            let weight = name.into();
            return Err(match self.pickled.contains(name) {
                true => Problem::PickledWeight { weight },
                false => Problem::MissingWeight { weight, reader: None },
            });
        };
        if let Some(weight) = self.list.get_mut(index as usize) {
            weight.kind = kind;
            if let Some(graph) = graph {
                check_against_graph(weight, graph)?;
            }
        }
        Ok(index)
    }
}

fn check_against_graph(weight: &Weight, graph: &TensorMeta) -> Result<(), Problem> {
    let same_sizes = weight.sizes.len() == graph.sizes.len()
        && weight.sizes.iter().zip(&graph.sizes).all(|(&size, dim)| match dim {
            Dim::Static(value) => u64::try_from(*value) == Ok(size),
            Dim::Symbolic(_) => true,
        });
    if same_sizes && weight.dtype == graph.dtype {
        return Ok(());
    }
    let shown = |sizes: Vec<String>| sizes.join(", ");
    Err(Problem::WeightMismatch {
        weight: weight.name.to_string(),
        stored: format!("{}[{}]", weight.dtype, shown(weight.sizes.iter().map(u64::to_string).collect())),
        graph: format!("{}[{}]", graph.dtype, shown(graph.sizes.iter().map(Dim::to_string).collect())),
        reader: None,
    })
}

fn read_weight(
    folder: &Folder<'_>,
    find: &dyn Fn(&str) -> Result<Option<Span>, Problem>,
    name: &Name,
    payload: PayloadMeta<'_>,
    shared: &mut Interner,
) -> Result<Weight, Problem> {
    let weight = || name.to_string();
    let kind = if payload.is_param { WeightKind::Parameter } else { folder.kind };
    let entry_name = format!("{}{}", folder.path, &*payload.path_name);
    let Some(meta) = payload.tensor_meta else {
        let message = format!("the weight {:?} has no tensor_meta", weight());
        return Err(Problem::Json { entry: folder.config.into(), message });
    };
    let meta = tensor_meta(meta, shared, || ProgramLocation::Weight { name: weight() })?;
    if meta.layout != Layout::Strided {
        return Err(Problem::WeightLayout { weight: weight(), layout: layout_name(meta.layout) });
    }
    let numbers = |dims: &[Dim]| -> Option<Vec<u64>> {
        static_shape(dims)?.into_iter().map(|value| u64::try_from(value).ok()).collect()
    };
    let (Some(sizes), Some(strides), Some(offset)) =
        (numbers(&meta.sizes), numbers(&meta.strides), meta.storage_offset.as_static())
    else {
        return Err(Problem::SymbolicWeight { weight: weight() });
    };
    let offset = u64::try_from(offset).map_err(|_| Problem::WeightOverflow { weight: weight() })?;
    let needed = needed_bytes(&meta, &sizes, &strides, offset)
        .ok_or_else(|| Problem::WeightOverflow { weight: weight() })?;
    let Some(span) = find(&entry_name)? else {
        return Err(Problem::MissingWeightBytes { weight: weight(), entry: entry_name });
    };
    let view = StridedView { span, offset, sizes: sizes.clone(), strides };
    // A tensor of the meta device or of a fake mode has a shape but no bytes: its entry is empty.
    let data = match (needed, span.length) {
        (1.., 0) => None,
        (_, length) if needed > length => {
            return Err(Problem::WeightOutside { weight: weight(), entry: entry_name, needed, length });
        }
        _ => Some(view),
    };
    Ok(Weight { name: name.clone(), kind, dtype: meta.dtype, sizes, data })
}

/// How many bytes of its storage a tensor reaches into; `None` on overflow. The number of elements must fit, too,
/// because that many are written even where strides of zero make the storage small.
fn needed_bytes(meta: &TensorMeta, sizes: &[u64], strides: &[u64], offset: u64) -> Option<u64> {
    let elements = sizes.iter().try_fold(1u64, |product, &size| product.checked_mul(size))?;
    meta.dtype.byte_len(elements)?;
    if elements == 0 {
        return Some(0);
    }
    let last = sizes
        .iter()
        .zip(strides)
        .try_fold(offset, |last, (&size, &stride)| last.checked_add((size - 1).checked_mul(stride)?))?;
    meta.dtype.byte_len(last.checked_add(1)?)
}

fn layout_name(layout: Layout) -> &'static str {
    match layout {
        Layout::Unknown => "unknown",
        Layout::SparseCoo => "sparse_coo",
        Layout::SparseCsr => "sparse_csr",
        Layout::SparseCsc => "sparse_csc",
        Layout::SparseBsr => "sparse_bsr",
        Layout::SparseBsc => "sparse_bsc",
        Layout::Mkldnn => "mkldnn",
        Layout::Strided => "strided",
    }
}
