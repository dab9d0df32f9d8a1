//! Names of inputs and outputs, in order.

use std::collections::HashSet;

use modelexport_graph::Name;
use modelexport_graph::aten::{Arg, InputSpec, OutputSpec, Program};

use super::{Error, check};

/// Names the first inputs of the model; the others keep theirs.
pub fn rename_inputs(program: &mut Program, names: &[String]) -> Result<(), Error> {
    let inputs = program.graph.inputs.iter().zip(&mut program.signature.inputs);
    let mut slots: Vec<&mut Name> = inputs
        .filter_map(|(arg, spec)| match (arg, spec) {
            (
                Arg::Tensor(_) | Arg::SymInt(_) | Arg::SymFloat(_) | Arg::SymBool(_),
                InputSpec::User { name },
            ) => Some(name),
            _ => None,
        })
        .collect();
    let known = || slots.iter().map(|name| name.to_string()).collect();
    check_list("input", names, slots.len(), known)?;
    for (slot, name) in slots.iter_mut().zip(names) {
        **slot = name.as_str().into();
    }
    Ok(())
}

/// Names the first outputs of the model; the others keep theirs.
pub fn rename_outputs(program: &mut Program, names: &[String]) -> Result<(), Error> {
    let outputs = program.graph.outputs.iter().zip(&mut program.signature.outputs);
    let mut slots: Vec<&mut Option<Name>> = outputs
        .filter_map(|(arg, spec)| match (arg, spec) {
            (Arg::None, _) => None,
            (_, OutputSpec::User { name }) => Some(name),
            _ => None,
        })
        .collect();
    let known = || {
        let shown = |(i, name): (usize, &&mut Option<Name>)| {
            name.as_ref().map_or_else(|| format!("output {i}"), ToString::to_string)
        };
        slots.iter().enumerate().map(shown).collect()
    };
    check_list("output", names, slots.len(), known)?;
    for (slot, name) in slots.iter_mut().zip(names) {
        **slot = Some(name.as_str().into());
    }
    Ok(())
}

fn check_list(
    what: &'static str,
    names: &[String],
    slots: usize,
    known: impl FnOnce() -> Vec<String>,
) -> Result<(), Error> {
    if names.len() > slots {
        return Err(Error::TooMany { what, given: names.len(), names: known() });
    }
    let mut seen = HashSet::new();
    for name in names {
        check(what, name)?;
        if !seen.insert(name) {
            return Err(Error::Twice { what, name: name.clone() });
        }
    }
    Ok(())
}
