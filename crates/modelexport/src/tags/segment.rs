//! Names as segments of a tag.
//!
//! Characters that would split a tag are percent-encoded as in a URL: `/`, control characters, and `%` itself, so that the
//! encoding is reversible. In a class also `.`, which separates the class from its suffix. Python identifiers contain none of
//! these, but attribute names and renamed classes can.

/// The class part of a segment.
pub(super) fn push_class(tag: &mut String, name: &str) {
    push_escaped(tag, name, |c| matches!(c, '.' | '/' | '%') || c.is_control());
}

/// The suffix of a segment: an attribute path, whose dots stay.
pub(super) fn push_suffix(tag: &mut String, path: &str) {
    push_escaped(tag, path, |c| matches!(c, '/' | '%') || c.is_control());
}

fn push_escaped(tag: &mut String, text: &str, needs_escape: impl Fn(char) -> bool) {
    const HEX: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
    for c in text.chars() {
        if needs_escape(c) {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                tag.extend(['%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            }
        } else {
            tag.push(c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_breaks_a_tag_is_encoded() {
        let mut class = String::new();
        push_class(&mut class, "Größe.a/b%\n\u{85}");
        assert_eq!(class, "Größe%2Ea%2Fb%25%0A%C2%85");
        let mut suffix = String::new();
        push_suffix(&mut suffix, "layer.0/a b");
        assert_eq!(suffix, "layer.0%2Fa b");
    }
}
