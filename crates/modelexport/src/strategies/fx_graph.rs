//! `fx_graph`: the captured ATen graph, laid along the nodes of the file.
//!
//! The program is made free of mutation first, as exporters do, so that what a node reads is what its ATen node reads.

use modelexport_graph::Method;
use modelexport_graph::aten::Program;
use modelexport_lower::{functionalize, wrappers};

use super::align::from_program::from_program;
use super::align::reference::Reference;
use super::align::weights::Classes;
use super::evidence::Evidence;
use super::{Context, Draft, align};

pub(super) fn draft(context: &Context<'_>) -> Draft {
    let Some(run) = &context.evidence.run else { return Draft::new() };
    align::draft(context, run, &Classes::new(context.evidence), Method::Graph)
}

/// The nodes of the program that `evidence` came from, as steps.
pub(super) fn run(program: &Program, evidence: &Evidence, classes: &Classes) -> Reference {
    let program = without_mutation(program);
    let class = |weight: &modelexport_graph::aten::Weight| {
        evidence.parameters.find(&weight.name).and_then(|id| classes.of(id))
    };
    let by_weight: Vec<Option<u32>> = program.weights.iter().map(class).collect();
    from_program(&program, &by_weight)
}

/// The program with its mutations as values, or as it is where that cannot be done.
fn without_mutation(program: &Program) -> Program {
    let mut inlined = program.clone();
    if wrappers::inline(&mut inlined).is_err() {
        return program.clone();
    }
    let mut functional = inlined;
    if functionalize::functionalize(&mut functional).is_ok() {
        return functional;
    }
    // To do it again is rare and short, and a copy to fall back on would double the memory of every program.
    let mut inlined = program.clone();
    match wrappers::inline(&mut inlined) {
        Ok(()) => inlined,
        Err(_) => program.clone(),
    }
}
