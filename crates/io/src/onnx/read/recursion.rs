//! Functions must not call themselves, directly or indirectly: expanding them would never end.

use std::collections::HashMap;

use modelexport_graph::onnx::{Function, Model, Node};

use crate::onnx::error::Error;
use crate::onnx::names;

/// A function by domain, name and overload.
type Key<'a> = (&'a str, &'a str, &'a str);

/// Refuses a model whose functions call each other in a circle.
pub(super) fn check(model: &Model, file: &str) -> Result<(), Error> {
    let ids: HashMap<Key<'_>, usize> =
        model.functions.iter().enumerate().map(|(id, function)| (key_of(function), id)).collect();
    let calls: Vec<Vec<usize>> = model.functions.iter().map(|function| called(function, &ids)).collect();
    match find_cycle(&calls) {
        None => Ok(()),
        Some(cycle) => {
            let names: Vec<String> =
                cycle.iter().filter_map(|&id| model.functions.get(id)).map(display).collect();
            let function = names.first().cloned().unwrap_or_default();
            Err(Error::RecursiveFunction { file: file.into(), function, cycle: names.join(" -> ") })
        }
    }
}

/// The default domain has two names.
fn domain(name: &str) -> &str {
    if name == "ai.onnx" { "" } else { name }
}

fn key_of(function: &Function) -> Key<'_> {
    (domain(&function.domain), &function.name, &function.overload)
}

fn called(function: &Function, ids: &HashMap<Key<'_>, usize>) -> Vec<usize> {
    let mut calls = Vec::new();
    function.for_each_node(&mut |node: &Node| {
        calls.extend(ids.get(&(domain(&node.domain), &*node.op_type, &*node.overload)));
    });
    calls.sort_unstable();
    calls.dedup();
    calls
}

fn display(function: &Function) -> String {
    let name = format!("{}::{}", domain(&function.domain), function.name);
    names::for_screen(&name).into_owned()
}

/// Depth-first, without recursion: a chain of calls may be as long as the file allows. The cycle ends with its start.
fn find_cycle(calls: &[Vec<usize>]) -> Option<Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut state = vec![State::New; calls.len()];
    for start in 0..calls.len() {
        if state.get(start) != Some(&State::New) {
            continue;
        }
        let mut stack = vec![(start, 0)];
        *state.get_mut(start)? = State::Open;
        while let Some((id, next)) = stack.last_mut() {
            let Some(&callee) = calls.get(*id).and_then(|callees| callees.get(*next)) else {
                *state.get_mut(*id)? = State::Done;
                stack.pop();
                continue;
            };
            *next += 1;
            match state.get(callee)? {
                State::Done => {}
                State::New => {
                    *state.get_mut(callee)? = State::Open;
                    stack.push((callee, 0));
                }
                State::Open => {
                    let path = stack.iter().map(|(id, _)| *id).skip_while(|&id| id != callee);
                    return Some(path.chain([callee]).collect());
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str, calls: &[&str]) -> Function {
        let call =
            |op_type: &&str| Node { op_type: (*op_type).into(), domain: "f".into(), ..Default::default() };
        Function {
            name: name.into(),
            domain: "f".into(),
            nodes: calls.iter().map(call).collect(),
            ..Default::default()
        }
    }

    fn check_functions(functions: Vec<Function>) -> Result<(), Error> {
        check(&Model { functions, ..Default::default() }, "m.onnx")
    }

    #[test]
    fn a_circle_of_calls_is_named() {
        let functions = vec![
            function("a", &["b"]),
            function("b", &["d", "c"]),
            function("c", &["b"]),
            function("d", &[]),
        ];
        let error = check_functions(functions).unwrap_err();
        let Error::RecursiveFunction { function: first, cycle, .. } = error else { panic!("{error}") };
        assert_eq!((first.as_str(), cycle.as_str()), ("f::b", "f::b -> f::c -> f::b"));
        assert!(check_functions(vec![function("a", &["a"])]).is_err());
    }

    #[test]
    fn shared_callees_and_long_chains_are_fine() {
        let shared = vec![function("a", &["c", "b"]), function("b", &["c"]), function("c", &["Other"])];
        check_functions(shared).unwrap();
        let name = |i: usize| format!("f{i}");
        let chain = (0..50_000).map(|i| function(&name(i), &[&name(i + 1)])).collect();
        check_functions(chain).unwrap();
    }
}
