//! The number of parameters of each module.
//!
//! The parameters are those of the PyTorch model, whatever type and layout a file stores them in. A parameter that was folded
//! into a constant counts. A quantized parameter counts its elements without its scales. A tied parameter counts once.
//! Buffers are counted in the same way, separately.

use std::collections::{BTreeMap, HashSet};

use modelexport_graph::module_tree::Parameter;
use modelexport_graph::{ModuleId, ModuleTree, Name};

/// Parameters and their elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amount {
    pub tensors: u64,
    pub elements: u64,
}

impl Amount {
    fn add(&mut self, parameter: &Parameter) {
        self.tensors += 1;
        self.elements = self.elements.saturating_add(parameter.elements);
    }
}

/// By [`ModuleId`].
#[derive(Clone, Debug)]
pub(crate) struct Counts {
    /// Of the module itself.
    own: Vec<Amount>,
    /// With those of all modules below it.
    total: Vec<Amount>,
}

impl Counts {
    pub(crate) fn of_parameters(tree: &ModuleTree) -> Self {
        Counts::new(tree, false)
    }

    pub(crate) fn of_buffers(tree: &ModuleTree) -> Self {
        Counts::new(tree, true)
    }

    fn new(tree: &ModuleTree, is_buffer: bool) -> Self {
        let own: Vec<Amount> =
            tree.iter().map(|(_, module)| distinct(&module.parameters, is_buffer)).collect();
        let repeated = repeated(tree, is_buffer);
        let sums = |figure: fn(&Amount) -> u64| {
            let own: Vec<u64> = own.iter().map(figure).collect();
            let repeated: Vec<(ModuleId, u64)> =
                repeated.iter().map(|(module, amount)| (*module, figure(amount))).collect();
            with_below(tree, &own, &repeated)
        };
        let (tensors, elements) = (sums(|amount| amount.tensors), sums(|amount| amount.elements));
        let amounts = tensors.into_iter().zip(elements);
        Counts { total: amounts.map(|(tensors, elements)| Amount { tensors, elements }).collect(), own }
    }

    pub(crate) fn own(&self, module: ModuleId) -> Amount {
        self.own.get(module.0 as usize).copied().unwrap_or_default()
    }

    pub(crate) fn total(&self, module: ModuleId) -> Amount {
        self.total.get(module.0 as usize).copied().unwrap_or_default()
    }
}

/// The parameters that some modules have themselves.
pub(crate) fn of_modules(tree: &ModuleTree, modules: impl IntoIterator<Item = ModuleId>) -> Amount {
    let modules = modules.into_iter().filter_map(|id| tree.get(id));
    distinct(modules.flat_map(|module| &module.parameters), false)
}

/// The parameters, or the buffers, of a list.
pub(crate) fn distinct<'p>(parameters: impl IntoIterator<Item = &'p Parameter>, is_buffer: bool) -> Amount {
    let mut seen: HashSet<&Name> = HashSet::new();
    let mut amount = Amount::default();
    for parameter in parameters {
        if parameter.is_buffer == is_buffer && seen.insert(first_name(parameter)) {
            amount.add(parameter);
        }
    }
    amount
}

/// The name by which a tensor is known, whichever of its names a parameter has.
pub(crate) fn first_name(parameter: &Parameter) -> &Name {
    parameter.tied_to.as_ref().unwrap_or(&parameter.name)
}

/// Sums over everything below. `repeated` lists amounts that the sum of a module holds once too often.
pub(crate) fn with_below(tree: &ModuleTree, own: &[u64], repeated: &[(ModuleId, u64)]) -> Vec<u64> {
    // Signed and wide, because a repeat is taken off where the repeated elements are not added yet.
    let mut sums: Vec<i128> = own.iter().map(|&own| i128::from(own)).collect();
    for &(module, amount) in repeated {
        if let Some(sum) = sums.get_mut(module.0 as usize) {
            *sum -= i128::from(amount);
        }
    }
    for (id, parent) in children_first(tree) {
        let below = sums.get(id.0 as usize).copied().unwrap_or_default();
        if let Some(sum) = sums.get_mut(parent.0 as usize) {
            *sum += below;
        }
    }
    sums.into_iter().map(|sum| u64::try_from(sum.max(0)).unwrap_or(u64::MAX)).collect()
}

/// Every module but the root with its parent, modules below before those above.
pub(crate) fn children_first(tree: &ModuleTree) -> impl Iterator<Item = (ModuleId, ModuleId)> + '_ {
    (1..tree.len() as u32).rev().filter_map(|id| Some((ModuleId(id), tree.get(ModuleId(id))?.parent?)))
}

