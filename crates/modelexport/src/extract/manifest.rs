//! The manifest of an extracted module: the values at its boundary, and the nodes that produce and read them.

use std::path::Path;

use modelexport_graph::DType;
use modelexport_graph::Name;
use modelexport_graph::onnx::{DimensionValue, Model, Node, Type, TypeKind};
use serde::Serialize;

use super::calls::Calls;
use crate::json;
use crate::tagged_file::TaggedFile;
use crate::tagger::operator_name;
use crate::tensors;

/// Describes a model that was cut out of another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Manifest {
    /// The file's name without its folder.
    pub source: String,
    /// The modules that it holds.
    pub modules: Vec<PartModule>,
    /// Its inputs.
    pub inputs: Vec<BoundaryValue>,
    /// Its outputs.
    pub outputs: Vec<BoundaryValue>,
    /// Number of its nodes.
    pub nodes: usize,
    /// Number of its functions.
    pub functions: usize,
    /// Its weights.
    pub weights: WeightCount,
    /// What somebody who uses the part should know.
    pub notes: Vec<String>,
}

/// A module that was cut out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartModule {
    /// The path of the module.
    pub path: Name,
    /// The full name of its class.
    pub class: Name,
    /// The tag of the module.
    pub tag: Name,
    /// Which of its calls; the first is 0.
    pub call: u32,
    /// How many calls it has in the whole model.
    pub calls: u32,
}

/// A value that crosses the border.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoundaryValue {
    /// Its name in the new model.
    pub name: Name,
    /// Its name in the file that it was cut from.
    pub value: Name,
    /// `float32`; for what is no tensor, its kind.
    pub dtype: String,
    /// `null` if not even the rank is known.
    pub shape: Option<Vec<Size>>,
    /// The node that makes it; `null` for an input of the whole model.
    pub producer: Option<NodeRef>,
    /// For an input the nodes inside that read it, for an output those outside.
    pub readers: Vec<NodeRef>,
}

/// A dimension: a number, a name, or `null`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Size {
    /// A number.
    Static(i64),
    /// A name, the same wherever the size is the same.
    Named(String),
    /// Nothing is known.
    Unknown(()),
}

/// A node of the whole model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeRef {
    /// The name of the node.
    pub node: Name,
    /// The operator of the node.
    pub op_type: Name,
    /// Path of the module that it belongs to; `null` if that is not known.
    pub module: Option<Name>,
}

/// A number of weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WeightCount {
    /// Number of tensors.
    pub count: usize,
    /// Number of their bytes.
    pub bytes: u64,
}

impl Manifest {
    /// The text of the file `path`.
    pub(super) fn to_json(&self, path: &Path) -> Result<Vec<u8>, crate::Error> {
        let mut text = Vec::new();
        json::write(&mut text, self)
            .map_err(|source| crate::Error::Write { path: path.to_owned(), source })?;
        Ok(text)
    }

    pub(super) fn new(
        file: &TaggedFile,
        calls: &Calls,
        model: &Model,
        inputs: Vec<BoundaryValue>,
        outputs: Vec<BoundaryValue>,
        notes: Vec<String>,
    ) -> Self {
        let mut nodes = 0;
        model.graph.for_each_node(&mut |_| nodes += 1);
        let source = file.path.file_name().map(|name| name.to_string_lossy().into_owned());
        Manifest {
            source: source.unwrap_or_default(),
            modules: calls.chosen.iter().map(|(scope, call)| part_module(file, *scope, *call)).collect(),
            inputs,
            outputs,
            nodes,
            functions: model.functions.len(),
            weights: WeightCount {
                count: model.graph.initializers.len(),
                bytes: model.graph.initializers.iter().map(tensors::bytes).sum(),
            },
            notes,
        }
    }
}

fn part_module(file: &TaggedFile, scope: modelexport_graph::ScopeId, call: u32) -> PartModule {
    let id = file.hierarchy.scopes.module(scope);
    let module = file.hierarchy.tree.get(id);
    PartModule {
        path: module.map_or_else(|| "".into(), |module| module.path.clone()),
        class: module.map_or_else(|| "".into(), |module| module.class.clone()),
        tag: file.tags.tag(id).clone(),
        call,
        calls: module.map_or(1, |module| module.calls),
    }
}

impl NodeRef {
    pub(super) fn new(node: &Node, file: &TaggedFile) -> Self {
        let module = file.module(node).and_then(|id| file.hierarchy.tree.get(id));
        NodeRef {
            node: node.name.clone(),
            op_type: operator_name(node),
            module: module.map(|module| module.path.clone()),
        }
    }
}

impl BoundaryValue {
    pub(super) fn new(
        name: &Name,
        value: &Name,
        value_type: Option<&Type>,
        producer: Option<NodeRef>,
        readers: Vec<NodeRef>,
    ) -> Self {
        let (dtype, shape) = match value_type.map(|found| &found.kind) {
            Some(TypeKind::Tensor { elem_type, shape } | TypeKind::SparseTensor { elem_type, shape }) => {
                let dtype = DType::from_onnx_code(*elem_type);
                let name = dtype.map_or_else(|| format!("type {elem_type}"), |dtype| dtype.name().to_owned());
                (name, shape.as_ref())
            }
            Some(TypeKind::Sequence(_)) => ("sequence".to_owned(), None),
            Some(TypeKind::Optional(_)) => ("optional".to_owned(), None),
            Some(TypeKind::Map { .. }) => ("map".to_owned(), None),
            Some(TypeKind::Opaque { .. }) => ("opaque".to_owned(), None),
            Some(TypeKind::Missing) | None => ("unknown".to_owned(), None),
        };
        let size = |value: &DimensionValue| match value {
            DimensionValue::Static(size) => Size::Static(*size),
            DimensionValue::Named(name) => Size::Named(name.clone()),
            DimensionValue::Unknown => Size::Unknown(()),
        };
        let shape = shape.map(|dims| dims.iter().map(|dim| size(&dim.value)).collect());
        BoundaryValue { name: name.clone(), value: value.clone(), dtype, shape, producer, readers }
    }

    /// `float32[1, batch, ?]`.
    pub fn type_text(&self) -> String {
        let size = |size: &Size| match size {
            Size::Static(number) => number.to_string(),
            Size::Named(name) => name.clone(),
            Size::Unknown(()) => "?".to_owned(),
        };
        match &self.shape {
            Some(dims) => {
                let dims: Vec<String> = dims.iter().map(size).collect();
                format!("{}[{}]", self.dtype, dims.join(", "))
            }
            None => format!("{}[…]", self.dtype),
        }
    }
}
