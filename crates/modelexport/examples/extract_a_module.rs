//! Writes a module as a model of its own:
//! `cargo run --example extract_a_module -- model.onnx encoder.layer.0 layer.onnx`.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use std::error::Error;

use modelexport::Extract;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, selector, output] = arguments.as_slice() else {
        return Err("usage: extract_a_module MODEL SELECTOR OUTPUT".into());
    };
    let manifest = Extract::new(model, selector, output).run(&mut ())?.manifest;
    // Values that cross the border of the module are inputs and outputs of the new model.
    for input in &manifest.inputs {
        println!("input {}", input.name);
    }
    for output in &manifest.outputs {
        println!("output {}", output.name);
    }
    println!("{} nodes", manifest.nodes);
    Ok(())
}
