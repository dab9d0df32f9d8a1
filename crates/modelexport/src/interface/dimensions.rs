//! Assigns names to the symbols of the program.

use modelexport_graph::aten::{Arg, InputSpec, Program};
use modelexport_graph::{Dim, SymExpr};

use super::{Error, check};

/// Pairs of symbol and name. `INPUT:AXIS=NAME` means the symbol that the axis of the input has.
pub fn dimension_names(given: &[String], program: &Program) -> Result<Vec<(String, String)>, Error> {
    given.iter().map(|text| one(text, program)).collect()
}

fn one(text: &str, program: &Program) -> Result<(String, String), Error> {
    let (dimension, name) =
        text.split_once('=').ok_or_else(|| Error::DimensionForm { text: text.to_owned() })?;
    check("dimension", name)?;
    let symbol = match dimension.rsplit_once(':') {
        None => {
            let is_symbol = program.ranges.iter().any(|(symbol, _)| **symbol == *dimension)
                || dynamic_dimensions(program).any(|(_, _, symbol)| symbol == dimension);
            is_symbol.then(|| dimension.to_owned())
        }
        Some((input, axis)) => dynamic_dimensions(program)
            .find(|(name, at, _)| name == input && axis.parse() == Ok(*at))
            .map(|(_, _, symbol)| symbol),
    };
    match symbol {
        Some(symbol) => Ok((symbol, name.to_owned())),
        None => Err(Error::NoDimension {
            text: text.to_owned(),
            dimension: dimension.to_owned(),
            known: describe(program),
        }),
    }
}

/// Input, axis and symbol of each plain symbolic dimension of the inputs.
fn dynamic_dimensions(program: &Program) -> impl Iterator<Item = (String, usize, String)> + '_ {
    let inputs = program.graph.inputs.iter().zip(&program.signature.inputs);
    inputs.flat_map(|(arg, spec)| {
        let (Arg::Tensor(id), InputSpec::User { name }) = (arg, spec) else { return Vec::new() };
        let Some(meta) = program.graph.tensor(*id) else { return Vec::new() };
        let axes = meta.sizes.iter().enumerate().filter_map(|(axis, size)| match size {
            Dim::Symbolic(SymExpr::Symbol(symbol)) => Some((name.to_string(), axis, symbol.to_string())),
            _ => None,
        });
        axes.collect()
    })
}

fn describe(program: &Program) -> String {
    let all: Vec<String> = dynamic_dimensions(program)
        .map(|(input, axis, symbol)| format!("{input}:{axis} ({symbol})"))
        .collect();
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}
