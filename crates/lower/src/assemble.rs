//! Nodes of the ONNX model, put together when all their names are known.
//!
//! Names are given one after the other; the rest of a node depends on nothing but the node. In a long graph another
//! thread does it, a batch behind.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::mpsc;

use modelexport_graph::Name;
use modelexport_graph::hash::HashMap;
use modelexport_graph::onnx::{self, Attribute, AttributeValue, Tensor, TensorData, Type, ValueInfo};

use crate::error::Result;
use crate::ir::{Attr, Node};
use crate::literal::Literal;

/// Shorter graphs are put together by the thread that names their nodes.
const MANY_NODES: usize = 1 << 14;

/// Nodes that are handed over at once, and how many times that may wait.
const BATCH: usize = 512;
const WAITING: usize = 4;

/// A node and its names.
pub(crate) struct NamedNode {
    pub node: Node,
    pub name: Name,
    pub inputs: Vec<Name>,
    pub outputs: Vec<Name>,
    /// The graphs that stand for those in the node's attributes, in order.
    pub subgraphs: Vec<onnx::Graph>,
}

/// Some nodes that follow each other, and values whose types are told.
#[derive(Default)]
pub(crate) struct Batch {
    nodes: Vec<NamedNode>,
    values: Vec<(Name, Option<Arc<Type>>)>,
}

/// Takes nodes and values in order.
pub(crate) struct BatchSender<'t> {
    batch: Batch,
    take: &'t mut dyn FnMut(Batch),
}

impl BatchSender<'_> {
    pub fn node(&mut self, node: NamedNode) {
        if self.batch.nodes.len() == BATCH {
            (self.take)(std::mem::take(&mut self.batch));
        }
        if self.batch.nodes.is_empty() {
            self.batch.nodes.reserve_exact(BATCH);
            self.batch.values.reserve(BATCH);
        }
        self.batch.nodes.push(node);
    }

    pub fn value(&mut self, name: Name, value_type: Option<Arc<Type>>) {
        self.batch.values.push((name, value_type));
    }
}

/// Nodes and declared values of a graph.
pub(crate) struct Assembly {
    pub nodes: Vec<onnx::Node>,
    pub value_infos: Vec<ValueInfo>,
    /// Operators, domains and names of attributes.
    texts: HashMap<Cow<'static, str>, Name>,
}

