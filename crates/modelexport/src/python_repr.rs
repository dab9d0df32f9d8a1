//! Lists of strings in the form of Python's `repr`, which torch uses in ONNX metadata: `['', 'encoder', "it's"]`.

/// Appends `repr(text)`.
pub(crate) fn push_str(out: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => out.extend(['\\', c]),
            c if is_printable(c) => out.push(c),
            c => match u32::from(c) {
                code @ 0..=0xff => out.push_str(&format!("\\x{code:02x}")),
                code @ 0x100..=0xffff => out.push_str(&format!("\\u{code:04x}")),
                code => out.push_str(&format!("\\U{code:08x}")),
            },
        }
    }
    out.push(quote);
}

/// Whether `repr(text)` is the text between single quotes. False for some where it is.
pub(crate) fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'\'' | b'\\'))
}

/// What Python escapes: controls, formatting characters, private use, and separators other than the space.
/// Code points that Unicode has not assigned are taken as printable.
fn is_printable(c: char) -> bool {
    !(c.is_control()
        || (c != ' ' && c.is_whitespace())
        || matches!(u32::from(c),
            0xad | 0x600..=0x605 | 0x61c | 0x6dd | 0x70f | 0x180e | 0x200b..=0x200f | 0x202a..=0x202e
            | 0x2060..=0x206f | 0xe000..=0xf8ff | 0xfeff | 0xfff9..=0xfffb | 0xe0000..=0xe007f | 0xf0000..))
}

/// Why a text is not a list of strings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{expected} expected at byte {offset}")]
pub(crate) struct ParseError {
    pub offset: usize,
    pub expected: &'static str,
}

/// Reads a list of strings. Nothing is evaluated: only string literals and their escapes are known.
pub(crate) fn parse_list(text: &str) -> Result<Vec<String>, ParseError> {
    let mut reader = Reader { text, offset: 0 };
    let mut items = Vec::new();
    reader.expect('[', "[")?;
    loop {
        match reader.peek() {
            Some(']') => {
                reader.bump();
                break;
            }
            Some(quote @ ('\'' | '"')) => {
                reader.bump();
                items.push(reader.string(quote)?);
            }
            _ => return Err(reader.error("a string or ]")),
        }
        match reader.peek() {
            Some(',') => {
                reader.bump();
            }
            Some(']') => {}
            _ => return Err(reader.error(", or ]")),
        }
    }
    match reader.peek() {
        None => Ok(items),
        Some(_) => Err(reader.error("the end")),
    }
}

struct Reader<'a> {
    text: &'a str,
    offset: usize,
}

