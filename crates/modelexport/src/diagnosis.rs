//! Explains why a model has many, few or no tagged operations, and what to do about it.

use modelexport_io::sidecar::{Policy, Sidecar};
use serde::{Deserialize, Serialize};

use crate::numbers::{counted, exact};

/// How much of a model its tags tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// No node lies in a module that the policy chose.
    Zero,
    /// Less than half of the nodes do.
    Low,
    /// All other models.
    High,
}

/// Below this share of tagged operations the tags say little.
pub(crate) const LOW: f64 = 0.5;

/// From this share of nodes without a module on, something took their tags.
pub const PARTIAL: f64 = 0.1;

/// How much the tags of a model say, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// The verdict in one word.
    pub level: Level,
    /// One or two sentences.
    pub text: String,
}

/// Looks at the numbers of a tagged model.
pub(crate) fn diagnose(sidecar: &Sidecar) -> Diagnosis {
    let modules = &sidecar.modules;
    let hidden = modules.iter().filter(|module| module.executed && !module.visible);
    let facts = Facts {
        nodes: sidecar.statistics.nodes,
        untold_nodes: 0,
        tagged_operations: sidecar.statistics.tagged_operations,
        chosen_modules: modules.iter().filter(|module| module.visible && !module.path.is_empty()).count(),
        hidden_classes: hidden
            .map(|module| module.class.rsplit('.').next().unwrap_or_default().to_owned())
            .collect(),
        policy: &sidecar.policy,
    };
    facts.diagnose()
}

/// What a diagnosis is made from.
#[derive(Clone, Debug)]
pub(crate) struct Facts<'a> {
    pub nodes: u64,
    /// Nodes of which nothing tells where they come from.
    pub untold_nodes: u64,
    /// Nodes whose tag ends in a module that the policy chose.
    pub tagged_operations: u64,
    /// Modules below the root that show in tags.
    pub chosen_modules: usize,
    /// Classes of executed modules that do not show, one entry for each module.
    pub hidden_classes: Vec<String>,
    pub policy: &'a Policy,
}

impl Facts<'_> {
    pub(crate) fn diagnose(&self) -> Diagnosis {
        let level = match self.tagged_operations {
            0 if self.nodes > 0 => Level::Zero,
            tagged if (tagged as f64) < LOW * self.nodes as f64 => Level::Low,
            _ => Level::High,
        };
        if self.nodes > 0 && self.untold_nodes == self.nodes {
            let text = "no node records its module: the file has no tags and no sidecar. Tag it with `modelexport tag`, or export the model with `modelexport export`.";
            return Diagnosis { level, text: text.to_owned() };
        }
        let mut text = text(level, self);
        if self.nodes > 0 && self.untold_nodes as f64 >= PARTIAL * self.nodes as f64 {
            text.push_str(&format!(
                ". {} of {} nodes record no module, as after an optimizer: to restore their tags, run `modelexport tag \
                 --from` with the tagged file that this one was made from",
                self.untold_nodes, self.nodes
            ));
        }
        Diagnosis { level, text }
    }
}

fn text(level: Level, facts: &Facts<'_>) -> String {
    let Facts { nodes, tagged_operations, chosen_modules: chosen, policy, .. } = facts;
    let hidden = hidden_classes(&facts.hidden_classes);
    let preset = &policy.modules;
    match level {
        Level::Zero => format!(
            "no operation lies in a module that the preset `{preset}` shows, so that every node carries the tag of \
             the root.{} This is expected for plain PyTorch models.{}",
            listed(&hidden, " Hidden: ", "."),
            advice(policy)
        ),
        Level::High if *nodes == 0 => "the file has no operations".to_owned(),
        Level::Low | Level::High if *chosen == 0 => {
            let lie = operations_lie(*tagged_operations, *nodes);
            format!("{lie} in the root, and no module below it shows in tags")
        }
        Level::Low => format!(
            "{} in the {} that the preset `{preset}` shows; the others carry the tag of the root.{}{}",
            operations_lie(*tagged_operations, *nodes),
            counted(*chosen as u64, "module"),
            listed(&hidden, " Hidden: ", "."),
            advice(policy)
        ),
        Level::High => format!(
            "{} in {} below the root",
            operations_lie(*tagged_operations, *nodes),
            counted(*chosen as u64, "module")
        ),
    }
}

/// `3 of 4 operations lie`.
fn operations_lie(tagged: u64, nodes: u64) -> String {
    let verb = if nodes == 1 { "lies" } else { "lie" };
    format!("{} of {} {verb}", exact(tagged), counted(nodes, "operation"))
}

fn advice(policy: &Policy) -> &'static str {
    match policy.modules.as_str() {
        "all" => "",
        "model" => " Use --modules all, or --torch-nn-exceptions, to show them.",
        _ => " Use --modules model or all to show more.",
    }
}

/// Classes with how often they occur, the most frequent first.
fn hidden_classes(classes: &[String]) -> Vec<String> {
    let mut counts: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    for class in classes {
        *counts.entry(class).or_default() += 1;
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
    let more = match more {
        0 => String::new(),
        1 => " and 1 more class".to_owned(),
        more => format!(" and {more} more classes"),
    };
    let shown: Vec<&str> = items.iter().take(SHOWN).map(String::as_str).collect();
    format!("{before}{}{more}{after}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnosed(tagged_operations: u64, nodes: u64, chosen_modules: usize) -> String {
        let policy = Policy {
            modules: "all".into(),
            torch_nn_exceptions: Vec::new(),
            rules: None,
            tag_format: "instance".into(),
        };
        let hidden_classes = Vec::new();
        let facts = Facts {
            nodes,
            untold_nodes: 0,
            tagged_operations,
            chosen_modules,
            hidden_classes,
            policy: &policy,
        };
        facts.diagnose().text
    }

    #[test]
    fn none_one_and_many_read_right() {
        assert_eq!(diagnosed(0, 0, 0), "the file has no operations");
        assert_eq!(
            diagnosed(3, 3, 0),
            "3 of 3 operations lie in the root, and no module below it shows in tags"
        );
        assert_eq!(diagnosed(1, 1, 1), "1 of 1 operation lies in 1 module below the root");
        assert_eq!(diagnosed(1_200, 1_200, 2), "1,200 of 1,200 operations lie in 2 modules below the root");
        assert_eq!(
            diagnosed(1, 3, 1),
            "1 of 3 operations lie in the 1 module that the preset `all` shows; the others carry the tag of the root."
        );
        assert_eq!(
            diagnosed(1, 3, 2),
            "1 of 3 operations lie in the 2 modules that the preset `all` shows; the others carry the tag of the root."
        );
    }

    #[test]
    fn classes_that_are_left_out_are_counted() {
        let classes = |count: usize| (0..count).map(|at| format!("Class{at}")).collect::<Vec<_>>();
        let text = |count| listed(&hidden_classes(&classes(count)), "", "");
        assert!(text(5).ends_with(" and 1 more class"), "{}", text(5));
        assert!(text(6).ends_with(" and 2 more classes"), "{}", text(6));
    }
}
