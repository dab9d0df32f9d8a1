//! Patterns of nodes that spell out one operator of standard ONNX become that operator. They are found by their
//! structure; each pattern is a file that says in its header what it looks for, and on what conditions.
//!
//! A pattern is found only if nothing else reads what is made inside of it, so that no work is done twice.
//!
//! Origin of the new nodes: the lowest common ancestor of the nodes that they stand for, which is a module itself where
//! the pattern is all of its work. The modules of all these nodes are named among those that the new node stands for.

mod attention;
mod division;
mod gelu;
mod layer_norm;
mod normal;
mod product;
mod rewrite;
mod rms_norm;
mod rotary;
mod search;
#[cfg(test)]
mod spelled;
mod swish;
mod table;

use modelexport_graph::Scopes;

use crate::ir::Ir;
use crate::{Fuse, Options};
use rewrite::Pattern;

/// Of two patterns that end with the same node, the first is preferred.
const PATTERNS: &[Pattern] = &[
    layer_norm::PATTERN,
    rms_norm::PATTERN,
    rotary::PATTERN,
    gelu::PATTERN,
    swish::PATTERN,
    division::PATTERN,
];

/// True if a pattern was found.
pub fn run(ir: &mut Ir, scopes: &Scopes, options: &Options) -> bool {
    match options.fuse {
        Fuse::None => false,
        Fuse::Standard => {
            let run = |ir: &mut Ir, patterns| rewrite::run(ir, scopes, options.opset, patterns);
            let changed = run(ir, PATTERNS);
            attention::STEPS.into_iter().fold(changed, |changed, step| run(ir, step) | changed)
        }
    }
}
