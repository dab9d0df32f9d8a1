//! Changes to a text word by word, with words that mean something in its language.

use crate::random::Random;

/// Longer texts do not grow.
const MAX_LENGTH: usize = 1 << 14;

/// Whether the bytes were text and could be changed as such.
pub fn mutate(bytes: &mut Vec<u8>, random: &mut Random, words: &[&str]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let mut tokens: Vec<String> = split(text).into_iter().map(str::to_owned).collect();
    for _ in 0..random.few() {
        change(&mut tokens, random, words);
    }
    *bytes = tokens.concat().into_bytes();
    true
}

fn change(tokens: &mut Vec<String>, random: &mut Random, words: &[&str]) {
    let word = random.choose(words).copied().unwrap_or_default().to_owned();
    let (at, other) = (random.below(tokens.len()), random.below(tokens.len()));
    if tokens.is_empty() {
        return tokens.push(word);
    }
    match random.below(9) {
        0 => _ = tokens.remove(at),
        1 => tokens.insert(other, tokens[at].clone()),
        2 => tokens.swap(at, other),
        3 => tokens[at] = tokens[other].clone(),
        4 => tokens.insert(at, word),
        5 => tokens[at].push(['0', '.', '*', '\\', '\u{e9}', '\0', '9'][random.below(7)]),
        // A piece once more, so that brackets nest and lists grow.
        6 => {
            let (start, end) = (at.min(other), at.max(other));
            let piece = tokens[start..=end].to_vec();
            if tokens.iter().map(String::len).sum::<usize>() < MAX_LENGTH {
                tokens.splice(start..start, piece);
            }
        }
        7 if random.once_in(16) => tokens[at] = word.repeat([2, 100, 300, 1000][random.below(4)]),
        _ => tokens[at] = word,
    }
}

/// Words, numbers, white space, and every other character by itself.
fn split(text: &str) -> Vec<&str> {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 1,
        c if c.is_whitespace() => 2,
        _ => 0,
    };
    let mut tokens = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, c) in text.char_indices() {
        if last.is_some_and(|last| last != kind(c) || last == 0) {
            tokens.push(&text[start..at]);
            start = at;
        }
        last = Some(kind(c));
    }
    if start < text.len() {
        tokens.push(&text[start..]);
    }
    tokens
}
