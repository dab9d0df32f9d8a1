//! A trace of a forward pass as a reference: its operators are the steps.
//!
//! A forward pass mutates memory. If an operator wrote to the memory of a tensor after the tensor was created, a later read of
//! the tensor counts as a read of the operator's result, as in a graph without mutation.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use modelexport_graph::{DType, Name, ScopeId, Scopes};
use modelexport_io::trace::{OpView, Origin, TensorView, Trace};

use super::super::facts::Fact;
use super::reference::{Reference, Source, Step};

/// The steps of `trace`. `calls` gives the scope of each of its calls, `class` the class of a parameter by its name.
pub(crate) fn from_trace(
    trace: &Trace,
    calls: &[ScopeId],
    class: &dyn Fn(&Name) -> Option<u32>,
) -> Reference {
    let mut sources = Tensors::new(trace, class);
    let mut reference = Reference::default();
    let mut read: Vec<(Source, u32)> = Vec::new();
    for (op, number) in trace.ops.iter().zip(0..) {
        read.clear();
        read.extend(op.inputs.iter().filter_map(|input| sources.read(input.tensor)));
        let made = op.outputs.iter().flatten();
        let step = Step {
            target: reference.target_id(op.target),
            call: calls.get(op.call as usize).copied().unwrap_or(Scopes::ROOT),
            name: None,
            arguments: hash_arguments(&op),
        };
        reference.push(step, &read, made.filter_map(|tensor| fact(trace.tensors.get(*tensor)?)));
        sources.note(number, &op);
    }
    reference.inputs = trace.inputs.iter().map(|input| input.name.clone()).collect();
    reference.outputs = trace.outputs.iter().map(|output| Some(sources.read(output.tensor)?.0)).collect();
    reference
}

/// Where the tensors of a trace come from, as far as it was read.
struct Tensors<'t> {
    trace: &'t Trace,
    /// By tensor: where it was made, and which result it is.
    made: Vec<Option<(Source, u32)>>,
    /// By memory: the operator that wrote to it last.
    written: HashMap<u32, u32>,
}

impl<'t> Tensors<'t> {
    fn new(trace: &'t Trace, class: &dyn Fn(&Name) -> Option<u32>) -> Self {
        let inputs: HashMap<&Name, u32> =
            trace.inputs.iter().zip(0..).map(|(input, place)| (&input.name, place)).collect();
        let origin = |tensor: TensorView<'_>| match tensor.origin {
            Origin::Op(_) | Origin::Constant { .. } => None,
            Origin::Parameter(name) => class(name).map(Source::Weight),
            Origin::Input(name) => inputs.get(name).copied().map(Source::Input),
        };
        let made = trace.tensors.iter().map(|tensor| Some((origin(tensor)?, 0))).collect();
        Tensors { trace, made, written: HashMap::new() }
    }

    fn read(&self, tensor: u32) -> Option<(Source, u32)> {
        let made = self.made.get(tensor as usize).copied().flatten();
        let storage = self.trace.tensors.get(tensor)?.storage;
        match (self.written.get(&storage), made) {
            (Some(&writer), Some((Source::Step(maker), _))) if writer <= maker => made,
            (Some(&writer), _) => Some((Source::Step(writer), 0)),
            (None, made) => made,
        }
    }

    /// Notes what an operator made and wrote to.
    fn note(&mut self, number: u32, op: &OpView<'_>) {
        for (port, tensor) in op.outputs.iter().enumerate() {
            let Some(tensor) = tensor else { continue };
            let is_new =
                self.trace.tensors.get(*tensor).map(|tensor| tensor.origin) == Some(&Origin::Op(number));
            if let Some(slot) = self.made.get_mut(*tensor as usize).filter(|_| is_new) {
                *slot = Some((Source::Step(number), port as u32));
            }
        }
        for tensor in op.mutates {
            if let Some(tensor) = self.trace.tensors.get(*tensor) {
                self.written.insert(tensor.storage, number);
            }
        }
    }
}

