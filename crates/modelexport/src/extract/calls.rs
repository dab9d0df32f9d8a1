//! The calls of the selected modules that are extracted.

use std::collections::HashMap;

use modelexport_graph::{ModuleId, ScopeId};

use super::Error;
use crate::embedding;
use crate::tagged_file::TaggedFile;

/// The calls to cut out.
#[derive(Clone, Debug)]
pub(super) struct Calls {
    /// The outermost calls, each with the number that users know it by.
    pub chosen: Vec<(ScopeId, u32)>,
    /// By [`ScopeId`]: a chosen call, or one made from it.
    pub is_inside: Vec<bool>,
    pub notes: Vec<String>,
}

impl Calls {
    /// The same by the names that nodes carry.
    pub(crate) fn inside<'a>(&self, file: &'a TaggedFile) -> Inside<'a> {
        let hierarchy = &file.hierarchy;
        let path = |module| hierarchy.tree.get(module).map_or("", |module| &module.path);
        let mut calls = HashMap::new();
        for ((_, scope), is_inside) in hierarchy.scopes.iter().zip(&self.is_inside) {
            calls.insert((path(scope.module), scope.call), *is_inside);
        }
        let chosen = self.chosen.iter().map(|(scope, _)| path(hierarchy.scopes.module(*scope))).collect();
        Inside { calls, chosen }
    }
}

/// Which calls are inside, by path and number.
pub(super) struct Inside<'a> {
    /// The calls that left nodes.
    calls: HashMap<(&'a str, u32), bool>,
    /// Paths of the chosen modules.
    chosen: Vec<&'a str>,
}

