//! The lines of a sidecar about nodes, generated while they are written: together they are as large as the model.

use std::io;
use std::sync::mpsc;

use modelexport_graph::onnx::{Model, Node};
use modelexport_io::sidecar::{NodeLines, TakeLines};

use crate::tagger::{self, Describing};

/// Nodes whose lines are made at once.
const BLOCK: usize = 1024;

/// Blocks that may wait to be written.
const WAITING: usize = 2;

/// Calls `take` with the lines of all nodes of `model`, in order. Every other block is made by another thread.
pub(crate) fn give(model: &Model, describing: Describing<'_>, take: &mut TakeLines<'_>) -> io::Result<()> {
    let blocks: Vec<&[Node]> = tagger::node_lists(model).flat_map(|nodes| nodes.chunks(BLOCK)).collect();
    if blocks.len() < 2 {
        return blocks.iter().try_for_each(|block| take(&lines(block, describing)?));
    }
    std::thread::scope(|threads| {
        let (sender, receiver) = mpsc::sync_channel(WAITING);
        let every_other = blocks.iter().skip(1).step_by(2);
        let making = threads.spawn(move || {
            for block in every_other {
                // Nobody takes it any more where writing has failed.
                if sender.send(lines(block, describing)).is_err() {
                    break;
                }
            }
        });
        for (index, block) in blocks.iter().enumerate() {
            if index.is_multiple_of(2) {
                take(&lines(block, describing)?)?;
            } else if let Ok(made) = receiver.recv() {
                take(&made?)?;
            } else {
                break;
            }
        }
        drop(receiver);
        making.join().map_or_else(|panic| std::panic::resume_unwind(panic), Ok)
    })
}

fn lines(nodes: &[Node], describing: Describing<'_>) -> io::Result<NodeLines> {
    let mut lines = NodeLines::default();
    let mut written = Ok(());
    describing.each(nodes, &mut |node| {
        if written.is_ok() {
            written = lines.push(&node);
        }
    });
    written.map(|()| lines)
}

#[cfg(test)]
mod tests {
    use modelexport_graph::onnx::{Function, Graph, Origin};
    use modelexport_graph::{ModuleTree, Scopes};
    use modelexport_io::sidecar;

    use super::*;
    use crate::embedding::Embed;
    use crate::policy::Policy;
    use crate::tags::{TagFormat, Tags};

    fn nodes(name: &str, count: usize) -> Vec<Node> {
        let origin = Some(Origin::direct(Scopes::ROOT, None));
        let node = |index: usize| Node {
            name: format!("{name}_{index}").into(),
            op_type: "Add".into(),
            // Some nodes are of nobody knows where, and have no line.
            origin: origin.clone().filter(|_| !index.is_multiple_of(7)),
            ..Node::default()
        };
        (0..count).map(node).collect()
    }

    #[test]
    fn two_threads_write_what_one_writes() {
        let (tree, scopes) = (ModuleTree::new(), Scopes::new());
        let tags = Tags::new(&tree, &Policy::default(), TagFormat::default());
        let describing = Describing { tree: &tree, scopes: &scopes, tags: &tags };
        for (in_graph, in_function) in
            [(0, 0), (1, 0), (2, 0), (BLOCK, 1), (BLOCK + 1, 0), (6 * BLOCK, BLOCK), (7 * BLOCK + 3, 9)]
        {
            let graph = Graph { nodes: nodes("a", in_graph), ..Graph::default() };
            let functions = vec![Function { nodes: nodes("f", in_function), ..Function::default() }];
            let model = Model { graph, functions, ..Model::default() };
            let source = sidecar::Source { kind: "pt2".into(), file: None, torch_version: None };
            let options = tagger::Options { embed: Embed::BOTH, strategy: "native".into(), source };
            let whole = tagger::describe(&model, &tree, &scopes, &tags, &options);
            let modules = tagger::describe_modules(&model, &tree, &scopes, &tags, &options);
            let mut written = Vec::new();
            modules.write_with_nodes(&mut written, &mut |take| give(&model, describing, take)).unwrap();
            assert!(written == whole.to_bytes().unwrap(), "{in_graph} and {in_function} nodes");
            let read: serde_json::Value = serde_json::from_slice(&written).unwrap();
            let listed = read["nodes"].as_array().unwrap().len() as u64;
            assert_eq!(listed, whole.statistics.attributed_nodes);
        }
    }

    #[test]
    fn a_failure_ends_the_writing() {
        let (tree, scopes) = (ModuleTree::new(), Scopes::new());
        let tags = Tags::new(&tree, &Policy::default(), TagFormat::default());
        let describing = Describing { tree: &tree, scopes: &scopes, tags: &tags };
        let graph = Graph { nodes: nodes("a", 20 * BLOCK), ..Graph::default() };
        let model = Model { graph, ..Model::default() };
        for failing in 0..3 {
            let mut taken = 0;
            let given = give(&model, describing, &mut |_| {
                taken += 1;
                if taken > failing { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
            });
            assert_eq!(given.map_err(|error| error.kind()), Err(io::ErrorKind::StorageFull));
            assert_eq!(taken, failing + 1);
        }
    }
}
