//! Sequences and optional values.

use modelexport_graph::DType;

use super::Element::Fixed;
use super::{Row, row, scalar, values};
use crate::ValueType;
use crate::operation::Operation;
use crate::size::{Dims, Size, index};
use crate::value_type::Form;

pub(super) const ROWS: &[Row] = &[
    values("ConcatFromSequence", concat),
    values("Identity", identity),
    values("Optional", optional),
    values("OptionalGetElement", get_element),
    row("OptionalHasElement", &[(Fixed(DType::Bool), scalar)]),
    values("SequenceAt", element),
    values("SequenceConstruct", construct),
    values("SequenceEmpty", empty),
    values("SequenceErase", identity),
    values("SequenceInsert", insert),
    row("SequenceLength", &[(Fixed(DType::I64), scalar)]),
    values("SplitToSequence", split),
];

fn identity(operation: &Operation<'_>) -> Option<ValueType> {
    operation.input(0).cloned()
}

fn with_form(form: Form, value: &ValueType) -> ValueType {
    ValueType { form, content: None, ..value.clone() }
}

fn of_sequence<'a>(operation: &Operation<'a>) -> Option<&'a ValueType> {
    operation.input(0).filter(|input| input.form == Form::Sequence)
}

fn element(operation: &Operation<'_>) -> Option<ValueType> {
    of_sequence(operation).map(|sequence| with_form(Form::Tensor, sequence))
}

fn construct(operation: &Operation<'_>) -> Option<ValueType> {
    let mut inputs = operation.inputs.iter().flatten();
    let first = with_form(Form::Tensor, inputs.next()?);
    Some(with_form(Form::Sequence, &inputs.fold(first, ValueType::common)))
}

fn empty(operation: &Operation<'_>) -> Option<ValueType> {
    let dtype = operation.stated("dtype").or(Some(DType::F32));
    Some(ValueType { form: Form::Sequence, ..ValueType::tensor(dtype, None) })
}

/// Into an empty sequence goes what has any shape.
fn insert(operation: &Operation<'_>) -> Option<ValueType> {
    let sequence = of_sequence(operation)?;
    let inserted = with_form(Form::Sequence, operation.input(1)?);
    Some(ValueType { dtype: sequence.dtype.or(inserted.dtype), ..sequence.clone().common(&inserted) })
}

fn split(operation: &Operation<'_>) -> Option<ValueType> {
    let input = operation.input(0)?;
    let dims = || -> Option<Dims> {
        let mut dims = operation.dims(0)?.to_vec();
        let axis = index(operation.int("axis", 0), dims.len())?;
        let keeps = operation.has(1) || operation.int("keepdims", 1) != 0;
        match (keeps, operation.has(1)) {
            (false, _) => _ = dims.remove(axis),
            (true, false) => *dims.get_mut(axis)? = Size::Known(1),
            (true, true) => *dims.get_mut(axis)? = Size::Unknown,
        }
        Some(dims)
    };
    Some(ValueType { form: Form::Sequence, ..ValueType::tensor(input.dtype, dims()) })
}

fn concat(operation: &Operation<'_>) -> Option<ValueType> {
    let sequence = of_sequence(operation)?;
    let dims = || -> Option<Dims> {
        let mut dims = sequence.dims.clone()?;
        let axis = operation.int("axis", 0);
        if operation.flag("new_axis") {
            dims.insert(index(axis, dims.len() + 1)?, Size::Unknown);
        } else {
            let axis = index(axis, dims.len())?;
            *dims.get_mut(axis)? = Size::Unknown;
        }
        Some(dims)
    };
    Some(ValueType::tensor(sequence.dtype, dims()))
}

fn optional(operation: &Operation<'_>) -> Option<ValueType> {
    let stated = || operation.attributes.value_type("type");
    let input = operation.input(0).cloned().or_else(stated)?;
    let form = match input.form {
        Form::Tensor => Form::Optional,
        Form::Sequence => Form::OptionalSequence,
        _ => return None,
    };
    Some(with_form(form, &input))
}

fn get_element(operation: &Operation<'_>) -> Option<ValueType> {
    let input = operation.input(0)?;
    Some(match input.form {
        Form::Optional => with_form(Form::Tensor, input),
        Form::OptionalSequence => with_form(Form::Sequence, input),
        _ => input.clone(),
    })
}
