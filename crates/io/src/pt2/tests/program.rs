//! Reading the JSON of a program.

use modelexport_graph::aten::{Arg, InputSpec, OutputSpec, Range, SymOr, ValueKind};
use modelexport_graph::{DType, Dim, Scopes, SymExpr};
use serde_json::json;

use super::super::error::Problem;
use super::sample::{Sample, argument, branch, node, tensor, tensor_meta, with_argument};

#[test]
fn a_program_as_torch_writes_it() {
    let program = Sample::default().read().unwrap();
    assert_eq!((program.schema_version, &*program.torch_version), ((8, 20), "2.15.0"));
    let graph = &program.graph;
    let names: Vec<&str> = graph.values.iter().map(|value| &*value.name).collect();
    assert_eq!(names, ["p_l_weight", "p_l_bias", "x", "linear", "relu"], "in the order of their definition");
    let linear = &graph.nodes[0];
    assert_eq!((&*linear.name, &*linear.target), ("linear", "aten.linear.default"));
    assert!(matches!(linear.arg("weight"), Some(Arg::Tensor(id)) if id.0 == 0));
    assert!(matches!(linear.outputs[..], [Arg::Tensor(id)] if id.0 == 3));
    let meta = graph.tensor(modelexport_graph::aten::ValueId(3)).unwrap();
    assert_eq!((meta.dtype, &meta.sizes[..]), (DType::F32, &[Dim::Static(4), Dim::Static(3)][..]));
    assert!(matches!(graph.outputs[..], [Arg::Tensor(id)] if id.0 == 4));
    assert!(matches!(&program.signature.inputs[..],
        [InputSpec::Parameter { weight: 1 }, InputSpec::Parameter { weight: 0 }, InputSpec::User { name }]
        if &**name == "x"));
    assert!(matches!(program.signature.outputs[..], [OutputSpec::User { name: None }]));
    assert_eq!(program.traces.len(), 1, "one text for both nodes");
    assert_eq!(&*program.traces[0], "File \"a.py\", line 1");
    let scope = program.graph.nodes[0].scope.unwrap();
    assert_eq!(&*program.modules.get(program.scopes.module(scope)).unwrap().class, "torch.nn.Linear");
    assert_eq!(program.graph.nodes[1].scope, Some(Scopes::ROOT));
}

