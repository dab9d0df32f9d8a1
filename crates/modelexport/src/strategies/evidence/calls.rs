//! Questions about the tree of module calls, answered without walking it from the root.

use modelexport_graph::{ModuleId, ModuleTree, Name, ScopeId, Scopes};

/// The tree of calls with depths, and a call for every module.
#[derive(Clone, Debug)]
pub struct Calls {
    /// By [`ScopeId`].
    entries: Vec<Entry>,
    /// By [`ModuleId`]: its first call, or where it would be called if it never ran.
    first: Vec<ScopeId>,
}

#[derive(Clone, Debug)]
struct Entry {
    parent: ScopeId,
    depth: u32,
    module: ModuleId,
    class: Name,
}

impl Calls {
    /// Every module gets a call: those without one are entered in `scopes` below their parent's.
    pub fn new(tree: &ModuleTree, scopes: &mut Scopes) -> Self {
        let mut first: Vec<Option<ScopeId>> = vec![None; tree.len()];
        for (id, scope) in scopes.iter() {
            if let Some(first) = first.get_mut(scope.module.0 as usize) {
                first.get_or_insert(id);
            }
        }
        let mut all: Vec<ScopeId> = Vec::with_capacity(tree.len());
        for ((id, module), known) in tree.iter().zip(first) {
            let above = module.parent.and_then(|parent| all.get(parent.0 as usize)).copied();
            all.push(match (known, above) {
                (Some(known), _) => known,
                (None, Some(above)) => scopes.child(above, id, 0),
                (None, None) => Scopes::ROOT,
            });
        }
        let mut entries: Vec<Entry> = Vec::with_capacity(scopes.len());
        for (_, scope) in scopes.iter() {
            let parent = scope.parent.unwrap_or(Scopes::ROOT);
            let depth = match scope.parent {
                Some(parent) => entries.get(parent.0 as usize).map_or(0, |entry| entry.depth + 1),
                None => 0,
            };
            let class = tree.get(scope.module).map(|module| module.class.clone()).unwrap_or_default();
            entries.push(Entry { parent, depth, module: scope.module, class });
        }
        Calls { entries, first: all }
    }

    /// The first call of a module.
    pub fn of(&self, module: ModuleId) -> ScopeId {
        self.first.get(module.0 as usize).copied().unwrap_or(Scopes::ROOT)
    }

    pub(crate) fn module(&self, call: ScopeId) -> ModuleId {
        self.entry(call).map_or(ModuleId::ROOT, |entry| entry.module)
    }

    pub(crate) fn parent(&self, call: ScopeId) -> ScopeId {
        self.entry(call).map_or(Scopes::ROOT, |entry| entry.parent)
    }

    /// 0 for the root.
    pub fn depth(&self, call: ScopeId) -> u32 {
        self.entry(call).map_or(0, |entry| entry.depth)
    }

    /// Whether `call` is `around` or a call made from inside it.
    pub fn is_inside(&self, call: ScopeId, around: ScopeId) -> bool {
        self.ancestor(call, self.depth(around)) == around
    }

    /// The deepest call that holds both.
    pub fn common(&self, a: ScopeId, b: ScopeId) -> ScopeId {
        let depth = self.depth(a).min(self.depth(b));
        let (mut a, mut b) = (self.ancestor(a, depth), self.ancestor(b, depth));
        while a != b {
            (a, b) = (self.parent(a), self.parent(b));
        }
        a
    }

    /// The deepest call that holds all of them; `None` if there are none.
    pub fn common_of(&self, calls: impl IntoIterator<Item = ScopeId>) -> Option<ScopeId> {
        calls.into_iter().reduce(|a, b| self.common(a, b))
    }

    /// The call at `depth` on the way from the root to `call`; `call` itself if it is not that deep.
    pub fn ancestor(&self, call: ScopeId, depth: u32) -> ScopeId {
        let mut at = call;
        while self.depth(at) > depth {
            at = self.parent(at);
        }
        at
    }

    /// Whether two calls are instances of the same thing: of one module, or of modules of one class.
    pub fn are_repeated(&self, a: ScopeId, b: ScopeId) -> bool {
        match (self.entry(a), self.entry(b)) {
            (Some(a), Some(b)) => a.module == b.module || (!a.class.is_empty() && a.class == b.class),
            _ => false,
        }
    }

    /// Whether `a` and `b` lie in two instances of the same thing, such as two layers of one class.
    pub fn is_other_instance(&self, a: ScopeId, b: ScopeId) -> bool {
        let common = self.common(a, b);
        let depth = self.depth(common) + 1;
        a != common && b != common && self.are_repeated(self.ancestor(a, depth), self.ancestor(b, depth))
    }

