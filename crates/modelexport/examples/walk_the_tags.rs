//! Prints the module and the tag of every node: `cargo run --example walk_the_tags -- model.onnx`.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use std::error::Error;
use std::path::Path;

use modelexport::TaggedFile;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path] = arguments.as_slice() else {
        return Err("usage: walk_the_tags MODEL".into());
    };
    let file = TaggedFile::open(Path::new(path))?;
    // Nodes of subgraphs and functions are visited, too.
    file.model.for_each_node(&mut |node| match file.module(node) {
        Some(id) => {
            let module = file.hierarchy.tree.get(id).map(|module| &*module.path).unwrap_or_default();
            println!("{}\t{module}\t{}", node.name, file.tags.tag(id));
        }
        None => println!("{}\tunknown", node.name),
    });
    Ok(())
}
