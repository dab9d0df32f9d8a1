//! Exports a captured program to ONNX: `cargo run --example export_a_file -- model.pt2 model.onnx`.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use std::error::Error;

use modelexport::Export;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [archive, output] = arguments.as_slice() else {
        return Err("usage: export_a_file ARCHIVE OUTPUT".into());
    };
    // `()` is an observer that ignores progress and warnings.
    let summary = Export::new(archive, output).run(&mut ())?.summary;
    for file in &summary.files {
        println!("wrote {} ({} bytes)", file.path, file.bytes);
    }
    println!("{} nodes, opset {}", summary.statistics.nodes, summary.opset);
    Ok(())
}
