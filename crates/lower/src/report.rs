//! Everything that cannot be lowered, found before anything is, and told at once.

use std::collections::BTreeMap;

use modelexport_graph::aten::{Arg, Graph, Program};
use modelexport_graph::{ScopeId, Scopes};

use crate::decompositions::{Decomposition, decomposition};
use crate::{Options, registry};

/// The operators of a program that have no row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    pub opset: i64,
    /// Sorted by target.
    pub operators: Vec<UnsupportedOperator>,
    /// The Python that has torch decompose them in an archive, if it can decompose some.
    pub decompose: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedOperator {
    pub target: String,
    /// Uses in the program.
    pub count: usize,
    /// Paths of the modules that use it, in order of first use.
    pub modules: Vec<String>,
    /// The last line of the first use's stack trace that the archive has.
    pub source: Option<String>,
    /// The lowest opset at which there is a row, if it is only the opset that is too low.
    pub from_opset: Option<i64>,
    pub decomposition: Decomposition,
}

/// Module paths shown for one operator.
const SHOWN_MODULES: usize = 5;

impl std::fmt::Display for Unsupported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count = self.operators.len();
        let subject = if count == 1 { "operator is" } else { "operators are" };
        write!(f, "{count} {subject} not supported at opset {}:", self.opset)?;
        for operator in &self.operators {
            let times = if operator.count == 1 { "use" } else { "uses" };
            write!(f, "\n  {} ({} {times})", operator.target, operator.count)?;
            if let Some(opset) = operator.from_opset {
                write!(f, ": supported from opset {opset}")?;
            }
            let shown: Vec<&str> = operator
                .modules
                .iter()
                .take(SHOWN_MODULES)
                .map(|path| if path.is_empty() { "(root)" } else { path })
                .collect();
            write!(f, "\n    in {}", shown.join(", "))?;
            if operator.modules.len() > SHOWN_MODULES {
                write!(f, " and {} more", operator.modules.len() - SHOWN_MODULES)?;
            }
            if let Some(source) = &operator.source {
                write!(f, "\n    at {source}")?;
            }
            write!(f, "\n    {}", operator.decomposition)?;
        }
        if let Some(call) = &self.decompose {
            write!(f, "\nTo decompose operators with torch, run in Python: {call}")?;
        }
        write!(
            f,
            "\nAlternatively, map an operator to a custom operator with a rules file, or change the model."
        )
    }
}

/// What `program` uses and `options` cannot lower; `None` if nothing is missing.
pub fn unsupported(program: &Program, options: &Options) -> Option<Unsupported> {
    let mut found = BTreeMap::new();
    visit(program, &program.graph, Scopes::ROOT, options, &mut found);
    if found.is_empty() {
        return None;
    }
    let operators: Vec<UnsupportedOperator> = found.into_values().collect();
    let can_be = |operator: &UnsupportedOperator| {
        matches!(operator.decomposition, Decomposition::Possible | Decomposition::Unknown)
    };
    let decompose = operators.iter().any(can_be).then(|| decompose_call(options));
    Some(Unsupported { opset: options.opset, operators, decompose })
}

/// What a user runs to have torch decompose an archive, for these options.
fn decompose_call(options: &Options) -> String {
    let mut arguments = String::new();
    if options.opset != Options::default().opset {
        arguments += &format!(", opset_version={}", options.opset);
    }
    if !options.custom_operators.is_empty() {
        arguments += ", rules=\"rules.toml\"";
    }
    format!(
        "torch.export.save(modelexport.decompose(torch.export.load(\"model.pt2\"){arguments}), \"decomposed.pt2\")"
    )
}

fn visit(
    program: &Program,
    graph: &Graph,
    outer: ScopeId,
    options: &Options,
    found: &mut BTreeMap<String, UnsupportedOperator>,
) {
    for node in &graph.nodes {
        let scope = node.scope.unwrap_or(outer);
        if !is_supported(&node.target, options) {
            let entry = found.entry(node.target.to_string()).or_insert_with(|| UnsupportedOperator {
                target: node.target.to_string(),
                count: 0,
                modules: Vec::new(),
                source: node.trace.and_then(|trace| source_line(program, trace)),
                from_opset: crate::OPSETS.clone().find(|&opset| find_row(&node.target, opset)),
                decomposition: decomposition(&node.target, options, |target| is_supported(target, options)),
            });
            entry.count += 1;
            let path = program.modules.get(program.scopes.module(scope)).map_or("", |module| &*module.path);
            if !entry.modules.iter().any(|known| known == path) {
                entry.modules.push(path.to_owned());
            }
        }
        for arg in &node.args {
            if let Arg::Graph(subgraph) = &arg.arg {
                visit(program, &subgraph.graph, scope, options, found);
            }
        }
    }
}

