//! Writes a sidecar with one line per module and node, so that large files are readable and have small diffs.

use std::io::{self, Write};

use serde::Serialize;

use super::{Node, Sidecar};

/// Lines of some nodes, each with what parts it from the one before it.
#[derive(Default)]
pub struct NodeLines(Vec<u8>);

/// Takes lines of nodes.
pub type TakeLines<'t> = dyn FnMut(&NodeLines) -> io::Result<()> + 't;

/// Gives lines of nodes.
pub type GiveLines<'g> = dyn FnMut(&mut TakeLines<'_>) -> io::Result<()> + 'g;

impl NodeLines {
    pub fn push(&mut self, node: &Node) -> io::Result<()> {
        self.0.extend_from_slice(b",\n    ");
        Ok(serde_json::to_writer(&mut self.0, node)?)
    }
}

impl Sidecar {
    /// Writes the file. The bytes depend on nothing but `self`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_with_nodes(out, &mut |put| {
            let mut lines = NodeLines::default();
            for node in &self.nodes {
                lines.push(node)?;
                if lines.0.len() >= PIECE {
                    put(&std::mem::take(&mut lines))?;
                }
            }
            put(&lines)
        })
    }

    /// The same with nodes that come from elsewhere: `give` calls what it is given with their lines, in order.
    pub fn write_with_nodes(&self, out: &mut dyn Write, give: &mut GiveLines<'_>) -> io::Result<()> {
        out.write_all(b"{\n")?;
        field(out, "schema_version", &self.schema_version)?;
        field(out, "generator", &self.generator)?;
        field(out, "source", &self.source)?;
        field(out, "strategy", &self.strategy)?;
        field(out, "policy", &self.policy)?;
        lines(out, "modules", &self.modules)?;
        write!(out, "  \"nodes\": [")?;
        let mut is_empty = true;
        give(&mut |lines| {
            // The first line has none before it.
            let text = if is_empty { lines.0.get(1..) } else { Some(&*lines.0) };
            is_empty &= lines.0.is_empty();
            out.write_all(text.unwrap_or_default())
        })?;
        out.write_all(if is_empty { b"],\n" } else { b"\n  ],\n" })?;
        write!(out, "  \"statistics\": ")?;
        serde_json::to_writer(&mut *out, &self.statistics)?;
        out.write_all(b"\n}\n")
    }

    /// The file's bytes.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.write(&mut bytes)?;
        Ok(bytes)
    }
}

fn field<T: Serialize>(out: &mut dyn Write, key: &str, value: &T) -> io::Result<()> {
    write!(out, "  \"{key}\": ")?;
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b",\n")
}

/// Lines are handed over in pieces of about this size: a line is some thirty small writes.
const PIECE: usize = 64 << 10;

fn lines<T: Serialize>(out: &mut dyn Write, key: &str, values: &[T]) -> io::Result<()> {
    write!(out, "  \"{key}\": [")?;
    let mut piece = Vec::with_capacity(PIECE);
    for (i, value) in values.iter().enumerate() {
        piece.extend_from_slice(if i == 0 { b"\n    " } else { b",\n    " });
        serde_json::to_writer(&mut piece, value)?;
        if piece.len() >= PIECE {
            out.write_all(&piece)?;
            piece.clear();
        }
    }
    out.write_all(&piece)?;
    out.write_all(if values.is_empty() { b"],\n" } else { b"\n  ],\n" })
}
