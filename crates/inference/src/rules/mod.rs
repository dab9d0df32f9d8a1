//! The table: what each operator makes of the types of its inputs.
//!
//! A row names operators and says of each output its element type and its shape. Both are apart, so that the type is
//! known where the shape is not.

mod attention;
mod convolution;
mod elementwise;
mod generator;
mod indexing;
mod layout;
mod matrix;
mod microsoft;
mod quantisation;
mod reduction;
mod sequence;
mod signal;

use std::collections::HashMap;
use std::sync::LazyLock;

use modelexport_graph::DType;
use modelexport_graph::hash::RandomState;

use crate::content;
use crate::operation::Operation;
use crate::size::Dims;
use crate::value_type::ValueType;

pub(crate) use attention::Sizes as AttentionSizes;
pub(crate) use generator::shape_range;
pub(crate) use layout::slice_range;
pub(crate) use matrix::Einsum;

/// Operators with one rule.
struct Row {
    /// Separated by spaces.
    operators: &'static str,
    rule: Rule,
}

#[derive(Clone, Copy)]
enum Rule {
    /// Of each output; the last stands for all further ones.
    Outputs(&'static [(Element, Shape)]),
    /// Of each output, for values that need not be tensors.
    Values(fn(&Operation<'_>) -> Option<ValueType>),
}

/// The shape of output number `i`.
type Shape = fn(&Operation<'_>, usize) -> Option<Dims>;

/// An element type.
#[derive(Clone, Copy)]
enum Element {
    Input(usize),
    Fixed(DType),
    /// Stated by this attribute.
    Stated(&'static str),
    /// Stated by this attribute, or this one.
    StatedOr(&'static str, DType),
    /// Stated by this attribute, or that of the input.
    StatedOrInput(&'static str, usize),
    /// That of the first input of which it is known.
    AnyInput,
    By(fn(&Operation<'_>) -> Option<DType>),
}

impl Element {
    fn of(self, operation: &Operation<'_>) -> Option<DType> {
        match self {
            Element::Input(i) => operation.dtype(i),
            Element::Fixed(dtype) => Some(dtype),
            Element::Stated(name) => operation.stated(name),
            Element::StatedOr(name, dtype) => operation.stated(name).or(Some(dtype)),
            Element::StatedOrInput(name, i) => operation.stated(name).or_else(|| operation.dtype(i)),
            Element::AnyInput => operation.inputs.iter().flatten().find_map(|input| input.dtype),
            Element::By(f) => f(operation),
        }
    }
}

const fn row(operators: &'static str, outputs: &'static [(Element, Shape)]) -> Row {
    Row { operators, rule: Rule::Outputs(outputs) }
}

const fn values(operators: &'static str, rule: fn(&Operation<'_>) -> Option<ValueType>) -> Row {
    Row { operators, rule: Rule::Values(rule) }
}

/// Rules by operator.
type Table = HashMap<&'static str, Rule, RandomState>;

fn table(families: &[&[Row]]) -> Table {
    let rows = families.iter().copied().flatten();
    rows.flat_map(|row| row.operators.split_whitespace().map(|operator| (operator, row.rule))).collect()
}

const STANDARD_FAMILIES: &[&[Row]] = &[
    attention::ROWS,
    convolution::ROWS,
    elementwise::ROWS,
    generator::ROWS,
    indexing::ROWS,
    layout::ROWS,
    matrix::ROWS,
    quantisation::ROWS,
    reduction::ROWS,
    sequence::ROWS,
    signal::ROWS,
];

const MICROSOFT_FAMILIES: &[&[Row]] = &[attention::MICROSOFT, microsoft::ROWS];

static STANDARD: LazyLock<Table> = LazyLock::new(|| table(STANDARD_FAMILIES));
static MICROSOFT: LazyLock<Table> = LazyLock::new(|| table(MICROSOFT_FAMILIES));

fn rule_of(operation: &Operation<'_>) -> Option<&'static Rule> {
    match operation.domain {
        "" => STANDARD.get(operation.op_type),
        "com.microsoft" => MICROSOFT.get(operation.op_type),
        _ => None,
    }
}

/// The element type of output number `i` alone.
pub fn element_type(operation: &Operation<'_>, i: usize) -> Option<DType> {
    match rule_of(operation)? {
        Rule::Outputs(outputs) => outputs.get(i).or(outputs.last())?.0.of(operation),
        Rule::Values(rule) => rule(operation)?.dtype,
    }
}

/// The types of the outputs, as far as they follow from the inputs; or why there is no such operation.
pub fn outputs(operation: &Operation<'_>) -> Result<Vec<ValueType>, String> {
    let found = match rule_of(operation) {
        Some(Rule::Outputs(outputs)) => (0..operation.outputs)
            .map_while(|i| {
                let (element, shape) = outputs.get(i).or(outputs.last())?;
                let mut output = ValueType::tensor(element.of(operation), shape(operation, i));
                if let (0, Some(dtype), Some(dims)) = (i, output.dtype, &output.dims) {
                    output.content = content::of_output(operation, dtype, dims);
                }
                Some(output)
            })
            .collect(),
        Some(Rule::Values(rule)) => vec![rule(operation).unwrap_or_default()],
        None => Vec::new(),
    };
    match operation.refusal.take() {
        Some(reason) => Err(reason),
        None => Ok(found),
    }
}

/// No shape is known.
fn unknown(_: &Operation<'_>, _: usize) -> Option<Dims> {
    None
}

fn scalar(_: &Operation<'_>, _: usize) -> Option<Dims> {
    Some(Dims::new())
}

/// The shape of the first input.
fn same(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    operation.dims(0).map(<[_]>::to_vec)
}

/// The shape of input `I`.
fn like<const I: usize>(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    operation.dims(I).map(<[_]>::to_vec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operator_has_one_row() {
        for families in [STANDARD_FAMILIES, MICROSOFT_FAMILIES] {
            let names = families.iter().copied().flatten().flat_map(|row| row.operators.split_whitespace());
            let mut seen = std::collections::HashSet::new();
            for name in names {
                assert!(seen.insert(name), "{name}");
            }
        }
    }
}