impl Reader<'_> {
    fn error(&self, expected: &'static str) -> ParseError {
        ParseError { offset: self.offset, expected }
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.text.get(self.offset..)?.chars().next()?;
        self.offset += c.len_utf8();
        Some(c)
    }

    /// The next character that is not a blank, without taking it.
    fn peek(&mut self) -> Option<char> {
        loop {
            let c = self.text.get(self.offset..)?.chars().next()?;
            if !c.is_ascii_whitespace() {
                return Some(c);
            }
            self.offset += 1;
        }
    }

    fn expect(&mut self, c: char, expected: &'static str) -> Result<(), ParseError> {
        if self.peek() != Some(c) {
            return Err(self.error(expected));
        }
        self.bump();
        Ok(())
    }

    fn string(&mut self, quote: char) -> Result<String, ParseError> {
        let mut string = String::new();
        loop {
            match self.bump().ok_or_else(|| self.error("a closing quote"))? {
                c if c == quote => return Ok(string),
                '\\' => string.push(self.escape()?),
                c => string.push(c),
            }
        }
    }

    fn escape(&mut self) -> Result<char, ParseError> {
        Ok(match self.bump() {
            Some(c @ ('\\' | '\'' | '"')) => c,
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('x') => self.code_point(2)?,
            Some('u') => self.code_point(4)?,
            Some('U') => self.code_point(8)?,
            _ => return Err(self.error("an escape that repr writes")),
        })
    }

    /// A lone surrogate, which Rust strings cannot hold, reads as the replacement character.
    fn code_point(&mut self, digits: usize) -> Result<char, ParseError> {
        let code = self
            .text
            .get(self.offset..self.offset + digits)
            .filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .and_then(|hex| u32::from_str_radix(hex, 16).ok())
            .ok_or_else(|| self.error("hexadecimal digits"))?;
        self.offset += digits;
        Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn repr(text: &str) -> String {
        let mut out = String::new();
        push_str(&mut out, text);
        out
    }

    /// Expected texts are what CPython 3.11 prints.
    #[test]
    fn strings_look_as_in_python() {
        assert_eq!(repr(""), "''");
        assert_eq!(repr("encoder.layer.0"), "'encoder.layer.0'");
        assert_eq!(repr("it's"), "\"it's\"");
        assert_eq!(repr("'\""), r#"'\'"'"#);
        assert_eq!(repr("a\\b\n\r\t\u{1b}\u{7f}\u{85}"), r"'a\\b\n\r\t\x1b\x7f\x85'");
        assert_eq!(
            repr("é \u{a0}\u{ad}\u{200b}\u{2028}\u{202e}\u{3000}"),
            r"'é \xa0\xad\u200b\u2028\u202e\u3000'"
        );
        assert_eq!(repr("日\u{feff}\u{e000}\u{f0000}🙂"), r"'日\ufeff\ue000\U000f0000🙂'");
    }

    #[test]
    fn plain_texts_are_quoted_as_they_are() {
        for text in ["", "linear_1", "a b", "say \"x\"", "~", "it's", "back\\slash", "é", "\t", "\u{7f}"] {
            assert!(!is_plain(text) || repr(text) == format!("'{text}'"), "{text:?}");
        }
        assert!(is_plain("aten.linear.default") && !is_plain("it's"));
    }

    #[test]
    fn lists_are_read() {
        assert_eq!(parse_list("[]"), Ok(vec![]));
        assert_eq!(parse_list(" [ 'a' , \"b'c\",] ").unwrap(), ["a", "b'c"]);
        assert_eq!(parse_list(r"['\ud800\\\x41']").unwrap(), ["\u{fffd}\\A"]);
    }

    #[test]
    fn anything_else_is_refused_where_it_is() {
        let at = |text| parse_list(text).map_err(|error| (error.offset, error.expected));
        assert_eq!(at(""), Err((0, "[")));
        assert_eq!(at("('a',)"), Err((0, "[")));
        assert_eq!(at("['a'"), Err((4, ", or ]")));
        assert_eq!(at("['a' 'b']"), Err((5, ", or ]")));
        assert_eq!(at("[1]"), Err((1, "a string or ]")));
        assert_eq!(at("[,]"), Err((1, "a string or ]")));
        assert_eq!(at("['a"), Err((3, "a closing quote")));
        assert_eq!(at("['\\q']"), Err((4, "an escape that repr writes")));
        assert_eq!(at("['\\x+1']"), Err((4, "hexadecimal digits")));
        assert_eq!(at("['\\u12"), Err((4, "hexadecimal digits")));
        assert_eq!(at("['a'] + x"), Err((6, "the end")));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

        #[test]
        fn what_is_written_is_read_again(items in prop::collection::vec(prop::collection::vec(any::<char>(), 0..6), 0..5)) {
            let items: Vec<String> = items.into_iter().map(|chars| chars.into_iter().collect()).collect();
            let text = format!("[{}]", items.iter().map(|item| repr(item)).collect::<Vec<_>>().join(", "));
            prop_assert_eq!(parse_list(&text), Ok(items));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[\\[\\]'\",\\\\xuU0-9a \u{e9}]{0,24}") {
            let _ = parse_list(&text);
        }
    }
}
