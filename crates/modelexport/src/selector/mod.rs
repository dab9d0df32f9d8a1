//! Selectors: how users name modules, the same in every command.
//!
//! | selector | chooses |
//! |---|---|
//! | `encoder.layer.*.attention` | modules by path; `*` is one part or a piece of it, `**` any number of parts |
//! | `class:BertLayer` | modules by class; a name with a dot is the whole class, `*` crosses dots |
//! | `/BertModel/BertEncoder` | modules by tag; `*` is one segment, a segment without its suffix is any instance |
//! | `depth:2` | modules at that depth; the root is at 0 |
//! | `.` | the root |
//!
//! Several are joined by commas: `embeddings,class:BertLayer`. A module that some of them choose is chosen once.

mod error;
mod near;
mod parse;
mod tag_pattern;

use modelexport_graph::{ModuleId, ModuleTree};

use crate::pattern::{ClassPattern, PathPattern};
use crate::tags::Tags;
use near::Candidates;
use tag_pattern::TagPattern;

pub(crate) use error::Error;
pub(crate) use near::near_matches;

/// A selector that was read, and not yet looked up.
#[derive(Clone, Debug)]
pub(crate) struct Selector {
    /// One or more; never empty.
    terms: Vec<Term>,
}

#[derive(Clone, Debug)]
struct Term {
    /// As the user wrote it.
    text: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Root,
    Path(PathPattern),
    Class(ClassPattern),
    Tag(TagPattern),
    Depth(usize),
}

impl Selector {
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        parse::selector(text)
    }

    /// The modules that are chosen, in the order of the tree. Each part of the selector must choose at least one;
    /// the error lists what comes near.
    pub(crate) fn resolve(&self, tree: &ModuleTree, tags: &Tags) -> Result<Vec<ModuleId>, Error> {
        let depths = depths(tree);
        let mut is_chosen = vec![false; tree.len()];
        for term in &self.terms {
            let mut found = false;
            for ((id, _), chosen) in tree.iter().zip(&mut is_chosen) {
                if term.chooses(id, tree, tags, &depths) {
                    (found, *chosen) = (true, true);
                }
            }
            if !found {
                return Err(term.no_match(tree, tags, &depths));
            }
        }
        Ok(tree.iter().zip(is_chosen).filter(|(_, chosen)| *chosen).map(|((id, _), _)| id).collect())
    }
}

/// By [`ModuleId`]: how far a module is from the root.
pub(crate) fn depths(tree: &ModuleTree) -> Vec<usize> {
    let mut depths: Vec<usize> = Vec::with_capacity(tree.len());
    for (_, module) in tree.iter() {
        let above = module.parent.and_then(|parent| depths.get(parent.0 as usize));
        depths.push(above.map_or(0, |depth| depth + 1));
    }
    depths
}

impl Term {
    fn chooses(&self, id: ModuleId, tree: &ModuleTree, tags: &Tags, depths: &[usize]) -> bool {
        match &self.kind {
            Kind::Root => id == ModuleId::ROOT,
            Kind::Path(pattern) => {
                let path = tree.get(id).map(|module| &*module.path);
                id != ModuleId::ROOT && path.is_some_and(|path| pattern.matches(path))
            }
            Kind::Class(pattern) => tree.get(id).is_some_and(|module| pattern.matches(module)),
            Kind::Tag(pattern) => tags.is_visible(id) && pattern.matches(tags.tag(id)),
            Kind::Depth(depth) => depths.get(id.0 as usize) == Some(depth),
        }
    }

    fn no_match(&self, tree: &ModuleTree, tags: &Tags, depths: &[usize]) -> Error {
        let selector = self.text.clone();
        let mut candidates = Candidates::default();
        let wanted = match &self.kind {
            Kind::Depth(_) => {
                let deepest = depths.iter().copied().max().unwrap_or(0);
                return Error::TooDeep { selector, deepest };
            }
            Kind::Class(_) => {
                tree.iter().for_each(|(_, module)| candidates.add(module.class_name()));
                self.text.strip_prefix(parse::CLASS).unwrap_or(&self.text)
            }
            Kind::Tag(_) => {
                let visible = tree.iter().filter(|(id, _)| tags.is_visible(*id));
                visible.for_each(|(id, _)| candidates.add(tags.tag(id)));
                &self.text
            }
            Kind::Root | Kind::Path(_) => {
                tree.iter().for_each(|(_, module)| candidates.add(&module.path));
                // A class without its prefix is a likely slip.
                let is_class = |name: &str| tree.iter().any(|(_, module)| module.class_name() == name);
                if is_class(&self.text) {
                    return Error::NoMatch { near: vec![format!("{}{selector}", parse::CLASS)], selector };
                }
                &self.text
            }
        };
        let prefix = if matches!(self.kind, Kind::Class(_)) { parse::CLASS } else { "" };
        let near = candidates.nearest(wanted).into_iter().map(|text| format!("{prefix}{text}")).collect();
        Error::NoMatch { selector, near }
    }
}

#[cfg(test)]
mod tests;
