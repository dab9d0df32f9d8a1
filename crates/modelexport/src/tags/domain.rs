//! Tags of domain rules, prepared per module so that a node only costs its own rules.

use modelexport_graph::{ModuleId, ModuleTree, Name};

use crate::rules::{DomainRule, Rules};

/// For each module the rules whose class matches it or a module above it.
#[derive(Clone, Debug)]
pub(super) struct DomainTags {
    rules: Vec<DomainRule>,
    /// By [`ModuleId`]: index into `sets`. Modules that add nothing share their parent's set.
    set_of: Vec<usize>,
    /// Indices into `rules`, ascending. The first set is empty.
    sets: Vec<Vec<usize>>,
}

impl DomainTags {
    pub(super) fn new(tree: &ModuleTree, rules: &Rules) -> Self {
        let mut tags = DomainTags { rules: rules.domain.clone(), set_of: Vec::new(), sets: vec![Vec::new()] };
        if tags.rules.is_empty() {
            return tags;
        }
        for (_, module) in tree.iter() {
            let inherited = module.parent.map_or(0, |parent| tags.set_index(parent));
            let set = tags.sets.get(inherited).map(Vec::as_slice).unwrap_or_default();
            let is_new = |i: &usize, rule: &DomainRule| !set.contains(i) && rule.class.matches(module);
            let own: Vec<usize> =
                tags.rules.iter().enumerate().filter(|(i, rule)| is_new(i, rule)).map(|(i, _)| i).collect();
            if own.is_empty() {
                tags.set_of.push(inherited);
                continue;
            }
            let mut set = [set, &own].concat();
            set.sort_unstable();
            tags.set_of.push(tags.sets.len());
            tags.sets.push(set);
        }
        tags
    }

    fn set_index(&self, module: ModuleId) -> usize {
        self.set_of.get(module.0 as usize).copied().unwrap_or(0)
    }

    /// In the order of the rules file.
    pub(super) fn of<'a>(
        &'a self,
        module: ModuleId,
        operators: &'a [&'a str],
    ) -> impl Iterator<Item = &'a Name> + 'a {
        let set = self.sets.get(self.set_index(module)).map(Vec::as_slice).unwrap_or_default();
        set.iter()
            .filter_map(|&i| self.rules.get(i))
            .filter(|rule| operators.iter().any(|operator| rule.operator.matches(operator)))
            .map(|rule| &rule.tag)
    }
}
