//! Clean-up of the graph. Each pass is a file, says in its header what origin the nodes have that it makes or
//! merges, and returns whether it changed anything.

mod dead_code;
mod fold;
mod identity;
mod weight_layout;

use modelexport_graph::aten::Program;

use crate::Options;
use crate::ir::Ir;

pub use fold::Load;

/// Runs the passes in the order in which they help each other: copies hide what nodes read, dead nodes would be
/// folded for nothing, and folding leaves dead nodes behind.
pub fn run(ir: &mut Ir, program: &Program, options: &Options, load: Load<'_>) {
    identity::run(ir);
    dead_code::run(ir);
    if fold::run(ir, program, options.fold_limit, load) {
        dead_code::run(ir);
    }
    if options.weights_can_move {
        weight_layout::run(ir);
    }
}
