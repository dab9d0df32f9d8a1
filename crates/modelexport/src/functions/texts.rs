//! The texts of nodes that differ from call to call: names and metadata.

use modelexport_graph::Name;
use modelexport_graph::onnx::{Graph, Metadata, Node};

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextKind {
    /// The name of a value where it is made. Other places name it, too, so that it is never replaced here.
    Value,
    Other,
}

/// Stand between entries of metadata, and between key and value. Neither occurs in names.
const ENTRY_END: char = '\u{1e}';
const KEY_END: char = '\u{1f}';

/// Calls `visit` for every text of `nodes`, always in the same order, and puts what it returns in its place. Values
/// for which `is_given_out` is true are not visited: their names come from where the nodes are used.
pub(super) fn for_each_text(
    nodes: &mut [Node],
    is_given_out: &dyn Fn(&Name) -> bool,
    visit: &mut dyn FnMut(TextKind, &str) -> Option<String>,
) {
    for node in nodes {
        replace_name(&mut node.name, visit);
        for output in node.outputs.iter().filter(|name| !name.is_empty() && !is_given_out(name)) {
            visit(TextKind::Value, output);
        }
        replace(&mut node.doc_string, visit);
        if let Some(text) = visit(TextKind::Other, &joined(&node.metadata)) {
            node.metadata = split(&text);
        }
        for graph in node.subgraphs_mut() {
            of_graph(graph, is_given_out, visit);
        }
    }
}

fn of_graph(
    graph: &mut Graph,
    is_given_out: &dyn Fn(&Name) -> bool,
    visit: &mut dyn FnMut(TextKind, &str) -> Option<String>,
) {
    replace(&mut graph.name, visit);
    replace(&mut graph.doc_string, visit);
    let sparse = graph.sparse_initializers.iter().filter_map(crate::cut::sparse_name);
    let weights = graph.initializers.iter().map(|tensor| &tensor.name).chain(sparse);
    for name in graph.inputs.iter().map(|input| &input.name).chain(weights) {
        visit(TextKind::Value, name);
    }
    for_each_text(&mut graph.nodes, is_given_out, visit);
}

fn replace(text: &mut String, visit: &mut dyn FnMut(TextKind, &str) -> Option<String>) {
    if let Some(new) = visit(TextKind::Other, text) {
        *text = new;
    }
}

fn replace_name(name: &mut Name, visit: &mut dyn FnMut(TextKind, &str) -> Option<String>) {
    if let Some(new) = visit(TextKind::Other, name) {
        *name = new.into();
    }
}

/// Metadata as one text: calls may have different entries.
fn joined(metadata: &Metadata) -> String {
    let mut text = String::new();
    for (key, value) in metadata {
        escape(&mut text, key);
        text.push(KEY_END);
        escape(&mut text, value);
        text.push(ENTRY_END);
    }
    text
}

fn split(text: &str) -> Metadata {
    let entries = text.split_terminator(ENTRY_END);
    entries
        .map(|entry| {
            let (key, value) = entry.split_once(KEY_END).unwrap_or((entry, ""));
            (unescaped(key), unescaped(value))
        })
        .collect()
}

fn escape(text: &mut String, part: &str) {
    for character in part.chars() {
        match character {
            '\\' => text.push_str("\\\\"),
            ENTRY_END => text.push_str("\\e"),
            KEY_END => text.push_str("\\k"),
            other => text.push(other),
        }
    }
}

fn unescaped(part: &str) -> String {
    let mut text = String::with_capacity(part.len());
    let mut characters = part.chars();
    while let Some(character) = characters.next() {
        text.push(match (character, character == '\\') {
            (_, true) => match characters.next() {
                Some('e') => ENTRY_END,
                Some('k') => KEY_END,
                _ => '\\',
            },
            (other, false) => other,
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_comes_back_whatever_it_holds() {
        let metadata: Metadata = [("a", "1\u{1e}2\u{1f}3\\e"), ("", ""), ("k\u{1f}", "\\")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .to_vec();
        assert_eq!(split(&joined(&metadata)), metadata);
        assert_eq!(split(&joined(&Metadata::new())), Metadata::new());
    }
}
