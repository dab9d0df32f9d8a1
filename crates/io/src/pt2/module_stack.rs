//! `nn_module_stack` of the nodes: the module calls that a node ran in.
//!
//! A stack is a list of frames joined by `;`, the root first, each `key,path,class`. The key ends in `@1` for the second
//! call under the same name, in `@2` for the third. With `strict=False` the key is `L__self__` and the path; with
//! `strict=True` it is a number. Keys and paths can contain commas: in brackets (`layers.slice(1, 3, None).0`) and in the
//! names of a `ModuleDict`.

use modelexport_graph::hash::HashMap;
use modelexport_graph::{ModuleId, ModuleTree, Name, ScopeId, Scopes};

use super::module_path::{Containers, plain_path};

/// Stands for a stack that torch could not tell; such nodes belong to the root.
const NO_STACK: &str = "_empty_nn_module_stack_from_metadata_hook";
/// What torch hangs the model into while it captures. In graphs inside nodes a capture by bytecode leaves the name.
const EXPORT_ROOT: &str = "_export_root";
/// Starts the key of a frame in most captures.
const KEY_PREFIX: &str = "L__self__";

/// The module tree and the tree of calls while the nodes are read.
pub(super) struct ModuleStacks {
    tree: ModuleTree,
    scopes: Scopes,
    containers: Containers,
    by_text: HashMap<Box<str>, Option<ScopeId>>,
    /// Number of each call of a module. One module may be reached under several names (`layers.1` and the first of
    /// `layers[1:]`), each of which torch counts on its own.
    calls: HashMap<(ModuleId, Box<str>, u32), u32>,
    seen_calls: HashMap<ModuleId, u32>,
    executed: u32,
}

struct Frame<'a> {
    path: &'a str,
    class: &'a str,
    call: u32,
}

impl ModuleStacks {
    /// `paths`: qualified names of all modules, as far as the archive lists them.
    pub fn new<'a>(paths: impl Iterator<Item = &'a str>) -> Self {
        let mut tree = ModuleTree::new();
        for path in paths {
            tree.insert(split_call(path).0);
        }
        ModuleStacks {
            containers: Containers::new(&tree),
            tree,
            scopes: Scopes::new(),
            by_text: HashMap::default(),
            calls: HashMap::default(),
            seen_calls: HashMap::default(),
            executed: 0,
        }
    }

    /// The call that a node with this stack ran in; `None` if the text says that it is not known.
    pub fn scope(&mut self, text: &str) -> Result<Option<ScopeId>, NotAStack> {
        if let Some(known) = self.by_text.get(text) {
            return Ok(*known);
        }
        let mut scope = None;
        for entry in text.split(';') {
            let frame = parse_frame(entry).ok_or(NotAStack)?;
            if frame.path == NO_STACK {
                continue;
            }
            scope = Some(self.enter(scope.unwrap_or(Scopes::ROOT), &frame));
        }
        self.by_text.insert(text.into(), scope);
        Ok(scope)
    }

    /// The same for a node of a graph inside a node. There, a stack may begin in the function that is the graph, with
    /// paths as Python reaches modules (`L['f'].__closure__[0].cell_contents.layer`): it tells nothing. Frames of modules
    /// that are no part of the model are left out.
    pub fn scope_in_branch(&mut self, text: &str) -> Result<Option<ScopeId>, NotAStack> {
        let mut known = Vec::new();
        for entry in text.split(';') {
            let frame = parse_frame(entry).ok_or(NotAStack)?;
            let path = plain_path(self.without_export_root(frame.path), &self.containers);
            if known.is_empty() && !path.is_empty() {
                return Ok(None);
            }
            known.extend(self.tree.find(&path).map(|_| entry));
        }
        self.scope(&known.join(";"))
    }

    /// A path without the name of what torch hung the model into.
    fn without_export_root<'t>(&self, path: &'t str) -> &'t str {
        match path.strip_prefix(EXPORT_ROOT) {
            Some("") if self.tree.find(EXPORT_ROOT).is_none() => "",
            Some(rest) if self.tree.find(EXPORT_ROOT).is_none() => rest.strip_prefix('.').unwrap_or(path),
            _ => path,
        }
    }

    /// The path of the module that a call is of.
    pub fn path(&self, scope: ScopeId) -> Name {
        self.tree.get(self.scopes.module(scope)).map_or_else(|| "".into(), |module| module.path.clone())
    }

    fn enter(&mut self, parent: ScopeId, frame: &Frame<'_>) -> ScopeId {
        let path = self.without_export_root(frame.path);
        let (spelled, number) = (Box::from(path), frame.call);
        let id = self.tree.insert(&plain_path(path, &self.containers));
        self.execute(id, frame.class);
        if id == ModuleId::ROOT {
            return Scopes::ROOT;
        }
        let key = (id, spelled, number);
        let call = match self.calls.get(&key) {
            Some(&call) => call,
            None => {
                let next = self.seen_calls.entry(id).or_insert(0);
                let call = *next;
                *next += 1;
                if let Some(module) = self.tree.get_mut(id) {
                    // Calls that left no node behind still count: torch numbers them all.
                    module.calls = module.calls.max(frame.call.saturating_add(1)).max(*next);
                }
                self.calls.insert(key, call);
                call
            }
        };
        self.scopes.child(parent, id, call)
    }

    fn execute(&mut self, id: ModuleId, class: &str) {
        let order = self.executed;
        let Some(module) = self.tree.get_mut(id) else { return };
        if module.order.is_none() {
            module.order = Some(order);
            module.class = Name::from(class);
            module.calls = module.calls.max(1);
            self.executed += 1;
        }
    }

    pub fn finish(self) -> (ModuleTree, Scopes) {
        (self.tree, self.scopes)
    }
}

