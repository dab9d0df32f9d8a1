//! Counts of modules and nodes, as every summary shows them.

use modelexport_io::sidecar::Statistics;

use super::number::exact;

/// `45 of 48 executed, 26 shown in tags`.
pub fn modules_text(statistics: &Statistics) -> String {
    let Statistics { modules, executed_modules, visible_modules, .. } = *statistics;
    let [executed, all, visible] = [executed_modules, modules, visible_modules].map(exact);
    format!("{executed} of {all} executed, {visible} shown in tags")
}

/// `100.0% (77 direct)`.
pub fn coverage_text(statistics: &Statistics) -> String {
    let methods = statistics.by_method.iter().map(|(method, count)| format!("{} {method}", exact(*count)));
    let methods: Vec<String> = methods.collect();
    let methods = if methods.is_empty() { String::new() } else { format!(" ({})", methods.join(", ")) };
    format!("{:.1}%{methods}", 100.0 * statistics.coverage)
}
