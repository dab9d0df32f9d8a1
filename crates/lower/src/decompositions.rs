//! Which operators without a row torch can express by others. Nobody asks torch here: a list has it.

use crate::Options;
use crate::functionalize::functional_variant;

/// A line for each operator that had no row when the list was made: its name, then the operators that torch's
/// decomposition of it ends in and that had none either. An operator that torch cannot decompose ends in itself.
/// `tests/python/decompositions.py` writes it.
const LIST: &str = include_str!("decompositions.txt");

/// What torch can do for an operator that has no row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decomposition {
    Possible,
    /// An operator of a library that is not torch's, or one that the list does not know.
    Unknown,
    /// And why.
    Impossible(String),
}

impl std::fmt::Display for Decomposition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Decomposition::Possible => "torch can decompose it",
            Decomposition::Unknown => "torch may be able to decompose it",
            Decomposition::Impossible(reason) => reason,
        })
    }
}

/// What torch said of `target` if it was asked, else what the list says.
pub fn decomposition(target: &str, options: &Options, is_supported: impl Fn(&str) -> bool) -> Decomposition {
    if let Some(reasons) = &options.not_decomposed {
        return reasons.get(target).cloned().map_or_else(none, Decomposition::Impossible);
    }
    if target.starts_with("higher_order.") {
        return none();
    }
    listed(LIST, target, is_supported)
}

fn listed(list: &str, target: &str, is_supported: impl Fn(&str) -> bool) -> Decomposition {
    let twin = functional_variant(target);
    let names = [Some(target), twin.as_deref()];
    let Some(mut ends) = list.lines().find_map(|line| {
        let mut words = line.split(' ');
        names.contains(&words.next()).then_some(words)
    }) else {
        return Decomposition::Unknown;
    };
    match ends.find(|end| !is_supported(end)) {
        None => Decomposition::Possible,
        Some(end) if names.contains(&Some(end)) => none(),
        Some(end) => Decomposition::Impossible(format!(
            "torch decomposes it into {end}, which is not supported either"
        )),
    }
}

fn none() -> Decomposition {
    Decomposition::Impossible("torch has no decomposition for it".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_names_overloads() {
        let names: Vec<&str> = LIST.lines().filter_map(|line| line.split(' ').next()).collect();
        assert!(!names.is_empty() && names.is_sorted());
        let mut words = LIST.lines().flat_map(|line| line.split(' '));
        assert!(words.all(|word| word.matches('.').count() == 2));
    }

    #[test]
    fn an_operator_is_decomposed_if_all_that_it_ends_in_has_rows() {
        let list = "aten.loss.default\naten.gamma.default aten.gamma.default\naten.beta.default aten.gamma.default\n";
        let said =
            |target: &str, rows: &[&str]| listed(list, target, |target| rows.contains(&target)).to_string();
        assert_eq!(said("aten.loss.default", &[]), "torch can decompose it");
        assert_eq!(said("aten.gamma.default", &[]), "torch has no decomposition for it");
        assert_eq!(said("aten.gamma_.default", &[]), "torch has no decomposition for it");
        assert_eq!(
            said("aten.beta.default", &[]),
            "torch decomposes it into aten.gamma.default, which is not supported either"
        );
        assert_eq!(said("aten.beta.default", &["aten.gamma.default"]), "torch can decompose it");
        assert_eq!(said("mylib.fused.default", &[]), "torch may be able to decompose it");
    }

    #[test]
    fn what_torch_said_counts() {
        let reasons = [("mylib.fused.default".to_owned(), "it is said so".to_owned())];
        let options = Options { not_decomposed: Some(reasons.into()), ..Options::default() };
        let said = |target| decomposition(target, &options, |_| true).to_string();
        assert_eq!(said("mylib.fused.default"), "it is said so");
        assert_eq!(said("mylib.other.default"), "torch has no decomposition for it");
    }
}
