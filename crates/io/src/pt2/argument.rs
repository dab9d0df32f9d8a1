//! The union of all argument kinds. It is parsed by hand, so that an unknown kind can be reported with its node.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

use super::json::{Float, Map, Text, end_of_union};
use super::schema::{CustomObject, Device, Graph, Named};

pub(super) enum Argument<'a> {
    None,
    Tensor(Named<'a>),
    Tensors(Vec<Named<'a>>),
    Int(i64),
    Ints(Vec<i64>),
    Float(Float),
    Floats(Vec<Float>),
    String(Text<'a>),
    Strings(Vec<Text<'a>>),
    SymInt(SymIntArgument<'a>),
    SymInts(Vec<SymIntArgument<'a>>),
    ScalarType(i64),
    MemoryFormat(i64),
    Layout(i64),
    Device(Box<Device<'a>>),
    Bool(bool),
    Bools(Vec<bool>),
    SymBool(SymBoolArgument<'a>),
    SymBools(Vec<SymBoolArgument<'a>>),
    Graph(Box<GraphArgument<'a>>),
    OptionalTensors(Vec<OptionalTensor<'a>>),
    OptionalTensor(OptionalTensor<'a>),
    CustomObject(Box<CustomObject<'a>>),
    Operator(Text<'a>),
    SymFloat(SymFloatArgument<'a>),
    SymFloats(Vec<SymFloatArgument<'a>>),
    Complex(Complex),
    NestedTensors(Vec<Vec<Named<'a>>>),
    IntLists(Vec<Vec<i64>>),
    FloatLists(Vec<Vec<Float>>),
    Dict(Map<'a, Argument<'a>>),
    /// A kind that the schema does not have.
    Unknown(Text<'a>),
}

#[derive(Deserialize)]
pub(super) struct GraphArgument<'a> {
    #[serde(borrow)]
    pub name: Text<'a>,
    #[serde(borrow)]
    pub graph: Graph<'a>,
}

#[derive(Deserialize)]
pub(super) enum SymIntArgument<'a> {
    #[serde(rename = "as_name", borrow)]
    Name(Text<'a>),
    #[serde(rename = "as_int")]
    Int(i64),
}

#[derive(Deserialize)]
pub(super) enum SymFloatArgument<'a> {
    #[serde(rename = "as_name", borrow)]
    Name(Text<'a>),
    #[serde(rename = "as_float")]
    Float(Float),
}

#[derive(Deserialize)]
pub(super) enum SymBoolArgument<'a> {
    #[serde(rename = "as_name", borrow)]
    Name(Text<'a>),
    #[serde(rename = "as_bool")]
    Bool(bool),
}

#[derive(Deserialize)]
pub(super) enum OptionalTensor<'a> {
    #[serde(rename = "as_tensor", borrow)]
    Tensor(Named<'a>),
    #[serde(rename = "as_none")]
    None(IgnoredAny),
}

#[derive(Deserialize)]
pub(super) struct Complex {
    pub real: Float,
    pub imag: Float,
}

impl<'de: 'a, 'a> Deserialize<'de> for Argument<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ArgumentVisitor)
    }
}

struct ArgumentVisitor;

impl<'de> Visitor<'de> for ArgumentVisitor {
    type Value = Argument<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with one member such as \"as_tensor\"")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Argument<'de>, M::Error> {
        let Some(kind) = map.next_key::<Text<'de>>()? else {
            return Err(M::Error::custom("an argument without a member; expected one such as \"as_tensor\""));
        };
        let argument = match &*kind {
            "as_none" => map.next_value::<IgnoredAny>().map(|_| Argument::None)?,
            "as_tensor" => Argument::Tensor(map.next_value()?),
            "as_tensors" => Argument::Tensors(map.next_value()?),
            "as_int" => Argument::Int(map.next_value()?),
            "as_ints" => Argument::Ints(map.next_value()?),
            "as_float" => Argument::Float(map.next_value()?),
            "as_floats" => Argument::Floats(map.next_value()?),
            "as_string" => Argument::String(map.next_value()?),
            "as_strings" => Argument::Strings(map.next_value()?),
            "as_sym_int" => Argument::SymInt(map.next_value()?),
            "as_sym_ints" => Argument::SymInts(map.next_value()?),
            "as_scalar_type" => Argument::ScalarType(map.next_value()?),
            "as_memory_format" => Argument::MemoryFormat(map.next_value()?),
            "as_layout" => Argument::Layout(map.next_value()?),
            "as_device" => Argument::Device(map.next_value()?),
            "as_bool" => Argument::Bool(map.next_value()?),
            "as_bools" => Argument::Bools(map.next_value()?),
            "as_sym_bool" => Argument::SymBool(map.next_value()?),
            "as_sym_bools" => Argument::SymBools(map.next_value()?),
            "as_graph" => Argument::Graph(map.next_value()?),
            "as_optional_tensors" => Argument::OptionalTensors(map.next_value()?),
            "as_optional_tensor" => Argument::OptionalTensor(map.next_value()?),
            "as_custom_obj" => Argument::CustomObject(map.next_value()?),
            "as_operator" => Argument::Operator(map.next_value()?),
            "as_sym_float" => Argument::SymFloat(map.next_value()?),
            "as_sym_floats" => Argument::SymFloats(map.next_value()?),
            "as_complex" => Argument::Complex(map.next_value()?),
            "as_nested_tensors" => Argument::NestedTensors(map.next_value()?),
            "as_int_lists" => Argument::IntLists(map.next_value()?),
            "as_float_lists" => Argument::FloatLists(map.next_value()?),
            "as_string_to_argument" => Argument::Dict(map.next_value()?),
            _ => {
                map.next_value::<IgnoredAny>()?;
                Argument::Unknown(kind.clone())
            }
        };
        end_of_union(&mut map, "an argument")?;
        Ok(argument)
    }
}
