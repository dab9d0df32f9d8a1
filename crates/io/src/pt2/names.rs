//! Names of the user's inputs and outputs, from the trees that torch flattens.

use std::collections::{HashMap, HashSet};

use modelexport_graph::Name;
use serde::Deserialize;
use serde_json::Value;

use super::json::Text;

/// Fields of named tuples by the type's name.
pub(super) type NamedTuples<'a> = HashMap<&'a str, Vec<&'a str>>;

/// One step from a node of the tree to a child.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Key(String),
    Index(usize),
}

/// `[protocol, tree]`.
#[derive(Deserialize)]
struct Document(#[allow(dead_code, reason = "only protocol 1 exists")] u32, Tree);

#[derive(Deserialize)]
struct Tree {
    r#type: Option<String>,
    context: Value,
    children_spec: Vec<Tree>,
}

/// Names of the outputs, one for each leaf of the tree; `None` where only numbers lead to a leaf.
/// An empty list if the tree cannot be read: names are a comfort, not a need.
pub(super) fn output_names(out_spec: &str, tuples: &NamedTuples<'_>) -> Vec<Option<Name>> {
    let mut leaves: Vec<Option<Name>> = leaves(out_spec, tuples)
        .iter()
        .map(|path| {
            let named = path.iter().any(|step| matches!(step, Step::Key(_)));
            let prefix = matches!(path.first(), Some(Step::Index(_))).then_some("output");
            named.then(|| joined(prefix, path).into())
        })
        .collect();
    let mut seen = HashSet::new();
    if !leaves.iter().flatten().all(|name| seen.insert(name.clone())) {
        leaves.clear();
    }
    leaves
}

/// Names of the inputs, for placeholders in the order of the signature.
///
/// Placeholders carry the name of the argument and the path inside of it, in small letters. The tree of inputs gives
/// the letters back.
pub(super) fn input_names(
    placeholders: &[Name],
    in_spec: &str,
    arguments: &[Text<'_>],
    tuples: &NamedTuples<'_>,
) -> Vec<Name> {
    let leaves = leaves(in_spec, tuples);
    if leaves.len() != placeholders.len() {
        return placeholders.to_vec();
    }
    let names: Vec<Name> = placeholders
        .iter()
        .zip(&leaves)
        .map(|(placeholder, path)| {
            let written = match path.as_slice() {
                // Positional arguments come first, then those by keyword.
                [Step::Index(0), Step::Index(position), rest @ ..] => {
                    arguments.get(*position).map(|argument| joined(Some(argument), rest))
                }
                [Step::Index(1), rest @ ..] => Some(joined(None, rest)),
                _ => None,
            };
            written
                .filter(|name| name.to_lowercase() == **placeholder)
                .map_or(placeholder.clone(), Name::from)
        })
        .collect();
    let distinct: HashSet<&Name> = names.iter().collect();
    if distinct.len() == names.len() { names } else { placeholders.to_vec() }
}

fn joined(prefix: Option<&str>, path: &[Step]) -> String {
    let steps = path.iter().map(|step| match step {
        Step::Key(key) => key.replace(|c: char| !c.is_alphanumeric() && c != '_', "_"),
        Step::Index(index) => index.to_string(),
    });
    prefix.map(str::to_owned).into_iter().chain(steps).collect::<Vec<_>>().join("_")
}

/// The way to each leaf, from left to right.
fn leaves(spec: &str, tuples: &NamedTuples<'_>) -> Vec<Vec<Step>> {
    let mut leaves = Vec::new();
    if let Ok(Document(_, tree)) = serde_json::from_str(spec) {
        collect(&tree, tuples, &mut Vec::new(), &mut leaves);
    }
    leaves
}

/// Recursion ends with the nesting that the JSON reader allows.
fn collect(tree: &Tree, tuples: &NamedTuples<'_>, path: &mut Vec<Step>, leaves: &mut Vec<Vec<Step>>) {
    if tree.r#type.is_none() {
        leaves.push(path.clone());
        return;
    }
    let keys = keys(tree, tuples);
    for (index, child) in tree.children_spec.iter().enumerate() {
        let key = keys.as_ref().and_then(|keys| keys.get(index)).cloned();
        path.push(key.map_or(Step::Index(index), Step::Key));
        collect(child, tuples, path, leaves);
        path.pop();
    }
}

/// Names of the children, where the context of the node has as many.
///
/// A dictionary and what derives from one list their keys, a dataclass lists its fields and those that are left out, a
/// default dictionary has its keys in an object, a named tuple its type.
fn keys(tree: &Tree, tuples: &NamedTuples<'_>) -> Option<Vec<String>> {
    let text = tree.context.as_str();
    if let Some(fields) = text.and_then(|text| tuples.get(text)) {
        return Some(fields.iter().map(|field| (*field).to_owned()).collect());
    }
    let parsed = text.and_then(|text| serde_json::from_str::<Value>(text).ok());
    let context = parsed.as_ref().unwrap_or(&tree.context);
    if let Some(fields) = context.as_str().and_then(|text| tuples.get(text)) {
        return Some(fields.iter().map(|field| (*field).to_owned()).collect());
    }
    let list = match context {
        Value::Array(list) => match list.first() {
            Some(Value::Array(fields)) => fields,
            _ => list,
        },
        Value::Object(object) => object.get("dict_context")?.as_array()?,
        _ => return None,
    };
    let keys: Option<Vec<String>> = list
        .iter()
        .map(|key| match key {
            Value::String(key) => Some(key.clone()),
            Value::Number(key) => Some(key.to_string()),
            _ => None,
        })
        .collect();
    keys.filter(|keys| keys.len() == tree.children_spec.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAF: &str = r#"{"type": null, "context": null, "children_spec": []}"#;

    fn node(class: &str, context: &str, children: &[&str]) -> String {
        format!(r#"{{"type": "{class}", "context": {context}, "children_spec": [{}]}}"#, children.join(","))
    }

    fn outputs(tree: &str) -> Vec<String> {
        let tuples = NamedTuples::from([("Point", vec!["x", "y"])]);
        let names = output_names(&format!("[1, {tree}]"), &tuples);
        names.iter().map(|name| name.as_deref().unwrap_or("-").to_owned()).collect()
    }

    #[test]
    fn outputs_are_named_by_their_keys() {
        let model_output =
            node("any.ModelOutput", r#""[\"last_hidden_state\", \"pooler_output\"]""#, &[LEAF, LEAF]);
        assert_eq!(outputs(&model_output), ["last_hidden_state", "pooler_output"]);
        let dataclass = node("any.Data", r#""[[\"a\", \"b\"], [\"left_out\"]]""#, &[LEAF, LEAF]);
        assert_eq!(outputs(&dataclass), ["a", "b"]);
        let point = node("collections.namedtuple", r#""Point""#, &[LEAF, LEAF]);
        assert_eq!(outputs(&point), ["x", "y"]);
        let default = node("collections.defaultdict", r#"{"dict_context": ["k"]}"#, &[LEAF]);
        assert_eq!(outputs(&default), ["k"]);
    }

    #[test]
    fn nested_outputs_are_named_by_their_path() {
        let pair = node("builtins.tuple", r#""null""#, &[LEAF, LEAF]);
        let dict = node("builtins.dict", r#""[\"o\", \"q\", 3]""#, &[LEAF, &pair, LEAF]);
        assert_eq!(outputs(&dict), ["o", "q_0", "q_1", "3"]);
        let mixed = node("builtins.tuple", r#""null""#, &[LEAF, &dict]);
        assert_eq!(outputs(&mixed), ["-", "output_1_o", "output_1_q_0", "output_1_q_1", "output_1_3"]);
    }

    #[test]
    fn outputs_without_keys_have_no_names() {
        assert_eq!(outputs(LEAF), ["-"]);
        assert_eq!(outputs(&node("builtins.tuple", r#""null""#, &[LEAF, LEAF])), ["-", "-"]);
        assert!(outputs("oops").is_empty());
    }

    #[test]
    fn names_that_are_not_distinct_are_no_names() {
        let pair = node("builtins.tuple", r#""null""#, &[LEAF]);
        let dict = node("builtins.dict", r#""[\"a_0\", \"a\"]""#, &[LEAF, &pair]);
        assert!(outputs(&dict).is_empty());
    }

    #[test]
    fn inputs_get_their_letters_back() {
        let position =
            node("builtins.tuple", r#""null""#, &[LEAF, &node("builtins.dict", r#""[\"Q\"]""#, &[LEAF])]);
        let keyword = node("builtins.dict", r#""[\"Z\"]""#, &[LEAF]);
        let tree = format!("[1, {}]", node("builtins.tuple", r#""null""#, &[&position, &keyword]));
        let names = |placeholders: [&str; 3]| {
            let placeholders = placeholders.map(Name::from);
            let arguments: [Text; 2] =
                [serde_json::from_str("\"X\"").unwrap(), serde_json::from_str("\"y\"").unwrap()];
            input_names(&placeholders, &tree, &arguments, &NamedTuples::new())
                .iter()
                .map(|name| name.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(["x", "y_q", "z"]), ["X", "y_Q", "Z"]);
        assert_eq!(names(["x", "y_q_1", "z"]), ["X", "y_q_1", "Z"], "a name that torch had to change stays");
    }
}