#[test]
fn every_kind_of_argument() {
    for (value, expected) in [
        (json!({"as_none": true}), "None"),
        (json!({"as_tensors": [{"name": "x"}, {"name": "linear"}]}), "Tensors([ValueId(2), ValueId(3)])"),
        (json!({"as_optional_tensor": {"as_tensor": {"name": "x"}}}), "Tensor(ValueId(2))"),
        (json!({"as_optional_tensor": {"as_none": true}}), "None"),
        (
            json!({"as_optional_tensors": [{"as_none": true}, {"as_tensor": {"name": "x"}}]}),
            "OptionalTensors([None, Some(ValueId(2))])",
        ),
        (json!({"as_nested_tensors": [[{"name": "x"}], []]}), "NestedTensors([[ValueId(2)], []])"),
        (json!({"as_int": -5}), "Int(-5)"),
        (json!({"as_ints": [1, 2]}), "Ints([1, 2])"),
        (json!({"as_int_lists": [[1], []]}), "IntLists([[1], []])"),
        (json!({"as_float": 0.5}), "Float(0.5)"),
        (json!({"as_float": "-Infinity"}), "Float(-inf)"),
        (json!({"as_floats": [1, "NaN"]}), "Floats([1.0, NaN])"),
        (json!({"as_float_lists": [["Infinity"]]}), "FloatLists([[inf]])"),
        (json!({"as_bool": true}), "Bool(true)"),
        (json!({"as_bools": [true, false]}), "Bools([true, false])"),
        (json!({"as_complex": {"real": 1, "imag": -2.0}}), "Complex { real: 1.0, imag: -2.0 }"),
        (json!({"as_string": "a\"b"}), "Str(\"a\\\"b\")"),
        (json!({"as_strings": ["a", "b"]}), "Strs([\"a\", \"b\"])"),
        (json!({"as_scalar_type": 6}), "DType(F16)"),
        (json!({"as_memory_format": 2}), "MemoryFormat(ChannelsLast)"),
        (json!({"as_layout": 7}), "Layout(Strided)"),
        (
            json!({"as_device": {"type": "cuda", "index": 1}}),
            "Device(Device { kind: \"cuda\", index: Some(1) })",
        ),
        (json!({"as_operator": "torch.ops.aten.add.Tensor"}), "Operator(\"aten.add.Tensor\")"),
        (json!({"as_sym_int": {"as_int": 3}}), "Int(3)"),
        (json!({"as_sym_ints": [{"as_int": 3}]}), "Ints([3])"),
        (json!({"as_sym_float": {"as_float": 3}}), "Float(3.0)"),
        (json!({"as_sym_floats": [{"as_float": 3}]}), "Floats([3.0])"),
        (json!({"as_sym_bool": {"as_bool": true}}), "Bool(true)"),
        (json!({"as_sym_bools": [{"as_bool": true}]}), "Bools([true])"),
        (json!({"as_custom_obj": {"name": "o", "class_fqn": "a.B"}}), "CustomObject(ValueId(4))"),
        (json!({"as_string_to_argument": {"k": {"as_int": 1}}}), "Dict([(\"k\", Int(1))])"),
    ] {
        let program =
            with_argument(value.clone()).read().unwrap_or_else(|problem| panic!("{value}: {problem}"));
        assert_eq!(format!("{:?}", program.graph.nodes[1].arg("extra").unwrap()), expected, "{value}");
    }
}

#[test]
fn symbolic_numbers() {
    let mut sample = Sample::default();
    let graph = sample.graph();
    let expression =
        json!({"as_expr": {"expr_str": "Mul(Integer(2), Symbol('s0', integer=True))", "hint": null}});
    graph["sym_int_values"] = json!({"n": expression, "three": {"as_int": 3}});
    graph["sym_float_values"] = json!({"f": {"as_expr": {"expr_str": "Symbol('zuf0')"}}});
    graph["sym_bool_values"] = json!({"b": {"as_expr": {"expr_str": "Eq(s0, 1)"}}});
    graph["tensor_values"]["x"]["sizes"][0] = expression;
    let result = |kind: &str, name: &str| json!({kind: {"as_name": name}});
    let makers = [("as_sym_int", "n"), ("as_sym_int", "three"), ("as_sym_float", "f"), ("as_sym_bool", "b")];
    let nodes = graph["nodes"].as_array_mut().unwrap();
    for (kind, name) in makers {
        nodes.insert(0, node(name, "_operator.mul", vec![], vec![result(kind, name)]));
    }
    let arguments = [
        result("as_sym_int", "n"),
        result("as_sym_int", "three"),
        json!({"as_sym_ints": [{"as_name": "n"}, {"as_int": 7}, {"as_name": "three"}]}),
        json!({"as_sym_floats": [{"as_name": "f"}, {"as_float": 7}]}),
        result("as_sym_bool", "b"),
    ];
    let inputs = arguments.into_iter().map(|value| argument("", value)).collect();
    nodes.push(node("last", "torch.sym_max", inputs, vec![]));
    sample.program["range_constraints"] = json!({
        "s0": {"min_val": 2, "max_val": 64}, "u0": {"min_val": null, "max_val": "Infinity"},
        "u1": {"min_val": 0, "max_val": u64::MAX}
    });
    let program = sample.read().unwrap();
    let twice = "2*s0";
    assert!(matches!(&program.graph.value(modelexport_graph::aten::ValueId(6)).unwrap().kind,
        ValueKind::SymInt(expression) if expression.to_string() == twice));
    let x = program.graph.values.iter().find(|value| &*value.name == "x").unwrap();
    assert!(matches!(&x.kind, ValueKind::Tensor(meta) if meta.sizes[0].to_string() == twice));
    let last = program.graph.nodes.last().unwrap();
    assert_eq!(&*last.target, "torch.sym_max");
    let name_of = |id: &modelexport_graph::aten::ValueId| program.graph.value(*id).unwrap().name.to_string();
    assert!(matches!(&last.args[0].arg, Arg::SymInt(id) if name_of(id) == "n"));
    assert!(matches!(last.args[1].arg, Arg::Int(3)), "a constant is a plain number");
    assert!(matches!(&last.args[2].arg, Arg::SymInts(list)
        if matches!(&list[..], [SymOr::Value(id), SymOr::Const(7), SymOr::Const(3)] if name_of(id) == "n")));
    assert!(matches!(&last.args[3].arg, Arg::SymFloats(list) if list.len() == 2));
    assert!(matches!(&last.args[4].arg, Arg::SymBool(id) if name_of(id) == "b"));
    let open = Range { min: None, max: None };
    let expected = [
        ("s0", Range { min: Some(2), max: Some(64) }),
        ("u0", open),
        ("u1", Range { min: Some(0), max: None }),
    ];
    assert_eq!(program.ranges.iter().map(|(name, range)| (&**name, *range)).collect::<Vec<_>>(), expected);
}

