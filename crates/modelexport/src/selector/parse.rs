//! Parses a selector.

use modelexport_graph::check_tag;

use super::tag_pattern::TagPattern;
use super::{Error, Kind, Selector, Term};
use crate::pattern::{ClassPattern, PathPattern, PatternError};

pub(super) const CLASS: &str = "class:";
const DEPTH: &str = "depth:";

pub(super) fn selector(text: &str) -> Result<Selector, Error> {
    let terms: Result<Vec<Term>, Error> = split(text).into_iter().map(term).collect();
    Ok(Selector { terms: terms? })
}

/// Splits at commas, but not inside brackets or behind a backslash, where they belong to a glob.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut open, mut is_escaped) = (Vec::new(), 0, 0u32, false);
    for (i, character) in text.char_indices() {
        match character {
            _ if is_escaped => {
                is_escaped = false;
                continue;
            }
            '\\' => is_escaped = true,
            '{' | '[' => open += 1,
            '}' | ']' => open = open.saturating_sub(1),
            ',' if open == 0 => {
                parts.extend(text.get(start..i));
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.extend(text.get(start..));
    parts
}

fn term(text: &str) -> Result<Term, Error> {
    let text = text.trim();
    let unusable = |reason: PatternError| Error::Pattern { selector: text.to_owned(), reason };
    let kind = if text == "." {
        Kind::Root
    } else if let Some(depth) = text.strip_prefix(DEPTH) {
        let number = depth.trim().parse().map_err(|_| Error::BadDepth { selector: text.to_owned() })?;
        Kind::Depth(number)
    } else if let Some(class) = text.strip_prefix(CLASS) {
        Kind::Class(ClassPattern::parse(class.trim()).map_err(unusable)?)
    } else if text.starts_with('/') {
        check_tag(text).map_err(|reason| Error::BadTag { selector: text.to_owned(), reason })?;
        Kind::Tag(TagPattern::parse(text).map_err(unusable)?)
    } else {
        Kind::Path(PathPattern::parse(text).map_err(unusable)?)
    };
    Ok(Term { text: text.to_owned(), kind })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_separate_unless_a_glob_holds_them() {
        assert_eq!(split("a,b.c"), ["a", "b.c"]);
        assert_eq!(split("{a,b}.c,d[,]"), ["{a,b}.c", "d[,]"]);
        assert_eq!(split(r"a\,b,c"), [r"a\,b", "c"]);
        assert_eq!(split(""), [""]);
    }

    #[test]
    fn unusable_selectors_say_why() {
        let error = |text: &str| selector(text).unwrap_err().to_string();
        assert_eq!(error(""), "selector \"\": the pattern is empty");
        assert_eq!(error("a,"), "selector \"\": the pattern is empty");
        assert_eq!(error("class:"), "selector \"class:\": the pattern is empty");
        assert_eq!(error("depth:x"), "selector \"depth:x\": a depth is a number, such as depth:2");
        assert_eq!(error("depth:-1"), "selector \"depth:-1\": a depth is a number, such as depth:2");
        assert_eq!(error("/a//b"), "selector \"/a//b\": a tag has an empty segment");
        assert!(error("a[").starts_with("selector \"a[\": "), "{}", error("a["));
    }
}
