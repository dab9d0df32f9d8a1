//! A small valid archive that tests break in one place.

use modelexport_graph::SourceId;
use modelexport_graph::aten::Program;
use serde_json::{Value, json};

use super::super::error::Problem;
use super::super::read_program;
use super::zip::{ZipEntry, stored, zip};

/// `relu(l(x))`, where `l` is a linear layer of two inputs and three outputs. Keys come out sorted: `l.bias` is the
/// first weight, `l.weight` the second.
pub struct Sample {
    pub program: Value,
    pub weights: Value,
    pub constants: Value,
    /// Content of `data/weights/weight_0` and `weight_1`.
    pub storages: Vec<Vec<u8>>,
    pub byte_order: &'static str,
    pub archive_version: &'static str,
}

pub fn int(value: i64) -> Value {
    json!({"as_int": value})
}

pub fn tensor_meta(sizes: &[i64], strides: &[i64]) -> Value {
    let list = |values: &[i64]| values.iter().map(|&value| int(value)).collect::<Value>();
    json!({
        "dtype": 7, "sizes": list(sizes), "requires_grad": false, "device": {"type": "cpu", "index": null},
        "strides": list(strides), "storage_offset": int(0), "layout": 7
    })
}

pub fn tensor(name: &str) -> Value {
    json!({"as_tensor": {"name": name}})
}

pub fn argument(name: &str, value: Value) -> Value {
    json!({"name": name, "arg": value, "kind": 1})
}

pub fn node(name: &str, target: &str, inputs: Vec<Value>, outputs: Vec<Value>) -> Value {
    json!({
        "target": target, "inputs": inputs, "outputs": outputs, "name": name,
        "metadata": {"stack_trace": "File \"a.py\", line 1", "nn_module_stack": "L__self__,,app.Model"},
        "is_hop_single_tensor_return": null
    })
}

fn leaf() -> Value {
    json!({"type": null, "context": null, "children_spec": []})
}

impl Default for Sample {
    fn default() -> Self {
        let linear_inputs = [("input", "x"), ("weight", "p_l_weight"), ("bias", "p_l_bias")]
            .map(|(n, v)| argument(n, tensor(v)));
        let mut linear =
            node("linear", "torch.ops.aten.linear.default", linear_inputs.into(), vec![tensor("linear")]);
        linear["metadata"]["nn_module_stack"] = json!("L__self__,,app.Model;L__self__l,l,torch.nn.Linear");
        let relu_inputs = vec![argument("self", tensor("linear"))];
        let relu = node("relu", "torch.ops.aten.relu.default", relu_inputs, vec![tensor("relu")]);
        let kwargs = json!({"type": "builtins.dict", "context": "[]", "children_spec": []});
        let args = json!({"type": "builtins.tuple", "context": "null", "children_spec": [leaf()]});
        let in_spec =
            json!([1, {"type": "builtins.tuple", "context": "null", "children_spec": [args, kwargs]}]);
        Sample {
            program: json!({
                "graph_module": {
                    "graph": {
                        "inputs": [tensor("p_l_weight"), tensor("p_l_bias"), tensor("x")],
                        "outputs": [tensor("relu")],
                        "nodes": [linear, relu],
                        "tensor_values": {
                            "p_l_weight": tensor_meta(&[3, 2], &[2, 1]),
                            "p_l_bias": tensor_meta(&[3], &[1]),
                            "x": tensor_meta(&[4, 2], &[2, 1]),
                            "linear": tensor_meta(&[4, 3], &[3, 1]),
                            "relu": tensor_meta(&[4, 3], &[3, 1])
                        },
                        "sym_int_values": {}, "sym_bool_values": {}, "sym_float_values": {},
                        "custom_obj_values": {}, "is_single_tensor_return": false
                    },
                    "signature": {
                        "input_specs": [
                            {"parameter": {"arg": {"name": "p_l_weight"}, "parameter_name": "l.weight"}},
                            {"parameter": {"arg": {"name": "p_l_bias"}, "parameter_name": "l.bias"}},
                            {"user_input": {"arg": tensor("x")}}
                        ],
                        "output_specs": [{"user_output": {"arg": tensor("relu")}}]
                    },
                    "module_call_graph": [
                        {"fqn": "", "signature": {
                            "inputs": [], "outputs": [], "in_spec": in_spec.to_string(),
                            "out_spec": json!([1, leaf()]).to_string(), "forward_arg_names": ["x"]
                        }},
                        {"fqn": "l", "signature": null}
                    ],
                    "metadata": {}, "treespec_namedtuple_fields": {}
                },
                "opset_version": {"aten": 10},
                "range_constraints": {},
                "schema_version": {"major": 8, "minor": 20},
                "verifiers": ["TRAINING"],
                "torch_version": "2.15.0",
                "guards_code": []
            }),
            weights: json!({"config": {
                "l.weight": {"path_name": "weight_0", "is_param": true, "use_pickle": false,
                             "tensor_meta": tensor_meta(&[3, 2], &[2, 1])},
                "l.bias": {"path_name": "weight_1", "is_param": true, "use_pickle": false,
                           "tensor_meta": tensor_meta(&[3], &[1])}
            }}),
            constants: json!({"config": {}}),
            storages: vec![vec![1; 24], vec![2; 12]],
            byte_order: "little",
            archive_version: "0",
        }
    }
}

impl Sample {
    /// A graph is at this place of the program.
    pub fn graph(&mut self) -> &mut Value {
        &mut self.program["graph_module"]["graph"]
    }

    pub fn entries(&self) -> Vec<ZipEntry> {
        let mut entries = Vec::new();
        for (index, storage) in self.storages.iter().enumerate() {
            entries.push(stored(&format!("m/data/weights/weight_{index}"), storage.clone()));
        }
        entries.extend([
            stored("m/data/weights/model_weights_config.json", self.weights.to_string()),
            stored("m/data/constants/model_constants_config.json", self.constants.to_string()),
            stored("m/models/model.json", self.program.to_string()),
            stored("m/data/sample_inputs/model.pt", "a pickle"),
            stored("m/archive_version", self.archive_version),
            stored("m/byteorder", self.byte_order),
        ]);
        entries
    }

    pub fn read(&self) -> Result<Program, Problem> {
        read_bytes(&zip(&self.entries()))
    }

    /// The problem that the archive has after `spoil`.
    pub fn problem(spoil: impl FnOnce(&mut Sample)) -> Problem {
        let mut sample = Sample::default();
        spoil(&mut sample);
        sample.read().expect_err("the archive is bad")
    }
}

pub fn read_bytes(bytes: &[u8]) -> Result<Program, Problem> {
    read_program(bytes, bytes.len() as u64, SourceId(0))
}

/// A sample whose second node has one more argument of this kind.
pub fn with_argument(value: Value) -> Sample {
    let mut sample = Sample::default();
    sample.graph()["nodes"][1]["inputs"].as_array_mut().unwrap().push(argument("extra", value));
    sample
}

/// A subgraph with one input, `a`, which it returns.
pub fn branch(inner: Vec<Value>) -> Value {
    json!({"as_graph": {"name": "true_graph_0", "graph": {
        "inputs": [tensor("a")], "outputs": [tensor("a")], "nodes": inner,
        "tensor_values": {"a": tensor_meta(&[1], &[1])},
        "sym_int_values": {}, "sym_bool_values": {}, "is_single_tensor_return": true
    }}})
}
