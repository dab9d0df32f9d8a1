//! Comma-separated values that no spreadsheet takes for anything but text and numbers.

use std::io::{self, Write};

use modelexport_io::onnx::names::for_screen;

/// One cell.
pub enum Value<'a> {
    /// From a file, so that anything may stand in it.
    Text(&'a str),
    Number(u64),
    /// From 0 to 1.
    Share(f64),
}

/// Writes one line.
pub fn row(out: &mut dyn Write, values: &[Value<'_>]) -> io::Result<()> {
    let cells: Vec<String> = values.iter().map(cell).collect();
    writeln!(out, "{}", cells.join(","))
}

/// Writes the line of titles.
pub fn titles(out: &mut dyn Write, titles: &[&str]) -> io::Result<()> {
    writeln!(out, "{}", titles.join(","))
}

fn cell(value: &Value<'_>) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::Share(share) => format!("{share:.6}"),
        Value::Text(text) => quoted(text),
    }
}

/// What a formula begins with. Spreadsheets take the full-width forms for the others.
const FORMULA_SIGNS: [char; 10] =
    ['=', '+', '-', '@', '|', '%', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];

/// A text that a spreadsheet would take for a formula gets an apostrophe in front; control characters are escaped.
fn quoted(text: &str) -> String {
    let mut text = for_screen(text).into_owned();
    if text.starts_with(FORMULA_SIGNS) {
        text.insert(0, '\'');
    }
    if text.contains([',', '"', '\'', ';', ' ']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_text() {
        let shown = |text: &str| cell(&Value::Text(text));
        assert_eq!(shown("=1+cmd|' /C calc'!A0"), "\"'=1+cmd|' /C calc'!A0\"");
        assert_eq!(shown("@SUM(A1)"), "\"'@SUM(A1)\"");
        assert_eq!([shown("+1"), shown("-1")], ["\"'+1\"", "\"'-1\""]);
        for sign in ["＝", "＋", "－", "＠"] {
            assert_eq!(shown(&format!("{sign}1")), format!("\"'{sign}1\""));
        }
        assert_eq!(shown("\t=1"), r"\t=1");
        assert_eq!(shown("a,\"b\"\n"), "\"a,\"\"b\"\"\\n\"");
        assert_eq!(shown("encoder.layer.0"), "encoder.layer.0");
    }
}
