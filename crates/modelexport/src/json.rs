//! JSON that is safe to print and easy to read: deeply nested values stay on one line, and characters that could control a
//! terminal, or that a browser could interpret as markup, are `\u` escapes.

use std::io::{self, Write};

use modelexport_io::onnx::names::is_unprintable;
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// Levels whose items get lines of their own.
const SPREAD_LEVELS: usize = 2;

/// Writes `value` and a line end.
pub fn write<T: Serialize>(out: &mut dyn Write, value: &T) -> io::Result<()> {
    let formatter = ScreenFormatter { level: 0, is_empty: false };
    value.serialize(&mut Serializer::with_formatter(&mut *out, formatter))?;
    out.write_all(b"\n")
}

struct ScreenFormatter {
    level: usize,
    /// Whether the array or object that is open has no item yet.
    is_empty: bool,
}

impl ScreenFormatter {
    fn open<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &str) -> io::Result<()> {
        self.level += 1;
        self.is_empty = true;
        writer.write_all(bracket.as_bytes())
    }

    fn item<W: ?Sized + Write>(&mut self, writer: &mut W, is_first: bool) -> io::Result<()> {
        match (is_first, self.level <= SPREAD_LEVELS) {
            (true, true) => self.new_line(writer),
            (false, true) => {
                writer.write_all(b",")?;
                self.new_line(writer)
            }
            (true, false) => Ok(()),
            (false, false) => writer.write_all(b", "),
        }
    }

    fn close<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &str) -> io::Result<()> {
        let is_spread = self.level <= SPREAD_LEVELS && !self.is_empty;
        self.level -= 1;
        self.is_empty = false;
        if is_spread {
            self.new_line(writer)?;
        }
        writer.write_all(bracket.as_bytes())
    }

    fn new_line<W: ?Sized + Write>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"\n")?;
        (0..self.level).try_for_each(|_| writer.write_all(b"  "))
    }
}

impl Formatter for ScreenFormatter {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((start, character)) =
            rest.char_indices().find(|(_, c)| *c == '<' || is_unprintable(*c))
        {
            let (before, from) = rest.split_at(start);
            writer.write_all(before.as_bytes())?;
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = from.get(character.len_utf8()..).unwrap_or_default();
        }
        writer.write_all(rest.as_bytes())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, "[")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.item(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.is_empty = false;
        Ok(())
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, "]")
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, "{")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.item(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.is_empty = false;
        Ok(())
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, "}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written<T: Serialize>(value: &T) -> String {
        let mut out = Vec::new();
        write(&mut out, value).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn items_of_the_outer_levels_have_their_own_lines() {
        let value = json!({"a": [{"x": 1, "y": [1, 2]}, {}], "b": [], "c": {"d": {"e": {}}}});
        let expected = r#"{
  "a": [
    {"x": 1, "y": [1, 2]},
    {}
  ],
  "b": [],
  "c": {
    "d": {"e": {}}
  }
}
"#;
        assert_eq!(written(&value), expected);
        assert_eq!(written(&json!(1)), "1\n");
    }

    #[test]
    fn nothing_reaches_the_terminal_as_a_command() {
        let text = "a\u{1b}[2J\u{202e}b\u{9b}é\u{10fe80}<b>";
        let written = written(&[text]);
        assert_eq!(written, "[\n  \"a\\u001b[2J\\u202eb\\u009bé\\udbff\\ude80\\u003cb>\"\n]\n");
        assert_eq!(serde_json::from_str::<Vec<String>>(&written).unwrap(), [text]);
    }
}
