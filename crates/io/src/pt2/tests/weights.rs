//! Weights: their position, and what is rejected.

use modelexport_graph::aten::{Program, Weight, WeightKind};
use modelexport_graph::{DType, SourceId, Span, StridedView};
use serde_json::json;

use super::super::error::{Problem, ProgramLocation};
use super::sample::{Sample, int, read_bytes, tensor_meta};
use super::zip::zip;

/// The problem after the configuration of `l.weight` was changed, and the graph's view of it with it.
fn problem_of(change: impl Fn(&mut serde_json::Value)) -> Problem {
    Sample::problem(|sample| {
        change(&mut sample.weights["config"]["l.weight"]["tensor_meta"]);
    })
}

fn find<'p>(program: &'p Program, name: &str) -> &'p Weight {
    program.weights.iter().find(|weight| &*weight.name == name).unwrap()
}

#[test]
fn a_weight_is_a_range_of_the_file() {
    let sample = Sample::default();
    let bytes = zip(&sample.entries());
    let program = read_bytes(&bytes).unwrap();
    let weight = find(&program, "l.weight");
    assert_eq!((&*weight.name, weight.kind, weight.dtype), ("l.weight", WeightKind::Parameter, DType::F32));
    let view = weight.data.as_ref().unwrap();
    let offset = bytes.windows(24).position(|window| window == [1; 24]).unwrap() as u64;
    let span = Span { source: SourceId(0), offset, length: 24 };
    assert_eq!(*view, StridedView { span, offset: 0, sizes: vec![3, 2], strides: vec![2, 1] });
}

#[test]
fn tied_weights_share_a_storage() {
    let mut sample = Sample::default();
    sample.weights["config"]["tied"] = sample.weights["config"]["l.weight"].clone();
    sample.weights["config"]["tied"]["tensor_meta"] = tensor_meta(&[2], &[3]);
    sample.weights["config"]["tied"]["tensor_meta"]["storage_offset"] = int(2);
    let program = sample.read().unwrap();
    let view = |name: &str| find(&program, name).data.clone().unwrap();
    assert_eq!(view("tied").span, view("l.weight").span);
    assert_eq!((view("tied").offset, view("tied").strides), (2, vec![3]));
}

#[test]
fn a_weight_without_bytes_has_none() {
    let mut sample = Sample::default();
    sample.storages[0].clear();
    let program = sample.read().unwrap();
    assert_eq!(find(&program, "l.weight").data, None);
    assert!(find(&program, "l.bias").data.is_some());
}

#[test]
fn an_empty_tensor_needs_no_bytes() {
    let mut sample = Sample::default();
    let empty = tensor_meta(&[0, 2], &[2, 1]);
    sample.weights["config"]["l.weight"]["tensor_meta"] = empty.clone();
    sample.graph()["tensor_values"]["p_l_weight"] = empty;
    sample.storages[0].clear();
    let program = sample.read().unwrap();
    assert_eq!(find(&program, "l.weight").data.as_ref().unwrap().sizes, [0, 2]);
}

#[test]
fn weights_belong_to_modules() {
    let mut sample = Sample::default();
    sample.constants["config"]["idle.part.table"] = sample.weights["config"]["l.bias"].clone();
    sample.constants["config"]["idle.part.table"]["path_name"] = json!("../weights/weight_1");
    let problem = sample.read().unwrap_err();
    assert!(matches!(&problem, Problem::MissingWeightBytes { .. }), "no way out of the folder: {problem}");

    sample.constants = json!({"config": {}});
    sample.weights["config"]["idle.part.table"] = sample.weights["config"]["l.bias"].clone();
    sample.weights["config"]["idle.part.table"]["is_param"] = json!(false);
    let program = sample.read().unwrap();
    let linear = program.modules.get(program.modules.find("l").unwrap()).unwrap();
    assert_eq!(
        linear.parameters.iter().map(|p| (p.elements, p.bytes)).collect::<Vec<_>>(),
        [(3, 12), (6, 24)]
    );
    assert!(linear.parameters.iter().all(|parameter| !parameter.is_buffer));
    let idle = program.modules.get(program.modules.find("idle.part").unwrap()).unwrap();
    assert_eq!((&*idle.class, idle.order, idle.calls), ("", None, 0));
    assert!(idle.parameters[0].is_buffer);
}

#[test]
fn a_parameter_with_the_bytes_of_another_is_tied_to_it() {
    let tied = |is_param: bool| {
        let mut sample = Sample::default();
        sample.weights["config"]["z.bias"] = sample.weights["config"]["l.bias"].clone();
        sample.weights["config"]["z.bias"]["is_param"] = json!(is_param);
        let program = sample.read().unwrap();
        let of = |path| {
            let module = program.modules.get(program.modules.find(path).unwrap()).unwrap();
            let mut ties = module.parameters.iter().filter_map(|parameter| parameter.tied_to.clone());
            (ties.next(), ties.next())
        };
        assert_eq!(of("l"), (None, None));
        of("z").0
    };
    assert_eq!(tied(true).as_deref(), Some("l.bias"));
    assert_eq!(tied(false), None, "a buffer is no parameter");
}