impl Inside<'_> {
    /// A call that left no nodes belongs to the module above it.
    pub(crate) fn holds(&self, path: &str, call: u32) -> bool {
        match self.calls.get(&(path, call)) {
            Some(is_inside) => *is_inside,
            None => self.is_below(path),
        }
    }

    /// Whether a module is a chosen one or lies in one.
    pub(crate) fn is_below(&self, path: &str) -> bool {
        self.chosen.iter().any(|chosen| {
            let rest = path.strip_prefix(chosen);
            chosen.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }
}

pub(super) fn choose(file: &TaggedFile, modules: &[ModuleId], call: Option<u32>) -> Result<Calls, Error> {
    let hierarchy = &file.hierarchy;
    let has_nodes = has_nodes(file);
    let mut is_module = vec![false; hierarchy.tree.len()];
    for module in modules {
        if let Some(chosen) = is_module.get_mut(module.0 as usize) {
            *chosen = true;
        }
    }
    let holds = |flags: &[bool], id: usize| flags.get(id).copied().unwrap_or(false);
    // Calls of a chosen module that are made inside a chosen one come along with that one.
    let mut below: Vec<bool> = Vec::with_capacity(hierarchy.scopes.len());
    let mut outermost: Vec<ScopeId> = Vec::new();
    for (id, scope) in hierarchy.scopes.iter() {
        let is_below = scope.parent.is_some_and(|parent| holds(&below, parent.0 as usize));
        let is_chosen = holds(&is_module, scope.module.0 as usize);
        below.push(is_below || is_chosen);
        if is_chosen && !is_below && holds(&has_nodes, id.0 as usize) {
            outermost.push(id);
        }
    }
    let mut chosen = Vec::new();
    let mut notes = Vec::new();
    let mut missing = None;
    for &module in modules {
        let scopes: Vec<ScopeId> =
            outermost.iter().copied().filter(|id| hierarchy.scopes.module(*id) == module).collect();
        let is_inside_another = || {
            let mut all = hierarchy.scopes.iter().filter(|(_, scope)| scope.module == module);
            all.any(|(_, scope)| scope.parent.is_some_and(|parent| holds(&below, parent.0 as usize)))
        };
        match pick(file, module, &scopes, call)? {
            Some(found) => chosen.push(found),
            None if is_inside_another() => {}
            None => {
                let error = nothing(file, module);
                notes.push(format!("left out: {error}"));
                missing.get_or_insert(error);
            }
        }
    }
    if chosen.is_empty()
        && let Some(error) = missing
    {
        return Err(error);
    }
    let mut is_inside: Vec<bool> = Vec::with_capacity(hierarchy.scopes.len());
    for (id, scope) in hierarchy.scopes.iter() {
        let is_below = scope.parent.is_some_and(|parent| holds(&is_inside, parent.0 as usize));
        is_inside.push(is_below || chosen.iter().any(|(found, _)| *found == id));
    }
    Ok(Calls { chosen, is_inside, notes })
}

/// The call of `module` that is meant.
fn pick(
    file: &TaggedFile,
    module: ModuleId,
    scopes: &[ScopeId],
    call: Option<u32>,
) -> Result<Option<(ScopeId, u32)>, Error> {
    let numbers = numbers(file, scopes);
    let name = || name(file, module);
    match (scopes, call) {
        ([], _) => Ok(None),
        ([only], None) => Ok(Some((*only, numbers.first().copied().unwrap_or(0)))),
        (_, None) => Err(Error::SeveralCalls { module: name(), calls: numbers }),
        (_, Some(call)) => match scopes.iter().zip(&numbers).find(|(_, number)| **number == call) {
            Some((found, _)) => Ok(Some((*found, call))),
            None => Err(Error::NoSuchCall { module: name(), call, calls: numbers }),
        },
    }
}

/// The numbers of calls, as the file tells them; counted where it gives one number to two calls.
fn numbers(file: &TaggedFile, scopes: &[ScopeId]) -> Vec<u32> {
    let told: Vec<u32> = scopes.iter().map(|id| file.hierarchy.scopes.get(*id).call).collect();
    let mut sorted = told.clone();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() == told.len() { told } else { (0..scopes.len() as u32).collect() }
}

/// Why there is nothing to cut.
fn nothing(file: &TaggedFile, module: ModuleId) -> Error {
    let was_executed = file.hierarchy.tree.get(module).is_some_and(|module| module.order.is_some());
    let path = file.hierarchy.tree.get(module).map_or("", |module| &module.path);
    let mut fused = None;
    file.model.graph.for_each_node(&mut |node| {
        let modules = embedding::fused(&node.metadata);
        if modules.iter().any(|other| other == path) {
            fused.get_or_insert((node.name.to_string(), modules));
        }
    });
    let module = name(file, module);
    if let Some((node, mut others)) = fused {
        others.retain(|other| *other != module);
        return Error::FusedAway { module, node, others: others.join("`, `") };
    }
    if was_executed { Error::NoNodes { module } } else { Error::NotExecuted { module } }
}

/// By [`ScopeId`]: there are nodes of the call, or of one that it made. Functions are not looked into.
fn has_nodes(file: &TaggedFile) -> Vec<bool> {
    let scopes = &file.hierarchy.scopes;
    let mut found = vec![false; scopes.len()];
    file.model.graph.for_each_node(&mut |node| {
        if let Some(slot) = file.scope(node).and_then(|scope| found.get_mut(scope.0 as usize)) {
            *slot = true;
        }
    });
    for id in (0..found.len()).rev() {
        if found.get(id) == Some(&true)
            && let Some(parent) = scopes.get(ScopeId(id as u32)).parent
            && let Some(slot) = found.get_mut(parent.0 as usize)
        {
            *slot = true;
        }
    }
    found
}

/// How messages name a module.
pub(super) fn name(file: &TaggedFile, module: ModuleId) -> String {
    let module = file.hierarchy.tree.get(module);
    let path = module.map_or("", |module| &module.path);
    shown(path).to_owned()
}

/// How messages show a path.
pub(super) fn shown(path: &str) -> &str {
    if path.is_empty() { "(root)" } else { path }
}

/// The same for several.
pub(super) fn names(file: &TaggedFile, modules: &[ModuleId]) -> String {
    let names: Vec<String> = modules.iter().map(|module| name(file, *module)).collect();
    names.join(", ")
}
