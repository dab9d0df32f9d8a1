//! Whether the file itself names modules that the evidence does not have, or gives them other classes.

use std::collections::HashSet;

use super::super::enhanced_semantic::scope_names::{ScopeNames, all_paths};
use super::super::{Context, Evidence};

/// What a file says of modules.
#[derive(Debug, Default)]
pub(super) struct Claims {
    /// Those of them that the evidence does not have.
    unknown: Vec<String>,
    /// Modules that have another class in the evidence: path, class in the file, class in the evidence.
    reclassed: Vec<(String, String, String)>,
}

impl Claims {
    pub(super) fn new(context: &Context<'_>) -> Self {
        let mut claims = Claims::default();
        if context.evidence.tags_only.is_some() {
            return claims;
        }
        claims.read_metadata(context);
        claims.read_scopes(context);
        claims
    }

    /// What of it the evidence contradicts, in words.
    pub(super) fn contradictions(&self) -> impl Iterator<Item = String> + '_ {
        let unknown = self
            .unknown
            .iter()
            .map(|path| format!("the file names the module {path}, which the evidence does not have"));
        let reclassed = self.reclassed.iter().map(|(path, here, there)| {
            format!("the module {path:?} is a {here} in the file and a {there} in the evidence")
        });
        unknown.chain(reclassed)
    }

    fn read_metadata(&mut self, context: &Context<'_>) {
        let tree = &context.evidence.modules;
        for (path, class) in context.graph.claimed_classes() {
            // A second call is written `path@1` in places.
            let first_call = path.split('@').next().unwrap_or(path);
            let Some(module) = tree.find(path).or_else(|| tree.find(first_call)).and_then(|id| tree.get(id))
            else {
                self.unknown.push(path.to_owned());
                continue;
            };
            let (here, there) = (class_name(class), class_name(&module.class));
            // Where nobody knew the class, the name of the attribute stands for it.
            let is_attribute = |class: &str| path.split('.').any(|part| part == class);
            let is_known = |class: &str| !class.is_empty() && !is_attribute(class);
            if is_known(here) && is_known(there) && here != there {
                self.reclassed.push((path.to_owned(), here.to_owned(), there.to_owned()));
            }
        }
    }

    fn read_scopes(&mut self, context: &Context<'_>) {
        let tree = &context.evidence.modules;
        let paths = all_paths(tree);
        let scopes = ScopeNames::new(tree, &paths);
        let (mut seen, mut told) = (HashSet::new(), HashSet::new());
        for id in context.graph.node_ids() {
            let name = context.graph.name(id);
            let scope = name.rsplit_once('/').map(|(scope, _)| scope).filter(|scope| scope.starts_with('/'));
            let Some(scope) = scope.filter(|scope| seen.insert(*scope)) else { continue };
            let unknown = scopes.unknown_part(name).filter(|_| !scope.is_empty());
            self.unknown.extend(unknown.filter(|unknown| told.insert(*unknown)).map(str::to_owned));
        }
    }
}

/// `Class` of `package.module.Class`.
fn class_name(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

/// The module that a name of an initializer says holds it, if the evidence does not have it, or has it as a module of
/// torch.nn without parameters: an `Identity` in the place of a norm, which a captured program may not give a class.
/// Names that exporters and tools make are no paths of attributes.
pub(super) fn unknown_owner<'n>(name: &'n str, evidence: &Evidence) -> Option<&'n str> {
    let (module, attribute) = name.rsplit_once('.')?;
    let is_word =
        |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let is_path = module.split('.').all(is_word) && is_word(attribute);
    let tree = &evidence.modules;
    let known = tree.find(module).and_then(|id| tree.get(id));
    let holds = known.is_some_and(|known| {
        let may_hold = !known.class.is_empty() && !known.class.starts_with("torch.nn.");
        may_hold || !known.parameters.is_empty() || !known.children.is_empty()
    });
    (is_path && evidence.tags_only.is_none() && !holds).then_some(module)
}
