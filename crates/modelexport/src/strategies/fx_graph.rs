//! `fx_graph`: aligns the captured ATen graph with the nodes of the file.
//!
//! The program is functionalized first, as exporters do, so that a node reads the same values as its ATen node.

use modelexport_graph::Method;
use modelexport_graph::aten::Program;
use modelexport_lower::{functionalize, wrappers};

use super::align::from_program::from_program;
use super::align::reference::Reference;
use super::align::weights::Classes;
use super::evidence::Evidence;
use super::{Context, Draft, align};
use crate::Error;

pub(super) fn draft(context: &Context<'_>) -> Draft {
    let Some(run) = &context.evidence.run else { return Draft::new() };
    align::draft(
        context,
        run,
        &Classes::new(context.evidence, context.evidence.program.as_ref()),
        Method::Graph,
    )
}

/// The nodes of the program that `evidence` came from, as steps.
pub(super) fn run(program: &Program, evidence: &Evidence, classes: &Classes) -> Reference {
    let class = |weight: &modelexport_graph::aten::Weight| {
        evidence.parameters.find(&weight.name).and_then(|id| classes.of(id))
    };
    let by_weight: Vec<Option<u32>> = program.weights.iter().map(class).collect();
    from_program(program, &by_weight)
}

/// The program with its mutations as values, or as `read_again` gives it where that cannot be done.
pub(super) fn without_mutation(
    program: Program,
    read_again: &dyn Fn() -> Result<Program, Error>,
) -> Result<Program, Error> {
    let mut functional = program;
    if wrappers::inline(&mut functional).is_err() {
        return read_again();
    }
    if functionalize::functionalize(&mut functional).is_ok() {
        return Ok(functional);
    }
    let mut inlined = read_again()?;
    match wrappers::inline(&mut inlined) {
        Ok(()) => Ok(inlined),
        Err(_) => read_again(),
    }
}