/// For each tensor that several modules hold, the modules whose sum meets it again.
///
/// With the owners in the order of the tree, every owner after the first is met again in exactly those modules that
/// hold it and the owner before it; the deepest of these is enough, as sums go up from there.
fn repeated(tree: &ModuleTree, is_buffer: bool) -> Vec<(ModuleId, Amount)> {
    let all = || {
        let parameters =
            tree.iter().flat_map(|(id, module)| module.parameters.iter().map(move |found| (id, found)));
        parameters.filter(|(_, parameter)| parameter.is_buffer == is_buffer)
    };
    let tied: HashSet<&Name> = all().filter_map(|(_, parameter)| parameter.tied_to.as_ref()).collect();
    if tied.is_empty() {
        return Vec::new();
    }
    let mut owners: BTreeMap<&Name, Vec<(ModuleId, Amount)>> = BTreeMap::new();
    for (id, parameter) in all().filter(|(_, parameter)| tied.contains(first_name(parameter))) {
        let mut amount = Amount::default();
        amount.add(parameter);
        owners.entry(first_name(parameter)).or_default().push((id, amount));
    }
    let position = positions(tree);
    let mut repeated = Vec::new();
    for mut owners in owners.into_values() {
        owners.sort_by_key(|(owner, _)| position.get(owner.0 as usize).copied());
        owners.dedup_by_key(|(owner, _)| *owner);
        for ((first, _), (second, amount)) in owners.iter().zip(owners.iter().skip(1)) {
            repeated.push((tree.lowest_common_ancestor(*first, *second), *amount));
        }
    }
    repeated
}

/// By module: how many modules are before it, each right before the modules below it.
fn positions(tree: &ModuleTree) -> Vec<usize> {
    let mut positions = vec![0; tree.len()];
    let mut stack = vec![ModuleId::ROOT];
    let mut next = 0;
    while let Some(id) = stack.pop() {
        if let Some(position) = positions.get_mut(id.0 as usize) {
            *position = next;
            next += 1;
        }
        stack.extend(tree.get(id).into_iter().flat_map(|module| module.children.iter().rev()));
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Modules with one parameter each, `(path, elements, what it is tied to)`; it is called after its module.
    fn tree(parameters: &[(&str, u64, Option<&str>)]) -> ModuleTree {
        let mut tree = ModuleTree::new();
        for (path, elements, tied_to) in parameters {
            let id = tree.insert(path);
            let parameter = Parameter {
                name: format!("{path}.p").into(),
                elements: *elements,
                bytes: 0,
                is_buffer: false,
                tied_to: tied_to.map(|name| format!("{name}.p").into()),
            };
            tree.get_mut(id).unwrap().parameters.push(parameter);
        }
        tree
    }

    /// Tensors and elements of a module itself and with all below it.
    fn counted(tree: &ModuleTree, path: &str) -> [(u64, u64); 2] {
        let counts = Counts::of_parameters(tree);
        let id = tree.find(path).unwrap();
        [counts.own(id), counts.total(id)].map(|amount| (amount.tensors, amount.elements))
    }

    #[test]
    fn amounts_sum_up() {
        let tree = tree(&[("a.x", 1, None), ("b", 10, None), ("a.y", 100, None)]);
        assert_eq!(counted(&tree, ""), [(0, 0), (3, 111)]);
        assert_eq!(counted(&tree, "a"), [(0, 0), (2, 101)]);
        assert_eq!(counted(&tree, "a.y"), [(1, 100), (1, 100)]);
    }

    #[test]
    fn tied_parameters_count_once_where_they_meet() {
        // `a.x`, `a.y` and `b` hold the same 5 elements, `c` is apart.
        let tree = tree(&[("a.x", 5, None), ("c", 7, None), ("b", 5, Some("a.x")), ("a.y", 5, Some("a.x"))]);
        assert_eq!(counted(&tree, ""), [(0, 0), (2, 12)]);
        assert_eq!(counted(&tree, "a"), [(0, 0), (1, 5)]);
        assert_eq!(counted(&tree, "a.y"), [(1, 5), (1, 5)]);
        assert_eq!(counted(&tree, "b"), [(1, 5), (1, 5)]);
        let all = of_modules(&tree, tree.iter().map(|(id, _)| id));
        assert_eq!((all.tensors, all.elements), (2, 12));
    }

    #[test]
    fn a_tie_inside_one_module_counts_once_and_so_does_one_whose_first_module_is_gone() {
        let mut tree = tree(&[("a", 5, None), ("b", 7, Some("gone")), ("c", 7, Some("gone"))]);
        let a = tree.find("a").unwrap();
        let again = Parameter {
            name: "a.q".into(),
            tied_to: Some("a.p".into()),
            ..tree.get(a).unwrap().parameters[0].clone()
        };
        tree.get_mut(a).unwrap().parameters.push(again);
        assert_eq!(counted(&tree, "a"), [(1, 5), (1, 5)]);
        assert_eq!(counted(&tree, ""), [(0, 0), (2, 12)]);
    }

    #[test]
    fn buffers_are_counted_apart() {
        let mut tree = tree(&[("a", 5, None), ("b", 7, None)]);
        let b = tree.find("b").unwrap();
        tree.get_mut(b).unwrap().parameters[0].is_buffer = true;
        assert_eq!(counted(&tree, ""), [(0, 0), (1, 5)]);
        assert_eq!(Counts::of_buffers(&tree).total(ModuleId::ROOT), Amount { tensors: 1, elements: 7 });
    }
}
