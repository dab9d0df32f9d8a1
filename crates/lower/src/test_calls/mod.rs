//! What each row of an operator file becomes, for the snapshot at the end of that file.
//!
//! The calls are those that PyTorch captures: `tests/python/op_calls.py` writes them to
//! `tests/data/captured_calls.txt`.

mod onnx_text;
mod parse;

use std::collections::HashSet;

use modelexport_graph::aten::Program;
use modelexport_graph::onnx::Graph;

use crate::driver::lower;
use crate::registry::{self, Row};
use crate::{Error, Options};

const CAPTURED: &str = include_str!("../../tests/data/captured_calls.txt");

/// Operators that archives may hold, but that the installed PyTorch does not write.
const NOT_CAPTURED: &[&str] = &[
    "aten.sym_stride.int(self: f32[s0, s1], dim=0) -> s1",
    "aten.sym_numel.default(self: f32[s0, 3]) -> 3*s0",
    "aten.sym_storage_offset.default(self: f32[s0]) -> 0",
    "aten.sym_constrain_range.default(size=u0, min=1, max=8) -> ()",
    "aten.sym_constrain_range_for_size.default(size=u0, min=1) -> ()",
    "aten.random.from(self: f32[3, 4], from=2, to=9) -> f32[3, 4]",
];

/// Operators that take graphs, which one line cannot hold: their files have programs instead.
const TAKES_GRAPHS: &[&str] =
    &["higher_order.cond", "higher_order.while_loop", "higher_order.scan", "higher_order.map_impl"];

/// Each captured call of `rows` and the ONNX nodes that it becomes: at the default opset, and for rows with another
/// range of opsets at the last of it. The call with dynamic sizes is told if it becomes something else.
pub(crate) fn lowered(rows: &[Row]) -> String {
    let mut blocks = Vec::new();
    let mut seen = HashSet::new();
    for row_target in rows.iter().map(Row::target) {
        if !seen.insert(row_target.clone()) || TAKES_GRAPHS.contains(&row_target.as_str()) {
            continue;
        }
        let calls: Vec<&str> = calls().filter(|call| target(call) == row_target).collect();
        let [first, others @ ..] = calls.as_slice() else {
            panic!("no call of {row_target}: add a case, run tests/python/op_calls.py");
        };
        let usual = Options::default().opset;
        let text = at_opset(first, usual);
        blocks.push(block(first, &text));
        for other in others {
            let dynamic = at_opset(other, usual);
            if dynamic != text {
                blocks.push(block(other, &dynamic));
            }
        }
        for opset in last_opsets(&row_target).filter(|&opset| opset != usual) {
            blocks.push(block(&format!("{first} at opset {opset}"), &at_opset(first, opset)));
        }
    }
    blocks.join("\n")
}

fn block(call: &str, nodes: &str) -> String {
    format!("{call}\n    {}", nodes.replace('\n', "\n    "))
}

/// The ONNX nodes that a program of hand-made parts becomes.
pub(crate) fn lowered_program(program: Program) -> String {
    lowered_program_at(program, Options::default().opset)
}

/// The ONNX nodes that a program of hand-made parts becomes at an opset.
pub(crate) fn lowered_program_at(program: Program, opset: i64) -> String {
    text(program, opset)
}

/// The ONNX nodes that a call becomes.
pub(crate) fn lowered_call(call: &str) -> String {
    at_opset(call, Options::default().opset)
}

/// Why a call cannot be lowered.
pub(crate) fn refused(call: &str) -> String {
    match lower(parse::program(call), &Options::default(), &|_| None) {
        Ok(_) => panic!("{call} can be lowered"),
        Err(error) => error.to_string(),
    }
}

fn at_opset(call: &str, opset: i64) -> String {
    text(parse::program(call), opset)
}

fn text(program: Program, opset: i64) -> String {
    let options = Options { opset, ..Options::default() };
    let has_results = !program.graph.outputs.is_empty();
    match lower(program, &options, &|_| None) {
        Ok((model, _)) => onnx_text::text(&model.graph),
        // That is found after all nodes are lowered.
        Err(Error::Program(reason)) if !has_results && reason.contains("no outputs") => {
            onnx_text::text(&Graph::default())
        }
        Err(error) => panic!("{error}"),
    }
}

fn calls() -> impl Iterator<Item = &'static str> {
    CAPTURED.lines().chain(NOT_CAPTURED.iter().copied())
}

fn target(call: &str) -> &str {
    call.split('(').next().unwrap_or_default()
}

/// For each row of `target` the last opset that it is used at; the default one if it is used there.
fn last_opsets(target: &str) -> impl Iterator<Item = i64> {
    let usual = Options::default().opset;
    let floor = move |opset: i64| registry::find(target, opset).map(|row| row.floor);
    let is_last = move |opset: i64| opset == *crate::OPSETS.end() || floor(opset) != floor(opset + 1);
    crate::OPSETS
        .filter(move |&opset| floor(opset).is_some() && is_last(opset))
        .map(move |opset| if floor(opset) == floor(usual) { usual } else { opset })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_has_a_row() {
        let targets: HashSet<String> = registry::rows().map(Row::target).collect();
        let unknown: Vec<&str> = calls().filter(|call| !targets.contains(target(call))).collect();
        assert!(unknown.is_empty(), "calls of operators that have no row: {unknown:#?}");
    }

    #[test]
    fn every_operator_file_has_the_snapshot_of_its_rows() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/ops");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                continue;
            }
            let source = std::fs::read_to_string(&path).unwrap();
            assert!(
                !source.contains("static ROWS") || source.contains("assert_snapshot!(lowered"),
                "{} has rows, but no `assert_snapshot!(lowered(ROWS))`",
                path.display()
            );
        }
    }
}