/// The text is not a list of `key,path,class`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotAStack;

/// `layer@1` is `layer` and 1.
fn split_call(key: &str) -> (&str, u32) {
    match key.rsplit_once('@').and_then(|(base, call)| Some((base, call.parse().ok()?))) {
        Some(split) => split,
        None => (key, 0),
    }
}

fn parse_frame(entry: &str) -> Option<Frame<'_>> {
    let (key_and_path, class) = entry.rsplit_once(',')?;
    // A comma in a name stands in the key and in the path; the right comma is the one with the same name on both sides.
    let repeats = |(at, _): &(usize, &str)| {
        let key = key_and_path.get(..*at).map(|key| split_call(key).0);
        let path = key_and_path.get(at + 1..);
        key.and_then(|key| key.strip_prefix(KEY_PREFIX)) == path
    };
    let comma = key_and_path
        .match_indices(',')
        .find(repeats)
        .map(|(at, _)| at)
        .or_else(|| comma_outside_brackets(key_and_path))?;
    let (_, call) = split_call(key_and_path.get(..comma)?);
    Some(Frame { path: key_and_path.get(comma + 1..)?, class, call })
}

fn comma_outside_brackets(text: &str) -> Option<usize> {
    let mut depth = 0i32;
    text.char_indices().find_map(|(at, character)| {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => return Some(at),
            _ => {}
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "L__self__,,app.Model";

    fn stacks(paths: &[&str]) -> ModuleStacks {
        ModuleStacks::new(paths.iter().copied())
    }

    fn path_of(stacks: &ModuleStacks, scope: ScopeId) -> String {
        stacks.tree.get(stacks.scopes.module(scope)).unwrap().path.to_string()
    }

    #[test]
    fn the_deepest_frame_is_the_scope() {
        let mut stacks = stacks(&["encoder", "encoder.0"]);
        let text =
            format!("{ROOT};L__self__encoder,encoder,app.Encoder;L__self__encoder.0,encoder.0,app.Layer");
        let scope = stacks.scope(&text).unwrap().unwrap();
        assert_eq!(path_of(&stacks, scope), "encoder.0");
        assert_eq!(stacks.scopes.chain(scope).len(), 3);
        let (tree, _) = stacks.finish();
        let shown: Vec<_> =
            tree.iter().map(|(_, m)| (m.path.to_string(), m.class.to_string(), m.order, m.calls)).collect();
        assert_eq!(
            shown,
            [
                ("".into(), "app.Model".into(), Some(0), 1),
                ("encoder".into(), "app.Encoder".into(), Some(1), 1),
                ("encoder.0".into(), "app.Layer".into(), Some(2), 1)
            ]
        );
    }

    #[test]
    fn a_second_call_is_another_scope_of_the_same_module() {
        for (first, second) in [("L__self__l", "L__self__l@1"), ("140214", "140214@1")] {
            let mut stacks = stacks(&["l"]);
            let first = stacks.scope(&format!("{ROOT};{first},l,app.Layer")).unwrap().unwrap();
            let second = stacks.scope(&format!("{ROOT};{second},l,app.Layer")).unwrap().unwrap();
            assert_ne!(first, second);
            assert_eq!(stacks.scopes.module(first), stacks.scopes.module(second));
            assert_eq!(stacks.scopes.get(second).call, 1);
            let (tree, _) = stacks.finish();
            assert_eq!(tree.get(tree.find("l").unwrap()).unwrap().calls, 2);
        }
    }

    #[test]
    fn a_call_without_nodes_counts() {
        let mut stacks = stacks(&["l"]);
        stacks.scope(&format!("{ROOT};L__self__l@2,l,app.Layer")).unwrap();
        let (tree, _) = stacks.finish();
        assert_eq!(tree.get(tree.find("l").unwrap()).unwrap().calls, 3);
    }

    #[test]
    fn a_slice_of_a_list_is_the_module_itself() {
        let mut stacks = stacks(&["layers.0", "layers.1", "layers.2", "layers.3"]);
        let direct = stacks.scope(&format!("{ROOT};L__self__layers.1,layers.1,app.Layer")).unwrap().unwrap();
        let sliced = "L__self__layers.slice(1, 3, None).0,layers.slice(1, 3, None).0,app.Layer";
        let sliced = stacks.scope(&format!("{ROOT};{sliced}")).unwrap().unwrap();
        assert_eq!(path_of(&stacks, sliced), "layers.1");
        assert_ne!(direct, sliced, "two calls");
        assert_eq!(stacks.finish().0.len(), 6, "no module of its own");
    }

    #[test]
    fn commas_in_names_do_not_split() {
        let mut stacks = stacks(&["d.x,y"]);
        let text = format!("{ROOT};L__self__d.x,y@1,d.x,y,app.Layer");
        let scope = stacks.scope(&text).unwrap().unwrap();
        assert_eq!(path_of(&stacks, scope), "d.x,y");
        for frame in ["139892180672912,d.x,y,app.Layer", "L__self___d_x_y,L['self'].d['x,y'],app.Layer"] {
            let scope = stacks.scope(&format!("{ROOT};{frame}")).unwrap().unwrap();
            assert_eq!(path_of(&stacks, scope), "d.x,y", "{frame}");
        }
    }

    #[test]
    fn an_empty_stack_is_unknown() {
        let mut stacks = stacks(&[]);
        assert_eq!(stacks.scope(&[NO_STACK; 3].join(",")), Ok(None));
        assert_eq!(stacks.finish().0.len(), 1);
    }

    #[test]
    fn the_wrapper_of_a_capture_is_no_module() {
        let mut stacks = stacks(&["", "block", "block.fc"]);
        let outside = format!("{ROOT};7,block,app.Block");
        let outside = stacks.scope(&outside).unwrap().unwrap();
        let frames = "5,_export_root,app.Model;7,_export_root.block,app.Block;9,_export_root.block.fc,app.Fc";
        let inside = stacks.scope_in_branch(&format!("{ROOT};{frames}")).unwrap().unwrap();
        assert_eq!(path_of(&stacks, inside), "block.fc");
        assert_eq!(stacks.scopes.get(inside).parent, Some(outside), "the same call");
        assert_eq!(stacks.finish().0.len(), 3, "no module of its own");
        let mut own = super::ModuleStacks::new(["", "_export_root"].into_iter());
        let scope = own.scope_in_branch(&format!("{ROOT};5,_export_root,app.Part")).unwrap().unwrap();
        assert_eq!(path_of(&own, scope), "_export_root", "a module that is called so");
    }

    #[test]
    fn paths_of_no_module_tell_nothing_in_a_branch() {
        let mut stacks = stacks(&["", "block"]);
        let closure = "7,L['f'].__closure__[0].cell_contents.block,app.Block";
        assert_eq!(stacks.scope_in_branch(closure), Ok(None));
        let stray = format!("{ROOT};7,_export_root.block,app.Block;8,_export_root.hidden[0],app.Stray");
        let scope = stacks.scope_in_branch(&stray).unwrap().unwrap();
        assert_eq!(path_of(&stacks, scope), "block", "the caller of a module that is no part of the model");
        assert_eq!(stacks.scope_in_branch("a,b"), Err(NotAStack));
        assert_eq!(stacks.finish().0.len(), 2);
    }

    #[test]
    fn other_text_is_refused() {
        for text in ["", "L__self__", "a,b", "L__self__,,app.Model;"] {
            assert_eq!(stacks(&[]).scope(text), Err(NotAStack), "{text:?}");
        }
    }

    #[test]
    fn a_listed_call_is_no_module() {
        let (tree, _) = stacks(&["", "l", "l@1"]).finish();
        assert_eq!(tree.len(), 2);
    }
}
