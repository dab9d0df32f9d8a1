//! Lossless conversion of the strings of a file to Rust strings.
//!
//! Protobuf strings should be UTF-8, but a file can contain other bytes, and a name must be written back unchanged. Each
//! byte that is not part of valid UTF-8 becomes one character of an unused range: byte `0x80 + n` becomes `U+10FE80 + n`,
//! in the last but one block of a private-use plane. If a file contains one of these 128 characters, its four bytes are
//! read in the same way, which keeps the mapping reversible: [`to_bytes`] reverts [`from_bytes`] for every sequence of
//! bytes.
//!
//! NUL and other control characters are plain characters here. [`for_screen`] escapes all of these.

use std::borrow::Cow;

/// Stands for byte `0x80`.
const FIRST: u32 = 0x10_FE80;
/// Stands for byte `0xFF`.
const LAST: u32 = 0x10_FEFF;
/// All characters of the range begin with these bytes in UTF-8 (and so do 256 others).
const LEAD: u8 = 0xf4;

fn stand_in(byte: u8) -> char {
    char::from_u32(FIRST - 0x80 + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn raw_byte(character: char) -> Option<u8> {
    let code = character as u32;
    (FIRST..=LAST).contains(&code).then(|| (code - FIRST + 0x80) as u8)
}

/// The text of some bytes of a file.
pub fn from_bytes(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes)
        && (!bytes.contains(&LEAD) || text.chars().all(|c| raw_byte(c).is_none()))
    {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if raw_byte(character).is_some() {
                text.extend(character.encode_utf8(&mut [0; 4]).bytes().map(stand_in));
            } else {
                text.push(character);
            }
        }
        text.extend(chunk.invalid().iter().copied().map(stand_in));
    }
    Cow::Owned(text)
}

/// The bytes that stand for a text in a file.
pub fn to_bytes(text: &str) -> Cow<'_, [u8]> {
    if text.is_ascii() || !text.as_bytes().contains(&LEAD) || text.chars().all(|c| raw_byte(c).is_none()) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    for character in text.chars() {
        match raw_byte(character) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(bytes)
}

/// The text with everything escaped that a terminal could take as a command or that would hide what it says:
/// control characters, bytes that are no UTF-8, marks that reorder the line or cannot be seen.
pub fn for_screen(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unprintable) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match raw_byte(character) {
            Some(byte) => shown.push_str(&format!("\\x{byte:02x}")),
            None if is_unprintable(character) => shown.extend(character.escape_default()),
            None => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

/// Whether a character must not reach a terminal as it is.
pub fn is_unprintable(character: char) -> bool {
    let reorders = matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_invisible = matches!(character,
        '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{206a}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    let breaks_line = matches!(character, '\u{2028}' | '\u{2029}');
    character.is_control() || reorders || is_invisible || breaks_line || raw_byte(character).is_some()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_come_back(bytes: Vec<u8>) {
            let text = from_bytes(&bytes);
            prop_assert_eq!(to_bytes(&text), &bytes[..]);
        }

        #[test]
        fn bytes_that_look_like_stand_ins_come_back(
            parts in prop::collection::vec(prop::sample::select(vec![
                &b"\xf4\x8f\xba\x80"[..], b"\xf4\x8f\xbb\xbf", b"\xf4\x8f", b"\xf4", b"\x80", b"a", b"\xc3\xa9",
            ]), 0..8)
        ) {
            let bytes = parts.concat();
            let text = from_bytes(&bytes);
            prop_assert_eq!(to_bytes(&text), &bytes[..]);
        }
    }

    #[test]
    fn valid_text_is_itself() {
        for text in ["", "conv1/weight", "Größe", "a\0b", "\u{10fffd}"] {
            assert_eq!(from_bytes(text.as_bytes()), text);
            assert!(matches!(from_bytes(text.as_bytes()), Cow::Borrowed(_)));
            assert_eq!(to_bytes(text), text.as_bytes());
        }
    }

    #[test]
    fn different_bytes_are_different_names() {
        assert_ne!(from_bytes(b"\xff"), from_bytes(b"\xfe"));
        assert_ne!(from_bytes(b"\xff"), from_bytes("\u{10feff}".as_bytes()));
    }

    #[test]
    fn the_screen_gets_no_commands() {
        assert_eq!(for_screen("plain é"), "plain é");
        assert_eq!(for_screen("a\0b\x1b[31m\n"), r"a\u{0}b\u{1b}[31m\n");
        assert_eq!(for_screen(&from_bytes(b"w\xff\xc3")), r"w\xff\xc3");
        assert_eq!(for_screen("a\u{202e}b\u{200b}"), r"a\u{202e}b\u{200b}");
    }
}