/// What becomes of the nodes, about `count`, that `give` hands over.
pub(crate) fn assemble(
    count: usize,
    give: impl FnOnce(&mut BatchSender<'_>) -> Result<()>,
) -> Result<Assembly> {
    let give_all = |take: &mut dyn FnMut(Batch)| {
        let mut intake = BatchSender { batch: Batch::default(), take };
        let given = give(&mut intake);
        let BatchSender { batch, take } = intake;
        take(batch);
        given
    };
    if count < MANY_NODES {
        let mut assembly = Assembly::new(count);
        give_all(&mut |batch| assembly.add(batch))?;
        return Ok(assembly);
    }
    std::thread::scope(|threads| {
        let (sender, receiver) = mpsc::sync_channel(WAITING);
        let assembling = threads.spawn(move || {
            let mut assembly = Assembly::new(count);
            receiver.into_iter().for_each(|batch| assembly.add(batch));
            assembly
        });
        // A thread that takes no more has panicked, which it tells when it is joined.
        let given = give_all(&mut |batch| drop(sender.send(batch)));
        drop(sender);
        let assembly = assembling.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        given.map(|()| assembly)
    })
}

impl Assembly {
    fn new(count: usize) -> Self {
        let (nodes, value_infos) = (Vec::with_capacity(count), Vec::with_capacity(count));
        Assembly { nodes, value_infos, texts: HashMap::default() }
    }

    fn add(&mut self, batch: Batch) {
        for node in batch.nodes {
            let node = self.node(node);
            self.nodes.push(node);
        }
        let infos = batch.values.into_iter();
        self.value_infos.extend(infos.map(|(name, value_type)| ValueInfo {
            name,
            value_type,
            ..ValueInfo::default()
        }));
    }

    fn node(&mut self, named: NamedNode) -> onnx::Node {
        let NamedNode { node, name, inputs, outputs, subgraphs } = named;
        let mut subgraphs = subgraphs.into_iter();
        let mut attributes = Vec::with_capacity(node.attributes.len());
        for (key, value) in node.attributes {
            let name = self.shared(key);
            attributes.push(Attribute {
                name,
                value: attribute(value, &mut subgraphs),
                ..Attribute::default()
            });
        }
        onnx::Node {
            name,
            op_type: self.shared(node.op),
            domain: self.shared(node.domain),
            inputs,
            outputs,
            attributes,
            origin: Some(node.origin),
            shared_by: node.shared_by,
            ..onnx::Node::default()
        }
    }

    /// A text that many nodes have, in one place.
    fn shared(&mut self, text: Cow<'static, str>) -> Name {
        if let Some(name) = self.texts.get(&text) {
            return name.clone();
        }
        let name: Name = text.as_ref().into();
        self.texts.insert(text, name.clone());
        name
    }
}

fn attribute(value: Attr, subgraphs: &mut impl Iterator<Item = onnx::Graph>) -> AttributeValue {
    match value {
        Attr::Int(value) => AttributeValue::Int(value),
        Attr::Ints(values) => AttributeValue::Ints(values),
        Attr::Float(value) => AttributeValue::Float(value),
        Attr::Floats(values) => AttributeValue::Floats(values),
        Attr::Str(value) => AttributeValue::String(value.into_owned().into_bytes()),
        Attr::Strs(values) => {
            AttributeValue::Strings(values.into_iter().map(|value| value.into_owned().into_bytes()).collect())
        }
        Attr::Tensor(literal) => AttributeValue::Tensor(Box::new(tensor("".into(), &literal))),
        Attr::Graph(_) => AttributeValue::Graph(Box::new(subgraphs.next().unwrap_or_default())),
    }
}

pub(crate) fn tensor(name: Name, literal: &Literal) -> Tensor {
    Tensor {
        name,
        data_type: literal.dtype.onnx_code().unwrap_or(0),
        dims: literal.dims.clone(),
        data: TensorData::Raw(literal.bytes.clone()),
        ..Tensor::default()
    }
}

#[cfg(test)]
mod tests {
    use modelexport_graph::Scopes;
    use modelexport_graph::onnx::Origin;

    use super::*;
    use crate::attrs;
    use crate::ir::Graph;

    fn named(index: usize) -> NamedNode {
        let has_graph = index % 1000 == 7;
        let node = Node {
            op: if index.is_multiple_of(2) { "Add".into() } else { "If".into() },
            domain: "".into(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            attributes: if has_graph { attrs![axis = 1, body = Graph::default()] } else { attrs![axis = 0] },
            origin: Origin::direct(Scopes::ROOT, None),
            shared_by: Vec::new(),
        };
        let subgraph = onnx::Graph { name: format!("graph_{index}"), ..onnx::Graph::default() };
        NamedNode {
            node,
            name: format!("node_{index}").into(),
            inputs: vec!["x".into()],
            outputs: vec![format!("value_{index}").into()],
            subgraphs: if has_graph { vec![subgraph] } else { Vec::new() },
        }
    }

    #[test]
    fn another_thread_puts_together_the_same() {
        let with_count = |count| {
            let assembly = assemble(count, |intake| {
                for index in 0..MANY_NODES + BATCH / 2 {
                    intake.node(named(index));
                    intake.value(format!("value_{index}").into(), None);
                }
                Ok(())
            });
            let Assembly { nodes, value_infos, .. } = assembly.unwrap();
            (nodes.len(), value_infos.len(), format!("{nodes:?} {value_infos:?}"))
        };
        let (here, beside) = (with_count(0), with_count(MANY_NODES));
        assert_eq!((here.0, here.1), (MANY_NODES + BATCH / 2, MANY_NODES + BATCH / 2));
        assert!(here == beside);
        assert!(here.2.contains("graph_1007"));
    }

    #[test]
    fn what_fails_while_nodes_are_named_is_told() {
        for count in [0, MANY_NODES] {
            let failed = assemble(count, |intake| {
                intake.node(named(0));
                Err(crate::Error::Program("a bad graph".into()))
            });
            assert!(matches!(failed, Err(crate::Error::Program(_))));
        }
    }
}
