//! Which steps of a branch belong to one call of a module.
//!
//! A call of a module lasts until its first step, or the module that its first step called, occurs again: then a new call
//! starts. The calls above it start again in the same way if they, too, began with that step.

use modelexport_graph::aten::ValueId;
use modelexport_graph::hash::HashMap;
use modelexport_graph::{ModuleId, ModuleTree, Name, ScopeId, Scopes};

/// What a module does with its weights: one call of an operator.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    pub operator: Name,
    /// The weights among its arguments.
    pub read: Vec<ValueId>,
}

#[derive(Clone, Debug, PartialEq)]
enum CallStart {
    Step(Step),
    Module(ModuleId),
    /// Before the graph that is looked at: it cannot begin again in there.
    Outside,
}

/// The calls that are going on, by module.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    current: HashMap<ModuleId, (ScopeId, CallStart)>,
}

impl Calls {
    /// As a graph inside a node sees them: a module that called others may go on in there. One that did nothing but its
    /// own steps is called again.
    pub fn inside(&self) -> Calls {
        let calling = self.current.iter().filter(|(_, (_, begin))| matches!(begin, CallStart::Module(_)));
        Calls {
            current: calling.map(|(module, (scope, _))| (*module, (*scope, CallStart::Outside))).collect(),
        }
    }

    /// The call of the last of `modules`, each of which is called by the one before it and the first by `holder`.
    pub fn enter(
        &mut self,
        holder: ScopeId,
        modules: &[ModuleId],
        step: Step,
        tree: &mut ModuleTree,
        scopes: &mut Scopes,
    ) -> ScopeId {
        let parts: Vec<CallStart> =
            modules.iter().skip(1).map(|&id| CallStart::Module(id)).chain([CallStart::Step(step)]).collect();
        let again = modules.iter().zip(&parts).rev();
        let again =
            again.take_while(|(id, part)| matches!(self.current.get(id), Some((_, begin)) if begin == *part));
        let kept = modules.len() - again.count();
        let mut scope = holder;
        for (at, (&id, part)) in modules.iter().zip(parts).enumerate() {
            let current = self.current.get(&id).map(|(scope, _)| *scope);
            scope = match current.filter(|&current| at < kept && scopes.get(current).parent == Some(scope)) {
                Some(current) => current,
                None => {
                    let call = called(tree, id);
                    let new = scopes.child(scope, id, call);
                    self.current.insert(id, (new, part));
                    new
                }
            };
        }
        scope
    }
}

/// Counts one more call of a module; its number.
fn called(tree: &mut ModuleTree, id: ModuleId) -> u32 {
    let Some(module) = tree.get_mut(id) else { return 0 };
    let number = module.calls;
    module.calls = number.saturating_add(1);
    number
}
