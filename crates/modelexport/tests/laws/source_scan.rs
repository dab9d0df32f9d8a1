//! What Rust sources say outside comments and test code: identifiers and string literals, with their lines.

use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub line: usize,
    pub text: String,
    pub is_literal: bool,
}

/// The product's sources below `folder`: `.rs` files that are no tests.
pub fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).expect("can be listed") {
            let path = entry.expect("can be listed").path();
            let is_tests = path.file_stem().is_some_and(|stem| stem == "tests");
            if is_tests || path.file_name().is_some_and(|name| name == "benches") {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Identifiers and string literals of `source` without comments and without items under `#[cfg(test)]`.
pub fn tokens(source: &str) -> Vec<Token> {
    let mut scanner = Scanner { source, at: 0, line: 1 };
    let mut found = Vec::new();
    // Inside an item of test code: how many braces are open.
    let mut skipped: Option<usize> = None;
    while let Some(lexeme) = scanner.next() {
        match lexeme {
            Lexeme::TestAttribute if skipped.is_none() => skipped = Some(0),
            Lexeme::TestAttribute => {}
            Lexeme::Punctuation(sign) => {
                skipped = match (skipped, sign) {
                    (Some(depth), '{') => Some(depth + 1),
                    (Some(0), ';') | (Some(1), '}') => None,
                    (Some(depth), '}') => Some(depth.saturating_sub(1)),
                    (other, _) => other,
                }
            }
            Lexeme::Token(token) if skipped.is_none() => found.push(token),
            Lexeme::Token(_) => {}
        }
    }
    found
}

enum Lexeme {
    Token(Token),
    TestAttribute,
    Punctuation(char),
}

struct Scanner<'a> {
    source: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    fn skip(&mut self, bytes: usize) -> &'a str {
        let taken = &self.rest()[..bytes.min(self.rest().len())];
        self.at += taken.len();
        self.line += taken.matches('\n').count();
        taken
    }

    fn next(&mut self) -> Option<Lexeme> {
        loop {
            let rest = self.rest();
            let first = rest.chars().next()?;
            let line = self.line;
            if rest.starts_with("//") {
                self.skip(rest.find('\n').unwrap_or(rest.len()));
            } else if rest.starts_with("/*") {
                self.skip(rest.find("*/").map_or(rest.len(), |end| end + 2));
            } else if rest.starts_with("#[cfg(test)]") {
                self.skip("#[cfg(test)]".len());
                return Some(Lexeme::TestAttribute);
            } else if let Some((prefix, end)) = raw_string(rest) {
                let text = rest[prefix..].split_once(end.as_str()).map_or("", |(text, _)| text).to_owned();
                self.skip(prefix + text.len() + end.len());
                return Some(Lexeme::Token(Token { line, text, is_literal: true }));
            } else if first == '"' {
                let length = string_length(&rest[1..]);
                let text = rest[1..1 + length].to_owned();
                self.skip(length + 2);
                return Some(Lexeme::Token(Token { line, text, is_literal: true }));
            } else if first == '\'' {
                self.skip(quote_length(rest));
            } else if first.is_alphabetic() || first == '_' {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                // The `b` of a byte string belongs to the literal that follows.
                let text = self.skip(end).to_owned();
                if !(text == "b" && self.rest().starts_with(['"', '\''])) {
                    return Some(Lexeme::Token(Token { line, text, is_literal: false }));
                }
            } else {
                self.skip(first.len_utf8());
                if !first.is_whitespace() {
                    return Some(Lexeme::Punctuation(first));
                }
            }
        }
    }
}

/// If a raw string starts here: the length of its opening, and its end.
fn raw_string(rest: &str) -> Option<(usize, String)> {
    let after = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    after[hashes..].starts_with('"').then(|| {
        let opening = rest.len() - after.len() + hashes + 1;
        (opening, format!("\"{}", "#".repeat(hashes)))
    })
}

/// Bytes up to the closing quote of a string.
fn string_length(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at,
            _ => {}
        }
    }
    rest.len()
}

/// A character literal whole; of a lifetime only the quote.
fn quote_length(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some((escaped, _))) => {
            rest[escaped + 1..].find('\'').map_or(rest.len(), |end| escaped + end + 2)
        }
        (Some(_), Some((end, '\''))) => end + 1,
        _ => 1,
    }
}

/// The words of an identifier or text, in lower case: `BertSelfOutput` and `bert_self_output` give three.
pub fn words(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut previous = ' ';
    for c in text.chars() {
        let starts = !previous.is_alphanumeric() || (c.is_uppercase() && !previous.is_uppercase());
        if c.is_alphanumeric() {
            match found.last_mut() {
                Some(word) if !starts => word.extend(c.to_lowercase()),
                _ => found.push(c.to_lowercase().collect()),
            }
        }
        previous = c;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        tokens(source).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn comments_and_test_code_are_left_out() {
        let source = r##"
            // comment "one"
            fn kept<'a>(x: &'a str) -> char { /* "two" */ if x == "three" { '"' } else { '\'' } }
            #[cfg(test)]
            mod tests { fn dropped() { assert_eq!("four", r#"fi"ve"#); } }
            #[cfg(test)]
            mod more;
            const RAW: &[u8] = br#"six "7""#;
        "##;
        let expected = [
            "fn",
            "kept",
            "a",
            "x",
            "a",
            "str",
            "char",
            "if",
            "x",
            "three",
            "else",
            "const",
            "RAW",
            "u8",
            "six \"7\"",
        ];
        assert_eq!(texts(source), expected);
    }

    #[test]
    fn literals_are_told_apart_and_located() {
        let found = tokens("let a =\n \"b\\\"c\";");
        assert_eq!(found[2], Token { line: 2, text: "b\\\"c".into(), is_literal: true });
        assert!(!found[1].is_literal);
    }

    #[test]
    fn words_split_at_case_and_signs() {
        assert_eq!(words("BertSelf_output.layer2"), ["bert", "self", "output", "layer2"]);
        assert_eq!(words("GPT"), ["gpt"]);
    }
}
