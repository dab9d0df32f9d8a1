//! Differences for pull requests.

use std::io::{self, Write};

use modelexport::compare::{Comparison, Difference, Status};
use modelexport_io::onnx::names::for_screen;

use super::text::totals;
use crate::display::module::class_name;

pub fn write(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    let (before, after) = (escaped(&comparison.before), escaped(&comparison.after));
    writeln!(out, "### {before} → {after}\n")?;
    if comparison.equal {
        return writeln!(out, "No differences.");
    }
    writeln!(out, "{}\n", totals(comparison))?;
    writeln!(out, "| module | what | where | before | after |\n|---|---|---|---|---|")?;
    for difference in &comparison.model {
        row("*model*", difference, out)?;
    }
    for module in &comparison.modules {
        let path = if module.path.is_empty() { "*root*".to_owned() } else { escaped(&module.path) };
        let class = escaped(class_name(&module.class));
        match module.status {
            Status::Added => writeln!(out, "| {path} | **module added** | {class} | | |")?,
            Status::Removed => writeln!(out, "| {path} | **module removed** | {class} | | |")?,
            Status::Changed => {}
        }
        module.differences.iter().try_for_each(|difference| row(&path, difference, out))?;
    }
    Ok(())
}

fn row(module: &str, difference: &Difference, out: &mut dyn Write) -> io::Result<()> {
    let cell = |text: &Option<String>| text.as_deref().map(escaped).unwrap_or_default();
    writeln!(
        out,
        "| {module} | {} | {} | {} | {} |",
        difference.kind,
        escaped(&difference.subject),
        cell(&difference.before),
        cell(&difference.after)
    )
}

/// Escapes everything that Markdown would interpret: tables, links, emphasis, tags.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in for_screen(text).chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '(' | ')' | '#' | '!' | '~' | '@' | '$' => {
                escaped.push('\\');
                escaped.push(character);
            }
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn names_are_text_and_nothing_else() {
        assert_eq!(escaped("a|b<script>[x](y)\n@me"), r"a\|b&lt;script&gt;\[x\]\(y\)\\n\@me");
    }
}
