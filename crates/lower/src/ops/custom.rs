//! Operators of the user: a rule names the ONNX operator that takes the tensors of the call; its other arguments
//! become attributes with the names of the ATen schema.

use std::borrow::Cow;

use modelexport_graph::aten::Arg;

use crate::CustomOperator;
use crate::context::Context;
use crate::error::Result;
use crate::ir::Attr;
use crate::registry::Outputs;

pub fn lower(cx: &mut Context<'_, '_>, custom: &CustomOperator) -> Result<Outputs> {
    let mut inputs = Vec::new();
    let mut attributes = Vec::new();
    for argument in cx.node.args.iter() {
        let name = argument.name.to_string();
        let value = match &argument.arg {
            Arg::Tensor(id) => {
                inputs.push(Some(cx.value(*id)?));
                continue;
            }
            Arg::Tensors(ids) => {
                for &id in ids {
                    inputs.push(Some(cx.value(id)?));
                }
                continue;
            }
            Arg::OptionalTensors(ids) => {
                for id in ids {
                    inputs.push(id.map(|id| cx.value(id)).transpose()?);
                }
                continue;
            }
            Arg::None => {
                continue;
            }
            Arg::Int(value) => Attr::Int(*value),
            Arg::Bool(value) => Attr::Int(i64::from(*value)),
            Arg::Float(value) => Attr::Float(*value as f32),
            Arg::Ints(values) => Attr::Ints(values.clone()),
            Arg::Floats(values) => Attr::Floats(values.iter().map(|&value| value as f32).collect()),
            Arg::Str(value) => Attr::Str(value.to_string().into()),
            Arg::DType(dtype) => Attr::from(*dtype),
            other => {
                return cx.wrong_kind(&name, "a tensor, a number, a string or a list of these", Some(other));
            }
        };
        attributes.push((Cow::Owned(name), value));
    }
    let count = cx.out_count();
    let outputs = cx.emit_custom(&custom.domain, &custom.op_type, &inputs, attributes, count);
    Ok(outputs.into())
}
