//! Clean-up of the graph. Each pass is a file, says in its header what origin the nodes have that it makes or
//! merges, and returns whether it changed anything.

mod batch_matmul;
mod batch_norm;
mod common;
mod dead_code;
mod fold;
mod fusion;
mod identity;
mod known_results;
mod merge_moves;
mod no_op;
mod padded_convolution;
mod padded_max_pool;
mod pads;
mod readers;
mod uses;
mod weight_layout;

use modelexport_graph::aten::Program;

use crate::Options;
use crate::ir::Ir;

use fold::Layouts;
pub use fold::Load;
use readers::Readers;

/// How often the passes that feed each other run; what is left after that is rare and harmless.
const ROUNDS: usize = 3;

/// Runs the passes in the order in which they help each other: copies hide what nodes read, dead nodes would be
/// folded for nothing, folding makes no-ops visible, and moves that were merged leave equal nodes behind. Weights are
/// turned last, when all their readers are known; what still reads a small one in another layout then gets a copy.
pub fn run(ir: &mut Ir, program: &Program, options: &Options, load: Load<'_>) {
    let readers = Readers::new(program);
    identity::run(ir, &readers);
    dead_code::run(ir);
    for _ in 0..ROUNDS {
        let mut changed = fold::run(ir, program, options, load, Layouts::Wait);
        changed |= no_op::run(ir, &readers);
        changed |= merge_moves::run(ir, &readers);
        changed |= common::run(ir, &program.scopes);
        changed |= dead_code::run(ir);
        if !changed {
            break;
        }
    }
    if fusion::run(ir, &program.scopes, options) {
        // New nodes compute from constants what old ones did not, and do it again for each pattern.
        common::run(ir, &program.scopes);
        fold::run(ir, program, options, load, Layouts::Wait);
        dead_code::run(ir);
    }
    padded_max_pool::run(ir, options.opset);
    if options.fold_batch_norm {
        batch_norm::run(ir, program, load);
    }
    let mut changed = padded_convolution::run(ir, &program.scopes);
    changed |= batch_matmul::run(ir);
    changed |= weight_layout::run(ir, program, &readers, options.weights_can_move);
    changed |= fold::run(ir, program, options, load, Layouts::Compute);
    if changed {
        dead_code::run(ir);
    }
}
