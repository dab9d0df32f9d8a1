//! The long lists of a trace in memory: a few long allocations instead of several short ones per record.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::marker::PhantomData;

use modelexport_graph::Name;
use serde::de::{DeserializeOwned, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Input, Op, Origin, Tensor};

/// The tensors of a pass, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tensors {
    /// Shapes with element types, each once.
    kinds: Vec<(Vec<u64>, Name)>,
    records: Vec<TensorRecord>,
}

#[derive(Clone, Debug, PartialEq)]
struct TensorRecord {
    kind: u32,
    storage: u32,
    origin: Origin,
}

/// One of [`Tensors`]; its fields are those of [`Tensor`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TensorView<'a> {
    pub shape: &'a [u64],
    pub dtype: &'a Name,
    pub storage: u32,
    pub origin: &'a Origin,
}

impl Tensors {
    pub fn len(&self) -> usize {
        self.records.len()
    }

    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    pub fn get(&self, tensor: u32) -> Option<TensorView<'_>> {
        let TensorRecord { kind, storage, origin } = self.records.get(tensor as usize)?;
        let (shape, dtype) = self.kinds.get(*kind as usize)?;
        Some(TensorView { shape, dtype, storage: *storage, origin })
    }

    pub fn iter(&self) -> impl Iterator<Item = TensorView<'_>> + '_ {
        (0..self.records.len() as u32).filter_map(|tensor| self.get(tensor))
    }
}

/// The operators that ran, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ops {
    records: Vec<OpRecord>,
    inputs: Vec<Input>,
    outputs: Vec<Option<u32>>,
    mutates: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq)]
struct OpRecord {
    target: Name,
    call: u32,
    /// Where its inputs, outputs and mutated tensors end; they begin where those of the operator before end.
    ends: [u32; 3],
    arguments: BTreeMap<String, serde_json::Value>,
}

/// One of [`Ops`]; its fields are those of [`Op`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpView<'a> {
    pub target: &'a Name,
    pub call: u32,
    pub inputs: &'a [Input],
    pub arguments: &'a BTreeMap<String, serde_json::Value>,
    pub outputs: &'a [Option<u32>],
    pub mutates: &'a [u32],
}

impl Ops {
    pub fn len(&self) -> usize {
        self.records.len()
    }

    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    pub fn get(&self, op: u32) -> Option<OpView<'_>> {
        let record = self.records.get(op as usize)?;
        let before = (op as usize).checked_sub(1).and_then(|before| self.records.get(before));
        let starts = before.map_or([0; 3], |before| before.ends);
        let [inputs, outputs, mutates] =
            [0, 1, 2].map(|i: usize| starts.get(i).zip(record.ends.get(i)).map_or(0..0, as_range));
        Some(OpView {
            target: &record.target,
            call: record.call,
            inputs: self.inputs.get(inputs).unwrap_or_default(),
            arguments: &record.arguments,
            outputs: self.outputs.get(outputs).unwrap_or_default(),
            mutates: self.mutates.get(mutates).unwrap_or_default(),
        })
    }

    pub fn iter(&self) -> impl Iterator<Item = OpView<'_>> + '_ {
        (0..self.records.len() as u32).filter_map(|op| self.get(op))
    }
}

fn as_range((start, end): (&u32, &u32)) -> std::ops::Range<usize> {
    *start as usize..*end as usize
}

impl TensorView<'_> {
    fn to_record(self) -> Tensor {
        let (shape, dtype) = (self.shape.to_vec(), self.dtype.clone());
        Tensor { shape, dtype, storage: self.storage, origin: self.origin.clone() }
    }
}

impl OpView<'_> {
    fn to_record(self) -> Op {
        Op {
            target: self.target.clone(),
            call: self.call,
            inputs: self.inputs.to_vec(),
            arguments: self.arguments.clone(),
            outputs: self.outputs.to_vec(),
            mutates: self.mutates.to_vec(),
        }
    }
}

impl Serialize for Tensors {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(TensorView::to_record))
    }
}

impl Serialize for Ops {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(OpView::to_record))
    }
}

impl<'de> Deserialize<'de> for Tensors {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut tensors = Tensors::default();
        let mut numbers: HashMap<(Vec<u64>, Name), u32> = HashMap::new();
        each_of(deserializer, |Tensor { shape, dtype, storage, origin }: Tensor| {
            let kind = (shape, dtype);
            let kind = numbers.get(&kind).copied().unwrap_or_else(|| {
                let number = tensors.kinds.len() as u32;
                tensors.kinds.push(kind.clone());
                numbers.insert(kind, number);
                number
            });
            tensors.records.push(TensorRecord { kind, storage, origin });
        })?;
        tensors.records.shrink_to_fit();
        Ok(tensors)
    }
}

impl<'de> Deserialize<'de> for Ops {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut ops = Ops::default();
        each_of(deserializer, |op: Op| {
            let Op { target, call, inputs, arguments, outputs, mutates } = op;
            ops.inputs.extend(inputs);
            ops.outputs.extend(outputs);
            ops.mutates.extend(mutates);
            let ends = [ops.inputs.len(), ops.outputs.len(), ops.mutates.len()].map(|end| end as u32);
            ops.records.push(OpRecord { target, call, ends, arguments });
        })?;
        Ok(ops)
    }
}

/// Hands the items of a list over, one after the other.
fn each_of<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
    take: impl FnMut(T),
) -> Result<(), D::Error> {
    deserializer.deserialize_seq(Items { take, item: PhantomData })
}

struct Items<T, F> {
    take: F,
    item: PhantomData<T>,
}

impl<'de, T: DeserializeOwned, F: FnMut(T)> Visitor<'de> for Items<T, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element()? {
            (self.take)(item);
        }
        Ok(())
    }
}
