//! A module as a separate model: its nodes, its weights, and the values at its boundary as inputs and outputs.

mod calls;
mod error;
mod file;
mod manifest;
mod naming;
mod part;
mod sidecar;

use std::collections::{HashMap, HashSet};

use modelexport_graph::onnx::{Graph, Model, Node, Type, ValueInfo};
use modelexport_graph::{ModuleId, Name};
use modelexport_inference::types_of_graphs;
use modelexport_io::sidecar::Sidecar;

use crate::cut::{Boundary, boundary, called_functions, for_each_read, rename_values, sparse_name};
use crate::tagged_file::TaggedFile;
use naming::Naming;
use part::Part;

pub use error::Error;
pub use file::{Extract, Summary};
pub use manifest::{BoundaryValue, Manifest, NodeRef, PartModule, Size, WeightCount};

/// What a user can choose about the cut.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Which call of modules that were called more than once; the first is 0.
    pub call: Option<u32>,
    /// Boundary values keep the names that they have in the file.
    pub keep_names: bool,
}

/// A part of a model, in memory and without its weights.
#[derive(Debug)]
pub struct Extracted {
    /// The model of the chosen modules.
    pub model: Model,
    /// If the file has one: the part of it that tells of the nodes that are left.
    pub sidecar: Option<Sidecar>,
    /// Describes the part: modules, inputs, outputs and weights.
    pub manifest: Manifest,
}

/// Cuts `modules` out of `file`. Several modules give one model that holds them all.
pub fn extract(file: &TaggedFile, modules: &[ModuleId], options: &Options) -> Result<Extracted, Error> {
    let calls = calls::choose(file, modules, options.call)?;
    let part = part::find(file, modules, &calls)?;
    let mut notes = calls.notes.clone();
    notes.extend(part.notes());
    let cut = Extraction::new(file, part, modules)?;
    let (model, inputs, outputs) = if cut.is_whole() { cut.whole()? } else { cut.build(options)? };
    let manifest = Manifest::new(file, &calls, &model, inputs, outputs, notes);
    let sidecar = file.sidecar.as_ref().map(|found| sidecar::subset(found, &model, modules, file));
    Ok(Extracted { model, sidecar, manifest })
}

/// A part with all that is known about its border.
struct Extraction<'a> {
    file: &'a TaggedFile,
    part: Part<'a>,
    modules: &'a [ModuleId],
    border: Boundary,
    types: modelexport_graph::hash::HashMap<Name, Type>,
    /// The nodes that make values which the part sees, outer graphs included.
    makers: HashMap<&'a Name, &'a Node>,
    /// The nodes inside and outside that read a value.
    readers: HashMap<(&'a Name, bool), Vec<&'a Node>>,
    /// What the graph says about its values.
    declared: HashMap<&'a Name, &'a ValueInfo>,
}

/// A model, its inputs and its outputs.
type Built = (Model, Vec<BoundaryValue>, Vec<BoundaryValue>);

impl<'a> Extraction<'a> {
    fn new(file: &'a TaggedFile, part: Part<'a>, modules: &'a [ModuleId]) -> Result<Self, Error> {
        let mut border = boundary(part.graph, &part.is_inside);
        let shared: HashSet<&Name> = part.shared_nodes().flat_map(|node| &node.outputs).collect();
        border.outputs.retain(|output| !shared.contains(output));
        // What the module's own nodes read comes first.
        let mut own: HashSet<&Name> = HashSet::new();
        for node in part.own_nodes() {
            for_each_read(node, &mut |name| {
                own.insert(name);
            });
        }
        border.inputs.sort_by_key(|input| !own.contains(input));
        let graphs: Vec<&Graph> = part.outer.iter().copied().chain([part.graph]).collect();
        let types = types_of_graphs(&file.model, &graphs);
        let mut makers = HashMap::new();
        for graph in graphs {
            for node in &graph.nodes {
                makers.extend(node.outputs.iter().map(|output| (output, node)));
            }
        }
        if border.outputs.is_empty() && !part.is_whole() {
            return Err(Error::NoOutputs { modules: calls::names(file, modules) });
        }
        let mut readers: HashMap<(&Name, bool), Vec<&Node>> = HashMap::new();
        for (node, inside) in part.graph.nodes.iter().zip(&part.is_inside) {
            for_each_read(node, &mut |name| {
                let known = readers.entry((name, *inside)).or_default();
                if !known.last().is_some_and(|last| std::ptr::eq(*last, node)) {
                    known.push(node);
                }
            });
        }
        let infos = part.graph.value_infos.iter().chain(&part.graph.outputs).chain(&part.graph.inputs);
        let declared = infos.map(|info| (&info.name, info)).collect();
        Ok(Extraction { file, part, modules, border, types, makers, readers, declared })
    }

    fn is_whole(&self) -> bool {
        self.part.is_whole()
    }