/// Those of `targets` that `options` cannot lower. What is inlined is no operator.
pub fn missing<'a>(targets: impl IntoIterator<Item = &'a str>, options: &Options) -> Vec<&'a str> {
    let is_missing = |target: &&str| !is_supported(target, options) && !crate::wrappers::is_wrapper(target);
    targets.into_iter().filter(is_missing).collect()
}

/// In-place operators are lowered as their functional twins.
fn find_row(target: &str, opset: i64) -> bool {
    registry::find(target, opset).is_some()
        || crate::functionalize::functional_variant(target)
            .is_some_and(|twin| registry::find(&twin, opset).is_some())
}

fn is_supported(target: &str, options: &Options) -> bool {
    options.custom_operators.iter().any(|custom| custom.target == target) || find_row(target, options.opset)
}

/// `File "model.py", line 7, in forward` and the code below it, from the innermost frame.
fn source_line(program: &Program, trace: u32) -> Option<String> {
    let trace = program.traces.get(trace as usize)?;
    let at = trace.rfind("File \"")?;
    Some(trace.get(at..)?.lines().map(str::trim).collect::<Vec<_>>().join(": "))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use modelexport_graph::aten::Arg;

    use super::*;
    use crate::test_program::{TestProgram, tensor};
    use crate::{CustomOperator, Error};

    /// The report of a program that uses `targets` one after the other.
    fn report(targets: &[&str], options: &Options) -> String {
        let mut program = TestProgram::new();
        let mut value = program.input("x", tensor(&[3]));
        for target in targets {
            value = program.node(target, &[("self", Arg::Tensor(value))], tensor(&[3]));
        }
        match crate::lower(program.outputs(&[value]), options, &|_| None) {
            Err(Error::Unsupported(missing)) => missing.to_string(),
            other => format!("{:?}", other.map(|_| ())),
        }
    }

    const TARGETS: [&str; 4] =
        ["mylib.fused.default", "higher_order.flex_attention", "aten.relu.default", "mylib.other.default"];

    #[test]
    fn an_archive_is_told_what_torch_can_decompose_and_by_which_call() {
        assert_snapshot!(report(&TARGETS, &Options::default()), @r#"
        3 operators are not supported at opset 20:
          higher_order.flex_attention (1 use)
            in (root)
            torch has no decomposition for it
          mylib.fused.default (1 use)
            in (root)
            torch may be able to decompose it
          mylib.other.default (1 use)
            in (root)
            torch may be able to decompose it
        To decompose operators with torch, run in Python: torch.export.save(modelexport.decompose(torch.export.load("model.pt2")), "decomposed.pt2")
        Alternatively, map an operator to a custom operator with a rules file, or change the model.
        "#);
    }

    #[test]
    fn the_call_has_the_choices_of_the_export() {
        let mapped = CustomOperator {
            target: "mylib.fused.default".to_owned(),
            domain: "mylib".to_owned(),
            op_type: "Fused".to_owned(),
            version: 1,
        };
        let options = Options { opset: 14, custom_operators: vec![mapped], ..Options::default() };
        let text = report(&TARGETS, &options);
        let call = text.lines().find(|line| line.contains("modelexport.decompose")).unwrap();
        assert!(call.ends_with(
            "modelexport.decompose(torch.export.load(\"model.pt2\"), opset_version=14, rules=\"rules.toml\"), \
             \"decomposed.pt2\")"
        ));
        assert!(!text.contains("mylib.fused"));
    }

    #[test]
    fn where_torch_was_asked_there_is_its_reason_and_no_call() {
        let reasons = [("mylib.fused.default".to_owned(), "torch has its reasons".to_owned())].into();
        let options = Options { not_decomposed: Some(reasons), ..Options::default() };
        assert_snapshot!(report(&["mylib.fused.default"], &options), @r"
        1 operator is not supported at opset 20:
          mylib.fused.default (1 use)
            in (root)
            torch has its reasons
        Alternatively, map an operator to a custom operator with a rules file, or change the model.
        ");
    }

    #[test]
    fn what_has_a_row_of_its_own_or_through_another_is_not_missing() {
        let targets = [
            "aten.relu.default",
            "aten.relu_.default",
            "higher_order.wrap_with_set_grad_enabled",
            "mylib.fused.default",
        ];
        assert_eq!(missing(targets, &Options::default()), ["mylib.fused.default"]);
    }
}
