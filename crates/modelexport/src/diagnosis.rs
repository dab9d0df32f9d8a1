//! Why a model has many, few or no tagged operations, and what to do about it.

use modelexport_io::sidecar::{Policy, Sidecar, Statistics};
use serde::Serialize;

/// How much of a model its tags tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// No node lies in a module that the policy chose.
    Zero,
    /// Less than [`LOW`] of the nodes do.
    Low,
    High,
}

/// Below this share of tagged operations the tags say little.
pub const LOW: f64 = 0.5;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    pub level: Level,
    /// One or two sentences.
    pub text: String,
}

/// Looks at the numbers of a tagged model.
pub fn diagnose(sidecar: &Sidecar) -> Diagnosis {
    let Sidecar { statistics, policy, .. } = sidecar;
    let Statistics { nodes, tagged_operations, .. } = statistics;
    let level = match tagged_operations {
        0 if *nodes > 0 => Level::Zero,
        tagged if (*tagged as f64) < LOW * *nodes as f64 => Level::Low,
        _ => Level::High,
    };
    Diagnosis { level, text: text(level, sidecar, policy) }
}

fn text(level: Level, sidecar: &Sidecar, policy: &Policy) -> String {
    let Statistics { nodes, tagged_operations, .. } = sidecar.statistics;
    let chosen = sidecar.modules.iter().filter(|module| module.visible && !module.path.is_empty()).count();
    let hidden = hidden_classes(sidecar);
    let preset = &policy.modules;
    match level {
        Level::Zero => format!(
            "no operation lies in a module that the preset `{preset}` shows, so that every node carries the tag of \
             the root.{} This is expected for plain PyTorch models.{}",
            listed(&hidden, " Hidden: ", "."),
            advice(policy)
        ),
        Level::Low => format!(
            "{tagged_operations} of {nodes} operations lie in the {chosen} modules that the preset `{preset}` \
             shows; the others carry the tag of the root.{}{}",
            listed(&hidden, " Hidden: ", "."),
            advice(policy)
        ),
        Level::High => {
            format!("{tagged_operations} of {nodes} operations lie in {chosen} modules below the root")
        }
    }
}

fn advice(policy: &Policy) -> &'static str {
    match policy.modules.as_str() {
        "all" => "",
        "model" => " Use --modules all, or --torch-nn-exceptions, to show them.",
        _ => " Use --modules model or all to show more.",
    }
}

/// Classes of executed modules that do not show, by how often they occur.
fn hidden_classes(sidecar: &Sidecar) -> Vec<String> {
    let mut counts: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    for module in sidecar.modules.iter().filter(|module| module.executed && !module.visible) {
        *counts.entry(module.class.rsplit('.').next().unwrap_or_default()).or_default() += 1;
    }
    let mut classes: Vec<(&str, usize)> = counts.into_iter().filter(|(class, _)| !class.is_empty()).collect();
    classes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    classes.into_iter().map(|(class, count)| format!("{count} {class}")).collect()
}

/// Classes that are named one by one.
const SHOWN: usize = 4;

fn listed(items: &[String], before: &str, after: &str) -> String {
    if items.is_empty() {
        return String::new();
    }
    let more = items.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more classes") } else { String::new() };
    let shown: Vec<&str> = items.iter().take(SHOWN).map(String::as_str).collect();
    format!("{before}{}{more}{after}", shown.join(", "))
}
