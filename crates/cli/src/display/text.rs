//! Text in columns: how wide it is and how it is cut.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// At most `columns` wide, with `…` for what is cut off at the end.
pub fn cut_end(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut kept: String = take(text.chars(), columns.saturating_sub(1)).collect();
    if columns > 0 {
        kept.push('…');
    }
    kept
}

/// At most `columns` wide, with `…` for what is cut off at the start, at a `/` if one is left: for tags, whose end tells
/// most.
pub fn cut_start(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let kept: Vec<char> = take(text.chars().rev(), columns.saturating_sub(1)).collect();
    let kept: String = kept.into_iter().rev().collect();
    let whole_segments = kept.find('/').and_then(|slash| kept.get(slash..)).unwrap_or(&kept);
    if columns > 0 { format!("…{whole_segments}") } else { String::new() }
}

fn take(characters: impl Iterator<Item = char>, columns: usize) -> impl Iterator<Item = char> {
    characters.scan(0, move |used, character| {
        *used += character.width().unwrap_or(0);
        (*used <= columns).then_some(character)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_text_fits_and_says_so() {
        assert_eq!(cut_end("attention", 9), "attention");
        assert_eq!(cut_end("attention", 5), "atte…");
        assert_eq!(cut_start("/Model/Layer.0", 8), "…Layer.0");
        assert_eq!(cut_start("/Model/Layer.0", 12), "…/Layer.0");
        assert_eq!((cut_end("ab", 0), cut_start("ab", 1)), (String::new(), "…".to_owned()));
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(width("層0"), 3);
        assert_eq!(cut_end("層層層", 4), "層…");
    }
}
