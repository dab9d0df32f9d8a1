//! The graph as nested GraphML: a module is a node that contains a graph of its modules and operations.

use std::io::{self, Write};

use modelexport_graph::ModuleId;
use modelexport_io::onnx::names::is_unprintable;

use super::figures::module_of;
use super::wiring::{GraphKind, Producer, Wiring};
use crate::tagged_file::TaggedFile;
use crate::tagger::operator_name;

/// What nodes and edges say, by key: name, and whether it is one of an edge.
const KEYS: [(&str, bool); 9] = [
    ("label", false),
    ("kind", false),
    ("class", false),
    ("module", false),
    ("tag", false),
    ("op_type", false),
    ("method", false),
    ("graph", false),
    ("value", true),
];

/// Writes all nodes of `file`, those of graphs inside nodes and of functions too.
pub fn write(file: &TaggedFile, out: &mut dyn Write) -> io::Result<()> {
    let wiring = Wiring::new(&file.model);
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">")?;
    for (key, is_edge) in KEYS {
        let of = if is_edge { "edge" } else { "node" };
        writeln!(out, "  <key id=\"{key}\" for=\"{of}\" attr.name=\"{key}\" attr.type=\"string\"/>")?;
    }
    writeln!(out, "  <graph id=\"model\" edgedefault=\"directed\">")?;
    values(&wiring, out)?;
    Modules::new(file, &wiring).write(ModuleId::ROOT, 2, out)?;
    edges(&wiring, out)?;
    writeln!(out, "  </graph>\n</graphml>")
}

/// Inputs and outputs of the graphs.
fn values(wiring: &Wiring<'_>, out: &mut dyn Write) -> io::Result<()> {
    for (graph, wired) in wiring.graphs.iter().enumerate() {
        let place = match &wired.kind {
            GraphKind::Main => String::new(),
            GraphKind::Inner { holder, attribute } => format!("n{holder}.{attribute}"),
            GraphKind::Function(name) => name.to_string(),
        };
        for (input, name) in wired.inputs.iter().enumerate() {
            let data = [("label", name.to_string()), ("kind", "input".to_owned()), ("graph", place.clone())];
            node(out, 2, &format!("i{graph}.{input}"), &data)?;
        }
        for (output, (name, _)) in wired.outputs.iter().enumerate() {
            let data = [("label", name.to_string()), ("kind", "output".to_owned()), ("graph", place.clone())];
            node(out, 2, &format!("o{graph}.{output}"), &data)?;
        }
    }
    Ok(())
}

/// Modules with the nodes that each has itself.
struct Modules<'f, 'w> {
    file: &'f TaggedFile,
    wiring: &'w Wiring<'f>,
    /// By [`ModuleId`]: indices of nodes.
    nodes: Vec<Vec<usize>>,
    /// By [`ModuleId`]: whether it or a module below has nodes.
    is_used: Vec<bool>,
}

impl<'f, 'w> Modules<'f, 'w> {
    fn new(file: &'f TaggedFile, wiring: &'w Wiring<'f>) -> Self {
        let tree = &file.hierarchy.tree;
        let mut nodes: Vec<Vec<usize>> = vec![Vec::new(); tree.len()];
        for (at, wired) in wiring.nodes.iter().enumerate() {
            if let Some(list) = nodes.get_mut(module_of(file, wired.node).0 as usize) {
                list.push(at);
            }
        }
        let mut is_used: Vec<bool> = nodes.iter().map(|nodes| !nodes.is_empty()).collect();
        for id in (1..tree.len()).rev() {
            let parent = tree.get(ModuleId(id as u32)).and_then(|module| module.parent);
            let used = is_used.get(id).copied().unwrap_or(false);
            if let Some(above) = parent.and_then(|parent| is_used.get_mut(parent.0 as usize)) {
                *above |= used;
            }
        }
        Modules { file, wiring, nodes, is_used }
    }

