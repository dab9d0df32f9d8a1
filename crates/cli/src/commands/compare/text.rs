//! Differences for people.

use std::io::{self, Write};

use modelexport::compare::{Comparison, Difference, Status};
use modelexport_io::onnx::names::for_screen;

use crate::display::module::{class_text, path_text};
use crate::display::number::counted;
use crate::display::style::Style;
use crate::display::text::cut_end;

/// Longer values are truncated. The other formats show them in full.
const WIDEST: usize = 100;

pub fn write(comparison: &Comparison, out: &mut dyn Write, style: Style) -> io::Result<()> {
    if comparison.equal {
        return writeln!(out, "no differences");
    }
    if !comparison.model.is_empty() {
        writeln!(out, "{}", style.bold("model"))?;
        comparison.model.iter().try_for_each(|difference| line(difference, out, style))?;
    }
    for module in &comparison.modules {
        let status = match module.status {
            Status::Added => " added",
            Status::Removed => " removed",
            Status::Changed => "",
        };
        writeln!(
            out,
            "{} {}{status}",
            style.bold(&path_text(&module.path)),
            style.dim(&class_text(&module.class))
        )?;
        module.differences.iter().try_for_each(|difference| line(difference, out, style))?;
    }
    writeln!(out, "\n{}", totals(comparison))
}

fn line(difference: &Difference, out: &mut dyn Write, style: Style) -> io::Result<()> {
    let shown = |text: &str| cut_end(&for_screen(text), WIDEST);
    let change = match (&difference.before, &difference.after) {
        (Some(before), Some(after)) => format!("  {} → {}", shown(before), shown(after)),
        (Some(only), None) | (None, Some(only)) => format!("  {}", shown(only)),
        (None, None) => String::new(),
    };
    writeln!(out, "  {:<23}{}{}", difference.kind, for_screen(&difference.subject), style.dim(&change))
}

/// `2 differences of structure, 1 of tags, 0 of weights`.
pub fn totals(comparison: &Comparison) -> String {
    let summary = &comparison.summary;
    format!(
        "{} of structure, {} of tags, {} of weights",
        counted(summary.structure as u64, "difference"),
        summary.tags,
        summary.weights
    )
}
