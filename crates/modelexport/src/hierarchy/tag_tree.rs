//! Modules from tags alone, for files whose nodes carry nothing else.

use std::collections::HashMap;

use modelexport_graph::{ModuleId, ModuleTree, Name};

use crate::tags::AUXILIARY;

/// A module tree in which every tag is a module. Paths are made of the tags' segments: the real ones are not known.
#[derive(Debug, Default)]
pub(super) struct TagTree {
    pub tree: ModuleTree,
    by_tag: HashMap<Name, ModuleId>,
    /// By [`ModuleId`]; `None` for modules between segments.
    pub tags: Vec<Option<Name>>,
}

impl TagTree {
    /// The module that a tag names, made with all modules above it.
    pub(super) fn insert(&mut self, tag: &str) -> ModuleId {
        if let Some(&module) = self.by_tag.get(tag) {
            return module;
        }
        let tag = tag.strip_suffix(AUXILIARY).and_then(|root| root.strip_suffix('/')).unwrap_or(tag);
        let mut module = ModuleId::ROOT;
        let mut path = String::new();
        let mut end = 0;
        for (i, segment) in tag.split('/').skip(1).enumerate() {
            end += 1 + segment.len();
            if i > 0 {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(segment);
                module = self.tree.insert(&path);
            }
            self.tags.resize(self.tree.len(), None);
            self.describe(module, segment, tag.get(..end).unwrap_or(tag));
        }
        module
    }

    fn describe(&mut self, id: ModuleId, segment: &str, tag: &str) {
        let class = segment.split('.').next().unwrap_or(segment);
        if let Some(module) = self.tree.get_mut(id).filter(|module| module.class.is_empty()) {
            module.class = class.into();
        }
        if let Some(known) = self.tags.get_mut(id.0 as usize).filter(|known| known.is_none()) {
            let order = self.by_tag.len() as u32;
            if let Some(module) = self.tree.get_mut(id) {
                (module.order, module.calls) = (Some(order), 1);
            }
            let tag: Name = tag.into();
            *known = Some(tag.clone());
            self.by_tag.insert(tag, id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prefix_of_a_tag_is_a_module() {
        let mut tags = TagTree::default();
        let deep = tags.insert("/M/Encoder/Layer.0/Norm.attention.norm");
        assert_eq!(tags.insert("/M/Encoder/Layer.0/Norm.attention.norm"), deep);
        let encoder = tags.insert("/M/Encoder");
        let shown = |id| {
            let module = tags.tree.get(id).unwrap();
            (module.path.to_string(), module.class.to_string(), tags.tags[id.0 as usize].as_deref())
        };
        assert_eq!(shown(ModuleId::ROOT), ("".into(), "M".into(), Some("/M")));
        assert_eq!(shown(encoder), ("Encoder".into(), "Encoder".into(), Some("/M/Encoder")));
        assert_eq!(
            shown(deep),
            (
                "Encoder.Layer.0.Norm.attention.norm".into(),
                "Norm".into(),
                Some("/M/Encoder/Layer.0/Norm.attention.norm")
            )
        );
    }

    #[test]
    fn auxiliary_operations_belong_to_the_root() {
        let mut tags = TagTree::default();
        assert_eq!(tags.insert("/M/AuxiliaryOperations"), ModuleId::ROOT);
        assert_eq!(tags.tree.len(), 1);
    }
}
