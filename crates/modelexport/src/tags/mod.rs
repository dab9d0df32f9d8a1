//! The tag of every module: the path of visible modules from the root, by class name.
//!
//! A segment is `Class` or `Class.suffix`. The suffix distinguishes children of one class under one visible parent: the index
//! (`Layer.0`) if the indices differ, otherwise the attribute path below the visible parent (`Block.stage1.0`,
//! `Embedding.words`). A module whose attribute is a number always shows its index. The class contains no dot (see
//! [`segment`]), so `(class, suffix)` can be read back from a segment. Two modules under one parent differ in it, so no two
//! visible modules share a tag.

mod domain;
mod segment;

use std::collections::{HashMap, HashSet};

use modelexport_graph::{Module, ModuleId, ModuleTree, Name};
use modelexport_io::sidecar;

use crate::policy::{Policy, Verdict};
use domain::DomainTags;

/// Segment of a module whose class is not known.
const UNKNOWN_CLASS: &str = "Module";

/// Last segment of the tag for nodes that belong to no module: `/Root/AuxiliaryOperations`.
pub(crate) const AUXILIARY: &str = "AuxiliaryOperations";

/// How segments look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TagFormat {
    /// One tag for each module instance: `/Model/Encoder/Layer.0`.
    #[default]
    Instance,
    /// Classes only, so that instances of one class share a tag: `/Model/Encoder/Layer`.
    Class,
}

impl TagFormat {
    /// All formats.
    pub const ALL: [TagFormat; 2] = [TagFormat::Instance, TagFormat::Class];

    /// The name in options and in the sidecar.
    pub fn name(self) -> &'static str {
        match self {
            TagFormat::Instance => "instance",
            TagFormat::Class => "class",
        }
    }

    /// The format of this name.
    pub fn from_name(name: &str) -> Option<TagFormat> {
        TagFormat::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// The tags of one module tree under one policy.
#[derive(Clone, Debug)]
pub struct Tags {
    /// By [`ModuleId`].
    entries: Vec<Entry>,
    policy: sidecar::Policy,
    auxiliary: Name,
    domain: DomainTags,
}

#[derive(Clone, Debug)]
struct Entry {
    tag: Name,
    /// The nearest visible module from here up.
    owner: ModuleId,
    verdict: Verdict,
}

impl Tags {
    /// The tags of all modules of `tree`.
    pub fn new(tree: &ModuleTree, policy: &Policy, format: TagFormat) -> Self {
        let mut entries: Vec<Entry> = Vec::with_capacity(tree.len());
        let outline = Outline::new(tree, policy);
        for (id, module) in tree.iter() {
            let place = outline.place(id);
            let parent_tag = module.parent.and_then(|parent| entries.get(parent.0 as usize)).map(|e| &e.tag);
            let tag = match parent_tag {
                Some(tag) if place.owner != id => tag.clone(),
                _ => outline.tag(id, place, parent_tag, format).into(),
            };
            entries.push(Entry { tag, owner: place.owner, verdict: place.verdict });
        }
        Tags::from_entries(entries, tree, policy, format)
    }

    /// Tags that are given, by [`ModuleId`]; modules without one belong to the nearest above that has one.
    pub fn recorded(tree: &ModuleTree, recorded: &[Option<Name>]) -> Self {
        let mut entries: Vec<Entry> = Vec::with_capacity(tree.len());
        for ((id, module), tag) in tree.iter().zip(recorded) {
            let above = module.parent.and_then(|parent| entries.get(parent.0 as usize));
            let entry = match (tag, above) {
                (None, Some(above)) => Entry { verdict: Verdict::WithoutClass, ..above.clone() },
                _ => {
                    let tag = tag.clone().unwrap_or_else(|| format!("/{UNKNOWN_CLASS}").into());
                    Entry { tag, owner: id, verdict: Verdict::ShownInFile }
                }
            };
            entries.push(entry);
        }
        let policy = Policy::default();
        Tags::from_entries(entries, tree, &policy, TagFormat::Instance)
    }

    fn from_entries(entries: Vec<Entry>, tree: &ModuleTree, policy: &Policy, format: TagFormat) -> Self {
        let root_tag = entries.first().map_or_else(|| "/".into(), |root| root.tag.clone());
        let auxiliary = format!("{root_tag}/{AUXILIARY}").into();
        let policy_record = sidecar::Policy {
            modules: policy.preset().name().to_owned(),
            torch_nn_exceptions: policy.torch_nn_exceptions().to_vec(),
            rules: policy.rules().file_name.clone(),
            tag_format: format.name().to_owned(),
        };
        let domain = DomainTags::new(tree, policy.rules());
        Tags { entries, policy: policy_record, auxiliary, domain }
    }

    /// The same tags, said to be made with `policy`.
    pub fn with_policy(self, policy: &sidecar::Policy) -> Self {
        Tags { policy: policy.clone(), ..self }
    }

    /// The policy and format that the tags were made with, as the sidecar records them.
    pub fn policy(&self) -> &sidecar::Policy {
        &self.policy
    }

    /// The tag of the nodes of `module`: its own if it is visible, else that of the nearest visible module above.
    /// Unknown ids read as the root.
    pub fn tag(&self, module: ModuleId) -> &Name {
        self.entry(module).map_or(&self.auxiliary, |entry| &entry.tag)
    }

    /// The nearest visible module from `module` up.
    pub fn owner(&self, module: ModuleId) -> ModuleId {
        self.entry(module).map_or(ModuleId::ROOT, |entry| entry.owner)
    }

    pub(crate) fn verdict(&self, module: ModuleId) -> Verdict {
        self.entry(module).map_or(Verdict::ShownAsRoot, |entry| entry.verdict)
    }

    /// Whether `module` appears in tags.
    pub fn is_visible(&self, module: ModuleId) -> bool {
        self.verdict(module).is_visible()
    }

    /// Whether nodes of `module` count as tagged operations: their tag ends in a module that the policy chose, not
    /// in a root that shows only because a root always does.
    pub fn is_chosen(&self, module: ModuleId) -> bool {
        self.verdict(self.owner(module)) != Verdict::ShownAsRoot
    }

    /// The tag of nodes that belong to no module. No module has it.
    pub fn auxiliary(&self) -> &Name {
        &self.auxiliary
    }

    /// Tags that domain rules add to a node of `module`. `operators` are the names that the node's operator goes by.
    pub fn domain_tags<'a>(
        &'a self,
        module: ModuleId,
        operators: &'a [&'a str],
    ) -> impl Iterator<Item = &'a Name> + 'a {
        self.domain.of(module, operators)
    }

    fn entry(&self, module: ModuleId) -> Option<&Entry> {
        self.entries.get(module.0 as usize).or_else(|| self.entries.first())
    }
}