    fn write(&self, id: ModuleId, level: usize, out: &mut dyn Write) -> io::Result<()> {
        let used = self.is_used.get(id.0 as usize).copied().unwrap_or(false);
        let Some(module) = self.file.hierarchy.tree.get(id).filter(|_| used) else { return Ok(()) };
        let label = if id == ModuleId::ROOT { module.class_name() } else { module.attribute() };
        indent(out, level)?;
        writeln!(out, "<node id=\"m{}\">", id.0)?;
        let data = [
            ("label", label.to_owned()),
            ("kind", "module".to_owned()),
            ("class", module.class.to_string()),
            ("module", module.path.to_string()),
            ("tag", self.file.tags.tag(id).to_string()),
        ];
        write_data(out, level + 1, &data)?;
        indent(out, level + 1)?;
        writeln!(out, "<graph id=\"m{}:\" edgedefault=\"directed\">", id.0)?;
        for &at in self.nodes.get(id.0 as usize).into_iter().flatten() {
            self.operation(at, level + 2, out)?;
        }
        for &child in &module.children {
            self.write(child, level + 2, out)?;
        }
        indent(out, level + 1)?;
        writeln!(out, "</graph>")?;
        indent(out, level)?;
        writeln!(out, "</node>")
    }

    fn operation(&self, at: usize, level: usize, out: &mut dyn Write) -> io::Result<()> {
        let Some(wired) = self.wiring.nodes.get(at) else { return Ok(()) };
        let mut data = vec![
            ("label", wired.node.name.to_string()),
            ("kind", "operation".to_owned()),
            ("op_type", operator_name(wired.node).to_string()),
        ];
        if let Some(origin) = &wired.node.origin {
            data.push(("method", origin.method.name().to_owned()));
        }
        match self.wiring.graphs.get(wired.graph).map(|graph| &graph.kind) {
            Some(GraphKind::Inner { holder, attribute }) => {
                data.push(("graph", format!("n{holder}.{attribute}")))
            }
            Some(GraphKind::Function(name)) => data.push(("graph", name.to_string())),
            Some(GraphKind::Main) | None => {}
        }
        node(out, level, &format!("n{at}"), &data)
    }
}

fn edges(wiring: &Wiring<'_>, out: &mut dyn Write) -> io::Result<()> {
    for (at, wired) in wiring.nodes.iter().enumerate() {
        for (producer, name) in wired.inputs.iter().zip(&wired.node.inputs) {
            edge(out, *producer, &format!("n{at}"), name)?;
        }
    }
    for (graph, wired) in wiring.graphs.iter().enumerate() {
        for (output, (name, producer)) in wired.outputs.iter().enumerate() {
            edge(out, *producer, &format!("o{graph}.{output}"), name)?;
        }
    }
    Ok(())
}

fn edge(out: &mut dyn Write, producer: Option<Producer>, target: &str, name: &str) -> io::Result<()> {
    let source = match producer {
        Some(Producer::Input { graph, input }) => format!("i{graph}.{input}"),
        Some(Producer::Node { node, .. }) => format!("n{node}"),
        None => return Ok(()),
    };
    writeln!(
        out,
        "    <edge source=\"{source}\" target=\"{target}\"><data key=\"value\">{}</data></edge>",
        escaped(name)
    )
}

fn node(out: &mut dyn Write, level: usize, id: &str, data: &[(&str, String)]) -> io::Result<()> {
    indent(out, level)?;
    writeln!(out, "<node id=\"{id}\">")?;
    write_data(out, level + 1, data)?;
    indent(out, level)?;
    writeln!(out, "</node>")
}

fn write_data(out: &mut dyn Write, level: usize, data: &[(&str, String)]) -> io::Result<()> {
    for (key, value) in data.iter().filter(|(_, value)| !value.is_empty()) {
        indent(out, level)?;
        writeln!(out, "<data key=\"{key}\">{}</data>", escaped(value))?;
    }
    Ok(())
}

/// Two blanks a level, as far as a reader follows.
fn indent(out: &mut dyn Write, level: usize) -> io::Result<()> {
    (0..level.min(32)).try_for_each(|_| out.write_all(b"  "))
}

/// Text for XML. Characters that XML has no way to hold stand as Rust escapes.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            _ if is_unprintable(character) || matches!(character, '\u{fffe}' | '\u{ffff}') => {
                escaped.extend(character.escape_default());
            }
            _ => escaped.push(character),
        }
    }
    escaped
}