    /// Where most of `calls` are: their common call, and below it the part that more than half of them are in.
    /// Repeated instances do not compete: if two of them are asked, what holds both is the answer.
    pub fn vote(&self, calls: &[ScopeId]) -> Option<ScopeId> {
        let mut place = self.common_of(calls.iter().copied())?;
        let mut inside: Vec<ScopeId> = calls.to_vec();
        while let Some((largest, count, has_twin)) = self.largest_part(place, &inside) {
            if has_twin || 2 * count <= calls.len() {
                break;
            }
            inside.retain(|&call| self.is_inside(call, largest));
            place = self.common_of(inside.iter().copied()).unwrap_or(largest);
        }
        Some(place)
    }

    /// The call right below `place` in which most of `calls` are, how many these are, and whether others are in
    /// another instance of it.
    fn largest_part(&self, place: ScopeId, calls: &[ScopeId]) -> Option<(ScopeId, usize, bool)> {
        let depth = self.depth(place) + 1;
        let below = calls.iter().filter(|&&call| call != place);
        let mut parts: Vec<ScopeId> = below.map(|&call| self.ancestor(call, depth)).collect();
        parts.sort_unstable();
        let runs = parts.chunk_by(|a, b| a == b);
        let largest = runs.reduce(|best, run| if run.len() > best.len() { run } else { best })?;
        let &part = largest.first()?;
        let has_twin = parts.iter().any(|&other| other != part && self.are_repeated(other, part));
        Some((part, largest.len(), has_twin))
    }

    fn entry(&self, call: ScopeId) -> Option<&Entry> {
        self.entries.get(call.0 as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Net(encoder: Encoder(layer: [Layer(a: A, b: B), Layer(a: A)]), head: Head)`.
    fn sample() -> (ModuleTree, Calls) {
        let mut tree = ModuleTree::new();
        let mut scopes = Scopes::new();
        let classes = [
            ("encoder", "m.Encoder", "", 0),
            ("encoder.layer.0", "m.Layer", "encoder", 0),
            ("encoder.layer.0.a", "m.A", "encoder.layer.0", 0),
            ("encoder.layer.0.b", "m.B", "encoder.layer.0", 0),
            ("encoder.layer.1", "m.Layer", "encoder", 0),
            ("encoder.layer.1.a", "m.A", "encoder.layer.1", 0),
        ];
        let mut by_path = std::collections::HashMap::from([("", Scopes::ROOT)]);
        for (path, class, parent, call) in classes {
            let id = tree.insert(path);
            tree.get_mut(id).unwrap().class = class.into();
            by_path.insert(path, scopes.child(by_path[parent], id, call));
        }
        tree.insert("head");
        let calls = Calls::new(&tree, &mut scopes);
        (tree, calls)
    }

    fn vote(asked: &[&str]) -> String {
        let (tree, calls) = sample();
        let asked: Vec<ScopeId> = asked.iter().map(|path| calls.of(tree.find(path).unwrap())).collect();
        let place = calls.vote(&asked).unwrap();
        tree.get(calls.module(place)).unwrap().path.to_string()
    }

    #[test]
    fn most_neighbours_decide_but_not_between_instances() {
        assert_eq!(vote(&["encoder.layer.0.a"]), "encoder.layer.0.a");
        assert_eq!(vote(&["encoder.layer.0.a", "encoder.layer.0.b"]), "encoder.layer.0");
        assert_eq!(
            vote(&["encoder.layer.0.a", "encoder.layer.0.a", "encoder.layer.0.b"]),
            "encoder.layer.0.a"
        );
        assert_eq!(vote(&["encoder.layer.0.a", "encoder.layer.0.b", "encoder.layer.1"]), "encoder");
        assert_eq!(vote(&["encoder.layer.0", "encoder.layer.0.b", "head"]), "encoder.layer.0");
        assert_eq!(vote(&["encoder", "head"]), "");
    }

    #[test]
    fn every_module_has_a_call() {
        let (tree, calls) = sample();
        let find = |path: &str| calls.of(tree.find(path).unwrap());
        assert_eq!(calls.depth(find("head")), 1);
        assert_eq!(calls.parent(find("encoder.layer.0")), find("encoder"), "containers are no calls");
        assert!(calls.is_other_instance(find("encoder.layer.0.b"), find("encoder.layer.1.a")));
        assert!(!calls.is_other_instance(find("encoder.layer.0.b"), find("encoder.layer.0.a")));
        assert!(!calls.is_other_instance(find("encoder"), find("encoder.layer.0.a")));
    }
}