/// Where a module stands among the visible ones.
#[derive(Clone, Copy)]
struct VisibleParent {
    verdict: Verdict,
    owner: ModuleId,
    /// The nearest visible module strictly above; the root's is itself.
    parent: ModuleId,
}

/// What has to be known of all modules before the first tag can be written.
struct Outline<'a> {
    tree: &'a ModuleTree,
    policy: &'a Policy,
    places: Vec<VisibleParent>,
    /// Visible modules by visible parent and class name.
    groups: HashMap<(ModuleId, &'a str), Group>,
}

/// Children of one visible parent that look alike.
#[derive(Default)]
struct Group {
    /// Members whose attribute is a number, and whether two of these numbers are the same text.
    indexed: usize,
    indices_clash: bool,
    plain: usize,
}

impl<'a> Outline<'a> {
    fn new(tree: &'a ModuleTree, policy: &'a Policy) -> Self {
        let mut outline =
            Outline { tree, policy, places: Vec::with_capacity(tree.len()), groups: HashMap::new() };
        // The auxiliary tag is taken, so a class of that name needs a suffix.
        outline.groups.entry((ModuleId::ROOT, AUXILIARY)).or_default().plain += 1;
        let mut indices: HashSet<(ModuleId, &str, &str)> = HashSet::new();
        for (id, module) in tree.iter() {
            let parent = module.parent.map_or(ModuleId::ROOT, |parent| outline.place(parent).owner);
            let verdict = policy.judge(id, module);
            let owner = if verdict.is_visible() { id } else { parent };
            outline.places.push(VisibleParent { verdict, owner, parent });
            if owner != id || id == ModuleId::ROOT {
                continue;
            }
            let class = shown_class(policy, module);
            let group = outline.groups.entry((parent, class)).or_default();
            match index(module) {
                Some(index) => {
                    group.indexed += 1;
                    group.indices_clash |= !indices.insert((parent, class, index));
                }
                None => group.plain += 1,
            }
        }
        outline
    }

    fn place(&self, id: ModuleId) -> VisibleParent {
        let root =
            VisibleParent { verdict: Verdict::ShownAsRoot, owner: ModuleId::ROOT, parent: ModuleId::ROOT };
        self.places.get(id.0 as usize).copied().unwrap_or(root)
    }

    /// The tag of a visible module; `parent_tag` is the tag of the module above, visible or not.
    fn tag(
        &self,
        id: ModuleId,
        place: VisibleParent,
        parent_tag: Option<&Name>,
        format: TagFormat,
    ) -> String {
        let mut tag = parent_tag.map(|tag| tag.to_string()).unwrap_or_default();
        tag.push('/');
        let Some(module) = self.tree.get(id) else { return tag };
        let class = shown_class(self.policy, module);
        segment::push_class(&mut tag, class);
        if format == TagFormat::Instance
            && id != ModuleId::ROOT
            && let Some(suffix) = self.suffix(module, class, place.parent)
        {
            tag.push('.');
            segment::push_suffix(&mut tag, suffix);
        }
        tag
    }

    fn suffix(&self, module: &'a Module, class: &'a str, parent: ModuleId) -> Option<&'a str> {
        let group = self.groups.get(&(parent, class))?;
        match index(module) {
            Some(index) if !group.indices_clash => Some(index),
            None if group.plain == 1 && group.indexed == 0 => None,
            _ => Some(self.path_below(parent, module)),
        }
    }

    /// The attribute path from the module `ancestor` down to `module`.
    fn path_below(&self, ancestor: ModuleId, module: &'a Module) -> &'a str {
        match self.tree.get(ancestor) {
            Some(ancestor) if ancestor.parent.is_some() => {
                module.path.get(ancestor.path.len() + 1..).unwrap_or(&module.path)
            }
            _ => &module.path,
        }
    }
}

/// The last part of the path, if it is a number.
fn index(module: &Module) -> Option<&str> {
    let attribute = module.attribute();
    (!attribute.is_empty() && attribute.bytes().all(|byte| byte.is_ascii_digit())).then_some(attribute)
}

/// The name that a module goes by in tags, before escaping.
fn shown_class<'a>(policy: &'a Policy, module: &'a Module) -> &'a str {
    match policy.rules().rename(module).unwrap_or(module.class_name()) {
        "" => UNKNOWN_CLASS,
        name => name,
    }
}

#[cfg(test)]
mod tests;