fn fact(tensor: TensorView<'_>) -> Option<Fact> {
    let dtype = DType::from_name(tensor.dtype)?;
    let mut sizes: Vec<Option<i64>> = tensor.shape.iter().map(|size| i64::try_from(*size).ok()).collect();
    if dtype.is_complex() {
        sizes.push(Some(2));
    }
    Some(Fact { dtype: dtype.real(), sizes })
}

fn hash_arguments(op: &OpView<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (name, value) in op.arguments {
        (name, value.to_string()).hash(&mut hasher);
    }
    op.inputs.iter().for_each(|input| input.argument.hash(&mut hasher));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use modelexport_io::trace;

    use super::*;

    /// `y = fc(x); y.relu_(); return y[0] + y` with `y` read under the name that it had before it was written to.
    const TRACE: &str = r#"{
        "schema_version": "1.0", "generator": {"name": "t", "version": "1"}, "torch_version": "2.15.0",
        "modules": [
            {"path": "", "class": "m.Net", "executed": true, "order": 0, "calls": 1, "parameters": []},
            {"path": "fc", "class": "m.Linear", "executed": true, "order": 1, "calls": 1, "parameters": [
                {"name": "fc.weight", "kind": "parameter", "shape": [3, 2], "dtype": "float32"}]}
        ],
        "tensors": [
            {"shape": [1, 2], "dtype": "float32", "storage": 0, "origin": {"input": "x"}},
            {"shape": [3, 2], "dtype": "float32", "storage": 1, "origin": {"parameter": "fc.weight"}},
            {"shape": [1, 3], "dtype": "float32", "storage": 2, "origin": {"op": 0}},
            {"shape": [1, 3], "dtype": "float32", "storage": 2, "origin": {"op": 1}},
            {"shape": [3], "dtype": "float32", "storage": 2, "origin": {"op": 2}},
            {"shape": [1, 3], "dtype": "float32", "storage": 3, "origin": {"op": 3}}
        ],
        "calls": [{"module": 0, "number": 0, "parent": null}, {"module": 1, "number": 0, "parent": 0}],
        "ops": [
            {"target": "aten.linear.default", "call": 1,
             "inputs": [{"argument": "input", "tensor": 0}, {"argument": "weight", "tensor": 1}], "outputs": [2]},
            {"target": "aten.relu_.default", "call": 0, "inputs": [{"argument": "self", "tensor": 2}],
             "outputs": [3], "mutates": [2]},
            {"target": "aten.select.int", "call": 0, "inputs": [{"argument": "self", "tensor": 2}],
             "arguments": {"dim": 0, "index": 0}, "outputs": [4]},
            {"target": "aten.add.Tensor", "call": 0,
             "inputs": [{"argument": "self", "tensor": 4}, {"argument": "other", "tensor": 3}], "outputs": [5]}
        ],
        "inputs": [{"name": "x", "tensor": 0}], "outputs": [{"name": "output", "tensor": 5}]
    }"#;

    #[test]
    fn what_was_written_to_is_read_from_its_writer() {
        let trace = trace::parse(TRACE.as_bytes(), Path::new("t.json")).unwrap();
        let class = |name: &Name| (&**name == "fc.weight").then_some(7);
        let reference = from_trace(&trace, &[Scopes::ROOT, ScopeId(4)], &class);
        let sources: Vec<&[Source]> = (0..4).map(|step| reference.sources(step)).collect();
        assert_eq!(sources[0], [Source::Input(0), Source::Weight(7)]);
        assert_eq!(sources[1], [Source::Step(0)]);
        assert_eq!(sources[2], [Source::Step(1)], "the old name shows what was written");
        assert_eq!(sources[3], [Source::Step(2), Source::Step(1)]);
        assert_eq!(reference.outputs, [Some(Source::Step(3))]);
        assert_eq!(reference.steps()[0].call, ScopeId(4));
        let results: Vec<&Fact> =
            reference.results(2).iter().map(|id| reference.fact(*id).unwrap()).collect();
        assert_eq!(results, [&Fact { dtype: DType::F32, sizes: vec![Some(3)] }]);
        assert_eq!(&*reference.inputs[0], "x");
    }
}
