//! Whether two calls compute the same: the same operators with the same attributes and connections, whatever their names
//! are.

use std::collections::HashMap;
use std::fmt::Write;

use modelexport_graph::Name;
use modelexport_graph::onnx::{Graph, Model, Node, ValueInfo};
use modelexport_io::onnx::{Chunk, Error, encode};

use super::texts::{TextKind, for_each_text};
use crate::cut::rename_values;

/// Bytes that are equal if and only if the calls do the same. `infos` are the types of values inside.
pub(super) fn key(
    class: &str,
    mut nodes: Vec<Node>,
    inputs: &[Name],
    outputs: &[Name],
    infos: Vec<ValueInfo>,
) -> Result<Vec<u8>, Error> {
    let mut numbered: HashMap<Name, Name> = HashMap::new();
    for (i, input) in inputs.iter().enumerate() {
        numbered.insert(input.clone(), format!("i{i}").into());
    }
    for_each_text(&mut nodes, &|_| false, &mut |kind, text| {
        if kind == TextKind::Value {
            let next = format!("v{}", numbered.len()).into();
            numbered.entry(text.into()).or_insert(next);
        }
        (kind == TextKind::Other).then(String::new)
    });
    let number = |name: &Name| numbered.get(name).cloned();
    rename_values(&mut nodes, &number);
    let named = |name: &Name| ValueInfo {
        name: number(name).unwrap_or_else(|| name.clone()),
        ..ValueInfo::default()
    };
    let value_infos =
        infos.into_iter().map(|info| ValueInfo { name: named(&info.name).name, ..info }).collect();
    let graph = Graph {
        nodes,
        inputs: inputs.iter().map(named).collect(),
        outputs: outputs.iter().map(named).collect(),
        value_infos,
        ..Graph::default()
    };
    let model = Model { domain: class.to_owned(), graph, ..Model::default() };
    let mut key = Vec::new();
    for chunk in encode(&model)? {
        match chunk {
            Chunk::Bytes(bytes) => key.extend(bytes),
            Chunk::View { view, dtype_bits } => {
                let mut text = String::new();
                // Writing to a String cannot fail.
                let _ = write!(text, "{view:?} {dtype_bits}");
                key.extend(text.into_bytes());
            }
        }
    }
    Ok(key)
}