#[test]
fn strides_past_the_data() {
    for change in [
        |meta: &mut serde_json::Value| meta["strides"][0] = int(3),
        |meta: &mut serde_json::Value| meta["storage_offset"] = int(1),
        |meta: &mut serde_json::Value| meta["dtype"] = json!(8),
    ] {
        let problem = problem_of(change);
        assert!(
            matches!(&problem, Problem::WeightOutside { weight, length: 24, .. } if weight == "l.weight"),
            "{problem}"
        );
    }
}

#[test]
fn sizes_that_overflow() {
    const HUGE: i64 = i64::MAX;
    for change in [
        |meta: &mut serde_json::Value| *meta = tensor_meta(&[HUGE, HUGE], &[0, 0]),
        |meta: &mut serde_json::Value| *meta = tensor_meta(&[3, 2], &[HUGE, HUGE]),
        |meta: &mut serde_json::Value| *meta = tensor_meta(&[HUGE], &[1]),
        |meta: &mut serde_json::Value| *meta = tensor_meta(&[HUGE, HUGE, 0], &[0, 0, 0]),
        |meta: &mut serde_json::Value| meta["storage_offset"] = int(HUGE),
    ] {
        let problem = problem_of(change);
        assert!(matches!(&problem, Problem::WeightOverflow { weight } if weight == "l.weight"), "{problem}");
    }
}

#[test]
fn negative_sizes() {
    let place = ProgramLocation::Weight { name: "l.weight".into() };
    let problem = problem_of(|meta| meta["sizes"][0] = int(-3));
    assert!(
        matches!(&problem, Problem::NegativeDimension { place: p, what: "the size", value: -3 } if *p == place),
        "{problem}"
    );
    let problem = problem_of(|meta| meta["strides"][0] = int(-1));
    assert!(matches!(&problem, Problem::NegativeDimension { what: "the stride", .. }), "{problem}");
    let problem = problem_of(|meta| meta["storage_offset"] = int(-1));
    assert!(matches!(&problem, Problem::NegativeDimension { what: "the storage offset", .. }), "{problem}");
}

#[test]
fn other_metadata_that_a_weight_cannot_have() {
    let problem = problem_of(|meta| meta["strides"] = json!([]));
    assert!(matches!(&problem, Problem::StrideCount { sizes: 2, strides: 0, .. }), "{problem}");
    let problem = problem_of(|meta| meta["dtype"] = json!(99));
    assert!(matches!(&problem, Problem::UnknownCode { what: "element type", code: 99, .. }), "{problem}");
    let problem = problem_of(|meta| meta["layout"] = json!(1));
    assert!(matches!(&problem, Problem::WeightLayout { layout: "sparse_coo", .. }), "{problem}");
    let problem = problem_of(|meta| meta["sizes"][0] = json!({"as_expr": {"expr_str": "s0"}}));
    assert!(matches!(&problem, Problem::SymbolicWeight { .. }), "{problem}");
    let problem = problem_of(|meta| *meta = json!(null));
    assert!(matches!(&problem, Problem::Json { .. }), "{problem}");
}

#[test]
fn pickles_are_refused_where_they_are_needed() {
    let problem = Sample::problem(|sample| sample.weights["config"]["l.bias"]["use_pickle"] = json!(true));
    assert!(matches!(&problem, Problem::PickledWeight { weight } if weight == "l.bias"), "{problem}");

    let mut sample = Sample::default();
    sample.constants["config"]["object"] =
        json!({"path_name": "custom_obj_0", "is_param": false, "use_pickle": true, "tensor_meta": null});
    let program = sample.read().expect("a pickle that the graph does not need");
    assert_eq!(program.weights.len(), 2);
}

#[test]
fn weights_that_are_missing() {
    let problem = Sample::problem(|sample| {
        sample.weights["config"].as_object_mut().unwrap().remove("l.bias");
    });
    assert!(matches!(&problem, Problem::MissingWeight { weight, .. } if weight == "l.bias"), "{problem}");
    let problem = Sample::problem(|sample| {
        sample.storages.pop();
    });
    assert!(
        matches!(&problem, Problem::MissingWeightBytes { weight, entry }
            if weight == "l.bias" && entry == "m/data/weights/weight_1"),
        "{problem}"
    );
}

#[test]
fn a_weight_that_the_graph_takes_for_something_else() {
    let problem = problem_of(|meta| *meta = tensor_meta(&[2, 3], &[3, 1]));
    assert!(
        matches!(&problem, Problem::WeightMismatch { stored, graph, .. }
            if stored == "float32[2, 3]" && graph == "float32[3, 2]"),
        "{problem}"
    );
}

#[test]
fn one_name_in_both_configurations() {
    let problem = Sample::problem(|sample| {
        sample.constants["config"]["l.bias"] = sample.weights["config"]["l.bias"].clone();
        sample.constants["config"]["l.bias"]["use_pickle"] = json!(true);
    });
    assert!(matches!(&problem, Problem::JsonDuplicateKey { .. }), "{problem}");
}
