//! The index of a model in several files.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};

use super::{Error, Reason, Tensors, read_file};
use crate::platform;
use crate::source::{self, Sources};

/// The usual name of an index.
pub const INDEX_NAME: &str = "model.safetensors.index.json";

/// Larger than any index: those of the largest models have some 10 MB.
pub const INDEX_LIMIT: u64 = 100_000_000;

/// Reads the tensors that the index lists. Shards lie beside the index; as a download cache keeps them behind links,
/// links are followed here.
pub(super) fn read(path: &Path, sources: &mut Sources) -> Result<Tensors, Error> {
    let located = |reason: Reason| Error { path: path.into(), reason };
    let mut names_by_file: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, file) in read_weight_map(path).map_err(located)? {
        if file.is_empty() || file.contains(['/', '\\', '\0']) || file == "." || file == ".." {
            return Err(located(Reason::BadShardName { file }));
        }
        names_by_file.entry(file).or_default().push(name);
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut tensors = Tensors::new();
    for (file, names) in names_by_file {
        let mut shard = read_file(&folder.join(&file), sources)?;
        for name in names {
            let Some(entry) = shard.remove(&name) else {
                // A name that was taken out before is listed twice.
                let is_repeated = tensors.contains_key(&name);
                return Err(located(match is_repeated {
                    true => Reason::Duplicate { name },
                    false => Reason::NotInShard { name, file },
                }));
            };
            if tensors.insert(name.clone(), entry).is_some() {
                return Err(located(Reason::Duplicate { name }));
            }
        }
    }
    Ok(tensors)
}

fn read_weight_map(path: &Path) -> Result<Vec<(String, String)>, Reason> {
    let file = source::open_regular(path).map_err(Reason::Source)?;
    let length = source::regular_length(path, &file).map_err(Reason::Source)?;
    if length > INDEX_LIMIT {
        return Err(Reason::IndexTooLarge { length, limit: INDEX_LIMIT });
    }
    let mut json = vec![0; length as usize];
    platform::read_exact_at(&file, &mut json, 0).map_err(Reason::Read)?;
    let index: Index = serde_json::from_slice(&json).map_err(Reason::Json)?;
    index.weight_map.map(|map| map.0).ok_or(Reason::NoWeightMap)
}

#[derive(Deserialize)]
struct Index {
    weight_map: Option<WeightMap>,
}

/// Pairs of tensor and file, with names that may repeat.
struct WeightMap(Vec<(String, String)>);

impl<'de> Deserialize<'de> for WeightMap {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = WeightMap;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object from tensor to file name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<WeightMap, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(WeightMap(pairs))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}
