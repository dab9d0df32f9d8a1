//! A program that contradicts itself is refused, or what is exported is valid: hundreds of changes to the programs of the
//! fixtures, always the same ones.
#![allow(clippy::unwrap_used)]

mod archive;
mod common;

use archive::Archive;
use common::repository;
use modelexport::{Export, Target, validate};
use serde_json::{Value, json};

const PROGRAM: &str = "model/models/model.json";

/// Changes to each fixture.
const CHANGES: u64 = 30;

/// Fixtures that export fast, and between them have matrices, convolutions, views, branches, norms and symbols.
const FIXTURES: [&str; 10] = [
    "plain_linear_relu",
    "shared_module",
    "norm_embedding",
    "inplace_views",
    "half_and_bf16",
    "cond",
    "conv1d_audio_tiny",
    "dynamic_batch_seq",
    "lstm_tiny",
    "not_executed",
];

/// Numbers that look random and are the same in every run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// Makes one change and says which.
fn spoil(graph: &mut Value, random: &mut Random) -> String {
    match random.below(6) {
        0..=2 => spoil_tensor(graph, random),
        3 => swap_arguments(graph, random),
        4 => replace_argument(graph, random),
        _ => change_number(graph, random),
    }
}

fn spoil_tensor(graph: &mut Value, random: &mut Random) -> String {
    let tensors = graph["tensor_values"].as_object_mut().unwrap();
    let name = random.of(&tensors.keys().cloned().collect::<Vec<_>>()).clone();
    let meta = &mut tensors[&name];
    let rank = meta["sizes"].as_array().unwrap().len();
    let size = json!({"as_int": *random.of(&[0, 1, 2, 3, 5, 7, 16, 64])});
    let (what, axis) = (random.below(5), random.below(rank));
    match what {
        0 | 1 if rank > 0 => meta["sizes"][axis] = size,
        2 if rank > 0 => meta["strides"][axis] = size,
        3 => meta["dtype"] = json!(*random.of(&[1, 3, 4, 5, 6, 7, 8, 12, 13])),
        _ => {
            for list in ["sizes", "strides"] {
                let list = meta[list].as_array_mut().unwrap();
                if what == 4 && rank > 0 { drop(list.remove(axis)) } else { list.push(json!({"as_int": 1})) }
            }
        }
    }
    format!("{name} is {meta}")
}

/// Places of the arguments that are tensors: the node and the number of the argument.
fn tensor_arguments(graph: &Value) -> Vec<(usize, usize)> {
    let nodes = graph["nodes"].as_array().unwrap().iter().enumerate();
    let places = nodes.flat_map(|(i, node)| {
        let inputs = node["inputs"].as_array().unwrap().iter().enumerate();
        let tensors = inputs.filter(|(_, input)| input["arg"].get("as_tensor").is_some());
        tensors.map(move |(j, _)| (i, j)).collect::<Vec<_>>()
    });
    places.collect()
}

fn swap_arguments(graph: &mut Value, random: &mut Random) -> String {
    let places = tensor_arguments(graph);
    let &(node, first) = random.of(&places);
    let others: Vec<_> = places.iter().filter(|(i, j)| *i == node && *j != first).collect();
    let Some((_, second)) = others.first() else { return spoil_tensor(graph, random) };
    let inputs = &mut graph["nodes"][node]["inputs"];
    let (one, other) = (inputs[first]["arg"].take(), inputs[*second]["arg"].take());
    (inputs[first]["arg"], inputs[*second]["arg"]) = (other, one);
    format!("node {node} has its arguments {first} and {second} swapped")
}

fn replace_argument(graph: &mut Value, random: &mut Random) -> String {
    let places = tensor_arguments(graph);
    let (from, to) = (*random.of(&places), *random.of(&places));
    let (from, to) = (from.min(to), from.max(to));
    let found = graph["nodes"][from.0]["inputs"][from.1]["arg"].clone();
    let text = format!("argument {} of node {} is {found}", to.1, to.0);
    graph["nodes"][to.0]["inputs"][to.1]["arg"] = found;
    text
}

fn change_number(graph: &mut Value, random: &mut Random) -> String {
    let mut places = Vec::new();
    for (i, node) in graph["nodes"].as_array().unwrap().iter().enumerate() {
        for (j, input) in node["inputs"].as_array().unwrap().iter().enumerate() {
            if input["arg"].get("as_int").is_some() {
                places.push((i, j, None));
            }
            for (k, _) in input["arg"]["as_ints"].as_array().into_iter().flatten().enumerate() {
                places.push((i, j, Some(k)));
            }
        }
    }
    if places.is_empty() {
        return spoil_tensor(graph, random);
    }
    let &(node, argument, item) = random.of(&places);
    let number = json!(*random.of(&[-3, -2, -1, 0, 1, 2, 3, 5, 8, 100]));
    let arg = &mut graph["nodes"][node]["inputs"][argument]["arg"];
    match item {
        None => arg["as_int"] = number,
        Some(item) => arg["as_ints"][item] = number,
    }
    format!("argument {argument} of node {node} is {arg}")
}

#[test]
fn what_is_exported_is_valid() {
    let folder = tempfile::tempdir().unwrap();
    let (program, model) = (folder.path().join("m.pt2"), folder.path().join("m.onnx"));
    let (mut exported, mut refused, mut invalid) = (0, 0, Vec::new());
    for (seed, fixture) in (1u64..).zip(FIXTURES) {
        let mut archive = Archive::read(&repository().join("fixtures").join(fixture).join("model.pt2"));
        let good = archive.json(PROGRAM);
        let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ seed);
        for _ in 0..CHANGES {
            let mut bad = good.clone();
            let change = spoil(&mut bad["graph_module"]["graph"], &mut random);
            archive.set_json(PROGRAM, &bad);
            archive.write(&program);
            let target = Target::new(&model).overwrite(true);
            match (Export { target, ..Export::new(&program, &model) }).run(&mut ()) {
                Err(error) => {
                    refused += 1;
                    assert!(error.to_string().contains(&*program.to_string_lossy()), "{error}");
                }
                Ok(_) => {
                    exported += 1;
                    let report = validate::validate(&model).unwrap();
                    let findings = report.findings.iter().filter(|_| !report.valid);
                    invalid
                        .extend(findings.map(|f| format!("{fixture}: {change}: {}: {}", f.place, f.message)));
                }
            }
        }
    }
    // Many changes do not matter, such as that of a stride which nothing reads.
    assert!(exported > 50 && refused > 100, "{exported} exported, {refused} refused");
    assert!(invalid.is_empty(), "{} of {exported}:\n{}", invalid.len(), invalid.join("\n"));
}
