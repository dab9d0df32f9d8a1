//! How a program uses its weights.

use modelexport_graph::aten::{Arg, InputSpec, OutputSpec, Program};

/// What a program does with one weight.
#[derive(Clone, Copy, Default)]
pub(super) struct Use {
    /// A node or an output of the model takes it.
    pub is_read: bool,
    /// It is part of what a model is saved as: a parameter, or a buffer that is not left out of it.
    pub is_saved: bool,
}

/// One for each weight of the program.
pub(super) fn uses_of(program: &Program) -> Vec<Use> {
    let mut uses = vec![Use::default(); program.weights.len()];
    let mut weights = vec![None; program.graph.values.len()];
    for (input, spec) in program.graph.inputs.iter().zip(&program.signature.inputs) {
        let (weight, is_saved) = match spec {
            InputSpec::Parameter { weight } => (*weight, true),
            InputSpec::Buffer { weight, persistent } => (*weight, *persistent),
            InputSpec::TensorConstant { weight } => (*weight, false),
            _ => continue,
        };
        if let Some(found) = uses.get_mut(weight as usize) {
            found.is_saved = is_saved;
        }
        if let Arg::Tensor(value) = input
            && let Some(slot) = weights.get_mut(value.0 as usize)
        {
            *slot = Some(weight as usize);
        }
    }
    let mut note = |arg: &Arg| {
        arg.for_each_tensor(&mut |value| {
            let weight = weights.get(value.0 as usize).copied().flatten();
            if let Some(found) = weight.and_then(|weight| uses.get_mut(weight)) {
                found.is_read = true;
            }
        });
    };
    program.graph.nodes.iter().flat_map(|node| &node.args).for_each(|arg| note(&arg.arg));
    let outputs = program.graph.outputs.iter().zip(&program.signature.outputs);
    outputs.filter(|(_, spec)| matches!(spec, OutputSpec::User { .. })).for_each(|(output, _)| note(output));
    uses
}