#[test]
fn a_constant_expression_is_a_plain_size() {
    let mut sample = Sample::default();
    sample.graph()["tensor_values"]["x"]["sizes"][0] = json!({"as_expr": {"expr_str": "Integer(4)"}});
    let program = sample.read().unwrap();
    assert!(program.graph.tensor(modelexport_graph::aten::ValueId(2)).unwrap().sizes[0].is(4));
    sample.graph()["tensor_values"]["x"]["sizes"][0] = json!({"as_expr": {"expr_str": "s0"}});
    let program = sample.read().unwrap();
    let meta = program.graph.tensor(modelexport_graph::aten::ValueId(2)).unwrap();
    assert_eq!(meta.sizes[0], Dim::Symbolic(SymExpr::Symbol("s0".into())));
}

#[test]
fn a_subgraph_has_values_of_its_own() {
    let mut inner = node("relu", "torch.ops.aten.relu.default", vec![argument("self", tensor("a"))], vec![]);
    inner["metadata"] = json!({});
    let program = with_argument(branch(vec![inner])).read().unwrap();
    let Some(Arg::Graph(subgraph)) = program.graph.nodes[1].arg("extra") else { panic!("not a graph") };
    assert_eq!((&*subgraph.name, subgraph.graph.values.len()), ("true_graph_0", 1));
    assert!(subgraph.graph.is_single_tensor_return);
    assert_eq!(subgraph.graph.nodes[0].scope, None, "that of the node that holds it");

    let leak = node("relu", "torch.ops.aten.relu.default", vec![argument("self", tensor("x"))], vec![]);
    let problem = with_argument(branch(vec![leak])).read().unwrap_err();
    assert!(matches!(&problem, Problem::DanglingValue { name, .. } if name == "x"), "{problem}");
}