    /// All nodes are inside: the model as it is.
    fn whole(&self) -> Result<Built, Error> {
        let model = self.file.model.clone();
        let weights = self.weight_names();
        let described = |infos: &[ValueInfo], is_input: bool| -> Vec<BoundaryValue> {
            let real = infos.iter().filter(|info| !(is_input && weights.contains(&info.name)));
            real.map(|info| self.describe(&info.name, &info.name, info.value_type.as_deref(), is_input))
                .collect()
        };
        let inputs = described(&model.graph.inputs, true);
        let outputs = described(&model.graph.outputs, false);
        Ok((model, inputs, outputs))
    }

    /// Names of all weights that the part could read.
    fn weight_names(&self) -> HashSet<&'a Name> {
        let graphs = self.part.outer.iter().copied().chain([self.part.graph]);
        graphs
            .flat_map(|graph| {
                let sparse = graph.sparse_initializers.iter().filter_map(sparse_name);
                graph.initializers.iter().map(|tensor| &tensor.name).chain(sparse)
            })
            .collect()
    }

    fn build(&self, options: &Options) -> Result<Built, Error> {
        let weights = self.weight_names();
        let values: Vec<&Name> = self.border.inputs.iter().filter(|name| !weights.contains(name)).collect();
        let mut naming = Naming::new(self, options.keep_names);
        let mut new_names: HashMap<Name, Name> = HashMap::new();
        let mut input_infos = Vec::with_capacity(values.len());
        let mut inputs = Vec::with_capacity(values.len());
        for value in values {
            let info = self.info(value, naming.input(value))?;
            inputs.push(self.describe(value, &info.name, info.value_type.as_deref(), true));
            new_names.insert(value.clone(), info.name.clone());
            input_infos.push(info);
        }
        let mut output_infos = Vec::with_capacity(self.border.outputs.len());
        let mut outputs = Vec::with_capacity(self.border.outputs.len());
        for value in &self.border.outputs {
            let info = self.info(value, naming.output(value))?;
            outputs.push(self.describe(value, &info.name, info.value_type.as_deref(), false));
            new_names.insert(value.clone(), info.name.clone());
            output_infos.push(info);
        }
        let mut graph = self.graph(&new_names);
        (graph.inputs, graph.outputs) = (input_infos, output_infos);
        rename_values(&mut graph.nodes, &|name| new_names.get(name).cloned());
        let functions = &self.file.model.functions;
        let called = functions.iter().zip(called_functions(&graph, functions)).filter(|(_, called)| *called);
        let functions = called.map(|(function, _)| function.clone()).collect();
        let model = Model { graph, functions, ..self.without_graph() };
        Ok((model, inputs, outputs))
    }

    /// Nodes, weights and types of inner values, under their old names.
    fn graph(&self, crossing: &HashMap<Name, Name>) -> Graph {
        let graph = self.part.graph;
        let used: HashSet<&Name> = self.border.inputs.iter().collect();
        let graphs = || self.part.outer.iter().copied().chain([graph]);
        let initializers = graphs()
            .flat_map(|graph| &graph.initializers)
            .filter(|tensor| used.contains(&tensor.name))
            .cloned()
            .collect();
        let sparse_initializers = graphs()
            .flat_map(|graph| &graph.sparse_initializers)
            .filter(|tensor| sparse_name(tensor).is_some_and(|name| used.contains(name)))
            .cloned()
            .collect();
        let nodes: Vec<Node> = self.part.nodes().cloned().collect();
        let made: HashSet<&Name> = nodes.iter().flat_map(|node| &node.outputs).collect();
        let value_infos = graph
            .value_infos
            .iter()
            .filter(|info| made.contains(&info.name) && !crossing.contains_key(&info.name))
            .cloned()
            .collect();
        Graph {
            name: naming::graph_name(self.file, self.modules),
            nodes,
            initializers,
            sparse_initializers,
            value_infos,
            ..Graph::default()
        }
    }

    /// The model around the graph.
    fn without_graph(&self) -> Model {
        let whole = &self.file.model;
        Model {
            ir_version: whole.ir_version,
            opset_imports: whole.opset_imports.clone(),
            producer_name: whole.producer_name.clone(),
            producer_version: whole.producer_version.clone(),
            domain: whole.domain.clone(),
            model_version: whole.model_version,
            doc_string: whole.doc_string.clone(),
            metadata: whole.metadata.clone(),
            ..Model::default()
        }
    }

    /// An input or output of the new model. Runtimes need its type.
    fn info(&self, value: &Name, name: Name) -> Result<ValueInfo, Error> {
        let Some(found) = self.types.get(value) else {
            let maker = self.makers.get(value).map(|node| node.op_type.to_string());
            return Err(Error::UnknownType { value: value.to_string(), operator: maker.unwrap_or_default() });
        };
        let kept = self.declared.get(value).map(|info| (*info).clone()).unwrap_or_default();
        Ok(ValueInfo { name, value_type: Some(found.clone().into()), ..kept })
    }

    fn describe(
        &self,
        value: &Name,
        name: &Name,
        value_type: Option<&Type>,
        is_input: bool,
    ) -> BoundaryValue {
        let producer = self.makers.get(value).map(|node| NodeRef::new(node, self.file));
        let readers = self.readers.get(&(value, is_input)).into_iter().flatten();
        let readers = readers.map(|node| NodeRef::new(node, self.file)).collect();
        BoundaryValue::new(name, value, value_type, producer, readers)
    }
}
