//! Names that nothing else has.

use modelexport_graph::Name;
use modelexport_graph::aten::Graph;
use modelexport_graph::hash::{HashMap, HashSet};

/// The names that are taken.
#[derive(Clone, Debug, Default)]
pub struct UniqueNames {
    taken: HashSet<Name>,
    /// The next number to try for a name that is taken.
    next: HashMap<Name, u32>,
}

impl UniqueNames {
    /// Those of the values and nodes of a graph.
    pub fn of(graph: &Graph) -> UniqueNames {
        let values = graph.values.iter().map(|value| value.name.clone());
        let nodes = graph.nodes.iter().map(|node| node.name.clone());
        UniqueNames { taken: values.chain(nodes).collect(), next: HashMap::default() }
    }

    /// `wanted`, or `wanted_1`, `wanted_2`, …; taken from now on.
    pub fn take(&mut self, wanted: &str) -> Name {
        let wanted: Name = wanted.into();
        if self.taken.insert(wanted.clone()) {
            return wanted;
        }
        let number = self.next.entry(wanted.clone()).or_insert(0);
        loop {
            *number += 1;
            let name: Name = format!("{wanted}_{number}").into();
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taken_names_get_the_next_free_number() {
        let mut names = UniqueNames::default();
        let taken: Vec<Name> = ["a", "a_1", "a", "a"].into_iter().map(|name| names.take(name)).collect();
        assert_eq!(taken.iter().map(|name| &**name).collect::<Vec<_>>(), ["a", "a_1", "a_2", "a_3"]);
    }
}