#[test]
fn names_are_found_again_where_an_older_torch_left_them_out() {
    let mut sample = Sample::default();
    sample.program["schema_version"]["minor"] = json!(14);
    let graph = sample.graph();
    for name in ["values", "topk_2_unused_1", "getitem", "getitem_1", "branch"] {
        graph["tensor_values"][name] = tensor_meta(&[1], &[1]);
    }
    let nodes = graph["nodes"].as_array_mut().unwrap();
    let topk = "torch.ops.aten.topk.default";
    nodes.push(node("", topk, vec![], vec![tensor("values"), tensor("topk_2_unused_1")]));
    nodes.push(node("", topk, vec![], vec![tensor("getitem"), tensor("getitem_1")]));
    let mut cond = node("", "torch.ops.higher_order.cond", vec![], vec![tensor("branch")]);
    cond["is_hop_single_tensor_return"] = json!(false);
    nodes.push(cond);
    nodes.push(node("", "torch.ops.aten.linear.default", vec![], vec![]));
    for node in nodes {
        node.as_object_mut().unwrap().remove("name");
    }
    let program = sample.read().unwrap();
    let names: Vec<&str> = program.graph.nodes.iter().map(|node| &*node.name).collect();
    assert_eq!(names, ["linear", "relu", "topk_2", "topk", "cond", "linear_1"]);
}

#[test]
fn inputs_that_are_no_tensors() {
    let mut sample = Sample::default();
    let module = &mut sample.program["graph_module"];
    module["graph"]["inputs"].as_array_mut().unwrap().extend([
        json!({"as_none": true}),
        json!({"as_custom_obj": {"name": "obj", "class_fqn": "a.B"}}),
        tensor("token"),
    ]);
    module["graph"]["tensor_values"]["token"] = tensor_meta(&[0], &[1]);
    module["signature"]["input_specs"].as_array_mut().unwrap().extend([
        json!({"constant_input": {"name": "flag", "value": {"as_none": true}}}),
        json!({"custom_obj": {"arg": {"name": "obj", "class_fqn": "a.B"}, "custom_obj_name": "thing"}}),
        json!({"token": {"arg": {"name": "token"}}}),
    ]);
    let program = sample.read().unwrap();
    assert!(matches!(&program.signature.inputs[3..],
        [InputSpec::Constant { name }, InputSpec::CustomObject { name: object }, InputSpec::Token]
        if &**name == "flag" && &**object == "thing"));
    assert!(matches!(program.graph.inputs[3], Arg::None));
}

#[test]
fn mutations_in_the_signature() {
    let mut sample = Sample::default();
    let module = &mut sample.program["graph_module"];
    let specs = [
        (
            json!({"buffer_mutation": {"arg": {"name": "x"}, "buffer_name": "l.bias"}}),
            "BufferMutation { weight: 0 }",
        ),
        (
            json!({"parameter_mutation": {"arg": {"name": "x"}, "parameter_name": "l.weight"}}),
            "ParameterMutation { weight: 1 }",
        ),
        (
            json!({"user_input_mutation": {"arg": {"name": "x"}, "user_input_name": "x"}}),
            "UserInputMutation { name: \"x\" }",
        ),
        (
            json!({"gradient_to_parameter": {"arg": {"name": "x"}, "parameter_name": "l.weight"}}),
            "GradientToParameter { weight: 1 }",
        ),
        (
            json!({"gradient_to_user_input": {"arg": {"name": "x"}, "user_input_name": "x"}}),
            "GradientToUserInput { name: \"x\" }",
        ),
        (json!({"loss_output": {"arg": {"name": "x"}}}), "Loss"),
        (json!({"token": {"arg": {"name": "x"}}}), "Token"),
    ];
    for (spec, _) in &specs {
        module["graph"]["outputs"].as_array_mut().unwrap().push(tensor("x"));
        module["signature"]["output_specs"].as_array_mut().unwrap().push(spec.clone());
    }
    let program = sample.read().unwrap();
    let shown: Vec<String> = program.signature.outputs[1..].iter().map(|spec| format!("{spec:?}")).collect();
    assert_eq!(shown, specs.map(|(_, expected)| expected));
}

#[test]
fn fields_of_a_later_minor_version_are_ignored() {
    let mut sample = Sample::default();
    sample.program["graph_module"]["new_table"] = json!({"a": [1]});
    sample.graph()["nodes"][0]["new_field"] = json!(1);
    sample.graph()["tensor_values"]["x"]["new_field"] = json!({});
    sample.read().unwrap();
}
