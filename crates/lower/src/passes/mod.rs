//! Clean-up of the graph. Each pass is a file, says in its header what origin the nodes have that it makes or
//! merges, and returns whether it changed anything.

mod dead_code;
mod identity;

use modelexport_graph::aten::Program;

use crate::Options;
use crate::ir::Ir;

/// Runs the passes in the order in which they help each other.
pub fn run(ir: &mut Ir, program: &Program, options: &Options) {
    let _ = (program, options);
    identity::run(ir);
    dead_code::run(ir);
}
