//! The tag of every module of a tagged file.
//!
//! The sidecar lists the tags. Without a sidecar, a policy is searched that reproduces the tags of the nodes. If there is none
//! (the user's own rules), a tag belongs to the deepest module that contains all nodes with this tag. A policy that reproduces
//! the listed tags is preferred to the list, because it also explains why a module is visible.

use std::collections::BTreeMap;

use modelexport_graph::{ModuleId, Name};
use modelexport_io::sidecar::{self, Sidecar};

use crate::hierarchy::Hierarchy;
use crate::policy::{Policy, Preset};
use crate::rules::Rules;
use crate::tags::{TagFormat, Tags};

/// A policy fits if it is wrong for less than one node in so many.
const FEW: u64 = 10;

pub(super) fn tags(hierarchy: &Hierarchy, sidecar: Option<&Sidecar>) -> Tags {
    if let Some(tags) = &hierarchy.tags_only {
        return tags.clone();
    }
    if let Some(sidecar) = sidecar {
        return of_sidecar(hierarchy, sidecar);
    }
    let default = Tags::new(&hierarchy.tree, &Policy::default(), TagFormat::Instance);
    if hierarchy.nodes_tagged_otherwise(&default) == 0 {
        return default;
    }
    matching_policy(hierarchy).unwrap_or_else(|| {
        Tags::recorded(&hierarchy.tree, &from_nodes(hierarchy, default.tag(ModuleId::ROOT)))
    })
}

fn of_sidecar(hierarchy: &Hierarchy, sidecar: &Sidecar) -> Tags {
    let tree = &hierarchy.tree;
    let policy = &sidecar.policy;
    if let (Some(preset), Some(format)) =
        (Preset::from_name(&policy.modules), TagFormat::from_name(&policy.tag_format))
    {
        let exceptions = Some(policy.torch_nn_exceptions.clone());
        let made = Tags::new(tree, &Policy::new(Some(preset), exceptions, Rules::default()), format);
        let agrees = |module: &sidecar::Module| {
            tree.find(&module.path)
                .is_some_and(|id| *made.tag(id) == module.tag && made.is_visible(id) == module.visible)
        };
        if sidecar.modules.iter().all(agrees) {
            return made.with_policy(policy);
        }
    }
    Tags::recorded(tree, &from_sidecar(hierarchy, sidecar)).with_policy(policy)
}

/// By [`ModuleId`]: the tag of each module that the sidecar shows.
fn from_sidecar(hierarchy: &Hierarchy, sidecar: &Sidecar) -> Vec<Option<Name>> {
    let mut recorded = vec![None; hierarchy.tree.len()];
    for module in sidecar.modules.iter().filter(|module| module.visible) {
        let id = hierarchy.tree.find(&module.path);
        if let Some(tag) = id.and_then(|id| recorded.get_mut(id.0 as usize)) {
            *tag = Some(module.tag.clone());
        }
    }
    recorded
}

/// The tags of the policy without rules under which the fewest nodes would have another tag, if these are few: then it
/// is they that carry a wrong one.
fn matching_policy(hierarchy: &Hierarchy) -> Option<Tags> {
    let choices = TagFormat::ALL.into_iter().flat_map(|format| {
        let of_preset = move |preset| [(preset, None, format), (preset, Some(Vec::new()), format)];
        Preset::ALL.into_iter().flat_map(of_preset)
    });
    let tags = choices.map(|(preset, exceptions, format)| {
        let policy = Policy::new(Some(preset), exceptions, Rules::default());
        Tags::new(&hierarchy.tree, &policy, format)
    });
    let all: u64 = hierarchy.recorded_tags.iter().map(|recorded| recorded.nodes).sum();
    let (otherwise, best) = tags
        .map(|tags| (hierarchy.nodes_tagged_otherwise(&tags), tags))
        .min_by_key(|(otherwise, _)| *otherwise)?;
    (otherwise.saturating_mul(FEW) <= all).then_some(best)
}

/// By [`ModuleId`]: the tags that nodes carry, each at the deepest module that holds all its nodes.
fn from_nodes(hierarchy: &Hierarchy, root_tag: &Name) -> Vec<Option<Name>> {
    let mut owners: BTreeMap<&Name, ModuleId> = BTreeMap::new();
    for entry in &hierarchy.recorded_tags {
        let owner = owners.entry(&entry.tag).or_insert(entry.module);
        *owner = hierarchy.tree.lowest_common_ancestor(*owner, entry.module);
    }
    let mut recorded: Vec<Option<Name>> = vec![None; hierarchy.tree.len()];
    for (tag, owner) in owners {
        // A shorter tag comes first, and keeps a module that two tags claim.
        if let Some(known) = recorded.get_mut(owner.0 as usize).filter(|known| known.is_none()) {
            *known = Some(tag.clone());
        }
    }
    if let Some(root) = recorded.first_mut() {
        root.get_or_insert_with(|| root_tag.clone());
    }
    recorded
}
