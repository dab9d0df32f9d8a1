//! `fx_graph`: the captured ATen graph, laid along the nodes of the file.
//!
//! The program is made free of mutation first, as exporters do, so that what a node reads is what its ATen node reads.

use modelexport_graph::Method;
use modelexport_graph::aten::Program;
use modelexport_io::pt2::Archive;
use modelexport_lower::{functionalize, wrappers};

use super::align::from_program::from_program;
use super::align::weights::Classes;
use super::{Context, Draft, align};

pub(super) fn draft(context: &Context<'_>) -> Draft {
    draft_as(context, Method::Graph)
}

/// `method` is what nodes that read no parameter were found by.
pub(super) fn draft_as(context: &Context<'_>, method: Method) -> Draft {
    let Some(archive) = &context.evidence.program else { return Draft::new() };
    let program = without_mutation(archive);
    let classes = Classes::new(context.evidence);
    let class = |weight: &modelexport_graph::aten::Weight| {
        context.evidence.parameters.find(&weight.name).and_then(|id| classes.of(id))
    };
    let by_weight: Vec<Option<u32>> = program.weights.iter().map(class).collect();
    let reference = from_program(&program, &by_weight);
    align::draft(context, &reference, &classes, method)
}

/// The program with its mutations as values, or as it is where that cannot be done.
fn without_mutation(archive: &Archive) -> Program {
    let mut inlined = archive.program.clone();
    if wrappers::inline(&mut inlined).is_err() {
        return archive.program.clone();
    }
    let mut program = inlined.clone();
    match functionalize::functionalize(&mut program) {
        Ok(()) => program,
        Err(_) => inlined,
    }
}
