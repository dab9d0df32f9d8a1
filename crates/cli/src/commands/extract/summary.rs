//! What was cut out, for people.

use std::io::{self, Write};

use modelexport::extract::{BoundaryValue, Summary};
use modelexport_io::onnx::names::for_screen;

use crate::display::number::{bytes, counted};
use crate::display::style::Style;
use crate::display::written::weights_text;

pub fn write_text(summary: &Summary, out: &mut dyn Write, style: Style) -> io::Result<()> {
    let mut line = |label: &str, text: &str| {
        writeln!(out, "  {}  {}", style.dim(&format!("{label:<9}")), for_screen(text))
    };
    for (i, file) in summary.files.iter().enumerate() {
        line(if i == 0 { "wrote" } else { "" }, &format!("{} ({})", file.path, bytes(file.bytes)))?;
    }
    for (i, module) in summary.manifest.modules.iter().enumerate() {
        let path = if module.path.is_empty() { "(root)" } else { &module.path };
        let class = module.class.rsplit('.').next().unwrap_or_default();
        let call = match module.calls {
            0 | 1 => String::new(),
            calls => format!(", call {} of 0 to {}", module.call, calls - 1),
        };
        line(if i == 0 { "modules" } else { "" }, &format!("{path} ({class}{call})"))?;
    }
    let weights = &summary.manifest.weights;
    line(
        "graph",
        &format!(
            "{}, {} ({})",
            counted(summary.manifest.nodes as u64, "node"),
            counted(weights.count as u64, "weight"),
            bytes(weights.bytes)
        ),
    )?;
    line("weights", &weights_text(&summary.weights))?;
    for (label, values) in [("inputs", &summary.manifest.inputs), ("outputs", &summary.manifest.outputs)] {
        for (i, value) in values.iter().enumerate() {
            line(if i == 0 { label } else { "" }, &boundary(value))?;
        }
    }
    for (i, note) in summary.manifest.notes.iter().enumerate() {
        let label = if i == 0 { "note" } else { "" };
        writeln!(out, "  {}  {}", style.yellow(&format!("{label:<9}")), for_screen(note))?;
    }
    Ok(())
}

/// `encoder.output  float32[1, 8]  from encoder.LayerNorm`.
fn boundary(value: &BoundaryValue) -> String {
    let made = match &value.producer {
        None => String::new(),
        Some(producer) => format!("  from {} ({})", producer.node, producer.op_type),
    };
    format!("{}  {}{made}", value.name, value.type_text())
}
