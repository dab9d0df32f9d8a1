//! Where a node comes from: a call of a module, as a place in the tree of calls.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use std::collections::HashMap;

use crate::module_tree::ModuleId;

/// Index into [`Scopes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScopeId(pub u32);

/// One call of a module, inside the call that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    pub parent: Option<ScopeId>,
    pub module: ModuleId,
    /// 0 for the first call of the module, 1 for the next.
    pub call: u32,
}

/// The tree of module calls. Scope 0 is the call of the root module.
#[derive(Clone, Debug)]
pub struct Scopes {
    scopes: Vec<Scope>,
    children: HashMap<(ScopeId, ModuleId, u32), ScopeId>,
}

impl Default for Scopes {
    fn default() -> Self {
        Self::new()
    }
}

impl Scopes {
    pub const ROOT: ScopeId = ScopeId(0);

    pub fn new() -> Self {
        let root = Scope { parent: None, module: ModuleId::ROOT, call: 0 };
        Scopes { scopes: vec![root], children: HashMap::new() }
    }

    /// The scope for call number `call` of `module` made from `parent`; made on first use.
    pub fn child(&mut self, parent: ScopeId, module: ModuleId, call: u32) -> ScopeId {
        if let Some(&found) = self.children.get(&(parent, module, call)) {
            return found;
        }
        let id = ScopeId(self.scopes.len() as u32);
        self.scopes.push(Scope { parent: Some(parent), module, call });
        self.children.insert((parent, module, call), id);
        id
    }

    /// Unknown ids read as the root.
    pub fn get(&self, id: ScopeId) -> Scope {
        let root = Scope { parent: None, module: ModuleId::ROOT, call: 0 };
        self.scopes.get(id.0 as usize).copied().unwrap_or(root)
    }

    pub fn module(&self, id: ScopeId) -> ModuleId {
        self.get(id).module
    }

    pub fn len(&self) -> usize {
        self.scopes.len()
    }

    pub fn is_empty(&self) -> bool {
        false
    }

    pub fn iter(&self) -> impl Iterator<Item = (ScopeId, Scope)> + '_ {
        self.scopes.iter().enumerate().map(|(i, &scope)| (ScopeId(i as u32), scope))
    }

    /// From the root's call down to `id`.
    pub fn chain(&self, id: ScopeId) -> Vec<ScopeId> {
        let mut chain = vec![id];
        let mut at = id;
        while let Some(parent) = self.get(at).parent {
            chain.push(parent);
            at = parent;
        }
        chain.reverse();
        chain
    }

    /// The number of each call from the root's down to `id`.
    pub fn calls(&self, id: ScopeId) -> Vec<u32> {
        self.chain(id).into_iter().map(|scope| self.get(scope).call).collect()
    }

    /// The deepest call that holds both.
    pub fn lowest_common_ancestor(&self, a: ScopeId, b: ScopeId) -> ScopeId {
        if a == b {
            return a;
        }
        let (left, right) = (self.chain(a), self.chain(b));
        let shared = left.iter().zip(&right).take_while(|(x, y)| x == y).last();
        shared.map_or(Self::ROOT, |(x, _)| *x)
    }
}

/// How the module of a node was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Known by construction.
    Direct,
    /// From scope names or metadata that another exporter left.
    Scope,
    /// From the parameters that the node reads.
    Parameter,
    /// From the order of execution.
    Order,
    /// By matching the captured graph.
    Graph,
    /// From neighbours.
    Propagated,
    /// A helper node without a module of its own.
    Auxiliary,
    /// Nothing told; the root.
    Fallback,
}

impl Method {
    pub const ALL: [Method; 8] = [
        Method::Direct,
        Method::Scope,
        Method::Parameter,
        Method::Order,
        Method::Graph,
        Method::Propagated,
        Method::Auxiliary,
        Method::Fallback,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Method::Direct => "direct",
            Method::Scope => "scope",
            Method::Parameter => "parameter",
            Method::Order => "order",
            Method::Graph => "graph",
            Method::Propagated => "propagated",
            Method::Auxiliary => "auxiliary",
            Method::Fallback => "fallback",
        }
    }

    /// Something told the origin of the node itself, not its neighbours.
    pub fn is_evidence(self) -> bool {
        !matches!(self, Method::Propagated | Method::Auxiliary | Method::Fallback)
    }

    pub fn from_name(name: &str) -> Option<Method> {
        Method::ALL.into_iter().find(|method| method.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_calls_of_one_module_are_two_scopes_with_one_ancestor() {
        let mut scopes = Scopes::new();
        let block = scopes.child(Scopes::ROOT, ModuleId(1), 0);
        let first = scopes.child(block, ModuleId(2), 0);
        let second = scopes.child(block, ModuleId(2), 1);
        assert_ne!(first, second);
        assert_eq!(scopes.child(block, ModuleId(2), 0), first);
        assert_eq!(scopes.lowest_common_ancestor(first, second), block);
        assert_eq!(scopes.lowest_common_ancestor(first, Scopes::ROOT), Scopes::ROOT);
        assert_eq!(scopes.chain(second), [Scopes::ROOT, block, second]);
        assert_eq!(scopes.calls(second), [0, 0, 1]);
    }
}
