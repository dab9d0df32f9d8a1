//! Finds modules by their tags, for nodes that carry a tag and no module path.

use std::collections::HashMap;

use modelexport_graph::{ModuleId, Name};

use super::Evidence;
use crate::policy::{Policy, Preset};
use crate::rules::Rules;
use crate::tags::{TagFormat, Tags};

/// Tags of all policies that name one module each; made when the first node needs them.
pub(super) struct TagNames<'a> {
    evidence: &'a Evidence,
    by_tag: Option<HashMap<Name, ModuleId>>,
}

impl<'a> TagNames<'a> {
    pub(super) fn new(evidence: &'a Evidence) -> Self {
        TagNames { evidence, by_tag: None }
    }

    /// The module that a tag names, or the nearest above that one of its beginnings names.
    pub(super) fn module(&mut self, tag: &str) -> Option<ModuleId> {
        let by_tag = self.by_tag.get_or_insert_with(|| collect(self.evidence));
        let mut tag = tag;
        while !tag.is_empty() {
            if let Some(&module) = by_tag.get(tag) {
                return Some(module);
            }
            tag = tag.rsplit_once('/').map(|(above, _)| above)?;
        }
        None
    }
}

fn collect(evidence: &Evidence) -> HashMap<Name, ModuleId> {
    let tree = &evidence.modules;
    let mut by_tag = HashMap::new();
    if let Some(tags) = &evidence.tags_only {
        tree.iter().for_each(|(id, _)| {
            by_tag.entry(tags.tag(id).clone()).or_insert(id);
        });
        return by_tag;
    }
    for preset in Preset::ALL {
        let policy = Policy::new(Some(preset), None, Rules::default());
        let tags = Tags::new(tree, &policy, TagFormat::Instance);
        for (id, _) in tree.iter().filter(|(id, _)| tags.is_visible(*id)) {
            by_tag.entry(tags.tag(id).clone()).or_insert(id);
        }
    }
    by_tag
}
