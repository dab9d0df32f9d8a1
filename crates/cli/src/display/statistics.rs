//! Counts of modules and nodes, as every summary shows them.

use std::collections::BTreeMap;
use std::fmt::Display;

use modelexport_graph::Method;
use modelexport_io::sidecar::{Fit, Statistics};

use super::number::{counted, exact};

/// `45 of 48 executed, 26 shown in tags`.
pub fn modules_text(statistics: &Statistics) -> String {
    let Statistics { modules, executed_modules, visible_modules, .. } = *statistics;
    let [executed, all, visible] = [executed_modules, modules, visible_modules].map(exact);
    format!("{executed} of {all} executed, {visible} shown in tags")
}

/// `100.0% (77 direct)`.
pub fn coverage_text(statistics: &Statistics) -> String {
    coverage_by_method(statistics.coverage, &statistics.by_method)
}

/// The same from its parts.
pub fn coverage_by_method<M: Display>(coverage: f64, by_method: &BTreeMap<M, u64>) -> String {
    let methods = methods_text(by_method);
    let methods = if methods.is_empty() { methods } else { format!(" ({methods})") };
    format!("{:.1}%{methods}", 100.0 * coverage)
}

/// `77 direct, 3 scope`.
pub fn methods_text<M: Display>(by_method: &BTreeMap<M, u64>) -> String {
    let methods: Vec<String> =
        by_method.iter().map(|(method, count)| format!("{} {method}", exact(*count))).collect();
    methods.join(", ")
}

/// `98%: 143 of 146 parameters, 95% of operators`.
pub fn fit_text(fit: &Fit) -> String {
    let percent = |share: f64| (100.0 * share).floor();
    let (parameters, operators) = (&fit.parameters, &fit.operators);
    let placed = if operators.total == 0 { 1.0 } else { operators.aligned as f64 / operators.total as f64 };
    format!(
        "{}%: {} of {} parameters, {}% of operators{}",
        percent(fit.score),
        exact(parameters.found),
        exact(parameters.total),
        percent(placed),
        if fit.forced { ", forced" } else { "" }
    )
}

/// Nodes that evidence placed, of nodes by method.
pub fn placed_by_evidence<'m>(by_method: impl Iterator<Item = (&'m str, u64)>) -> u64 {
    let is_evidence = |method: &str| Method::from_name(method).is_some_and(Method::is_evidence);
    by_method.filter(|(method, _)| is_evidence(method)).map(|(_, count)| count).sum()
}

/// `94 nodes by evidence, 87 by their neighbours`.
pub fn placed_text(placed: u64, nodes: u64) -> String {
    format!(
        "{} by evidence, {} by their neighbours",
        counted(placed, "node"),
        exact(nodes.saturating_sub(placed))
    )
}
