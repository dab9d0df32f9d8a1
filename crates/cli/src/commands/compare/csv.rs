//! Differences for spreadsheets.

use std::io::{self, Write};

use modelexport::compare::{Comparison, Difference, Status};

use crate::display::csv::{Value, row, titles};

pub fn write(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    titles(out, &["module", "category", "kind", "subject", "before", "after"])?;
    for difference in &comparison.model {
        line("", difference, out)?;
    }
    for module in &comparison.modules {
        let kind = match module.status {
            Status::Added => Some("module added"),
            Status::Removed => Some("module removed"),
            Status::Changed => None,
        };
        if let Some(kind) = kind {
            line(&module.path, &Difference::structure(kind, &*module.path), out)?;
        }
        module.differences.iter().try_for_each(|difference| line(&module.path, difference, out))?;
    }
    Ok(())
}

fn line(module: &str, difference: &Difference, out: &mut dyn Write) -> io::Result<()> {
    let cells = [
        module,
        difference.category.name(),
        difference.kind,
        &difference.subject,
        difference.before.as_deref().unwrap_or_default(),
        difference.after.as_deref().unwrap_or_default(),
    ];
    row(out, &cells.map(Value::Text))
}
