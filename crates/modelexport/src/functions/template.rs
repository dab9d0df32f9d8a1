//! Templates: the texts of one call as a pattern for those of another.
//!
//! The texts of identical layers differ only in the name of the layer and in numbers: `encoder.layer.0` and
//! `encoder.layer.7`, `linear_5` and `linear_47`. A template is the text of the first call, split into constant parts, parts
//! that are replaced as a whole (the path of the module, its tag, …, which are known for both calls), and numbers. Numbers
//! that increase by the same amount from call to call share one *shift*, so a few numbers per call restore the texts of
//! hundreds of nodes. The end of a word can also be a number: torch counts `linear`, `linear_1`, ….

use std::collections::HashMap;

/// Longer runs of digits are text: they are no counters, and must not overflow.
const MOST_DIGITS: usize = 15;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// One of the patterns, by its index.
    Replaced(usize),
    Number(i64),
    /// Where a word ends: `_3` may follow.
    WordEnd,
}

/// The text of the first call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template {
    pieces: Vec<Piece>,
}

impl Template {
    /// `patterns`: what names the first call, such as the path of its module. Empty ones are not looked for.
    pub(crate) fn new(text: &str, patterns: &[String]) -> Template {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        let mut previous = None;
        while let Some(next) = rest.chars().next() {
            if let Some((index, length)) = longest_match(rest, previous, patterns) {
                flush(&mut plain, &mut pieces);
                pieces.push(Piece::Replaced(index));
                let (pattern, after) = rest.split_at(length);
                previous = pattern.chars().next_back();
                rest = after;
                continue;
            }
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let is_start = !previous.is_some_and(|c: char| c.is_ascii_digit());
            if is_start && (1..=MOST_DIGITS).contains(&digits) && !(digits > 1 && next == '0') {
                let (number, after) = rest.split_at(digits);
                if let Ok(number) = number.parse() {
                    flush(&mut plain, &mut pieces);
                    pieces.push(Piece::Number(number));
                    previous = Some('0');
                    rest = after;
                    continue;
                }
            }
            plain.push(next);
            rest = rest.get(next.len_utf8()..).unwrap_or_default();
            let ends_here = !rest.chars().next().is_some_and(is_word);
            if (next.is_ascii_alphabetic() || next == '_') && ends_here {
                flush(&mut plain, &mut pieces);
                pieces.push(Piece::WordEnd);
            }
            previous = Some(next);
        }
        flush(&mut plain, &mut pieces);
        Template { pieces }
    }

    /// How far the numbers of `text` are from those of the first call; `None` if the text does not follow the
    /// template. More may come after what the template says.
    pub(crate) fn distances(&self, text: &str, replacements: &[String]) -> Option<Vec<i64>> {
        let mut distances = Vec::new();
        let mut rest = text;
        for piece in &self.pieces {
            match piece {
                Piece::Text(plain) => rest = rest.strip_prefix(plain.as_str())?,
                Piece::Replaced(index) => rest = rest.strip_prefix(replacements.get(*index)?.as_str())?,
                Piece::Number(first) => {
                    let (number, after) = leading_number(rest)?;
                    distances.push(number - first);
                    rest = after;
                }
                Piece::WordEnd => match rest.strip_prefix('_').and_then(leading_number) {
                    Some((number, after)) if number > 0 => {
                        distances.push(number);
                        rest = after;
                    }
                    _ => distances.push(0),
                },
            }
        }
        Some(distances)
    }

    /// The text of another call. `shift` gives the distance of each number in turn.
    pub(crate) fn text(&self, replacements: &[String], shift: &mut dyn FnMut() -> i64) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(plain) => text.push_str(plain),
                Piece::Replaced(index) => {
                    text.push_str(replacements.get(*index).map_or("", String::as_str));
                }
                Piece::Number(first) => {
                    let number = first.checked_add(shift()).filter(|number| *number >= 0).unwrap_or(*first);
                    text.push_str(&number.to_string());
                }
                Piece::WordEnd => {
                    let number = shift();
                    if number > 0 {
                        text.push_str(&format!("_{number}"));
                    }
                }
            }
        }
        text
    }

    pub(crate) fn number_count(&self) -> usize {
        self.pieces.iter().filter(|piece| matches!(piece, Piece::Number(_) | Piece::WordEnd)).count()
    }
}

fn flush(plain: &mut String, pieces: &mut Vec<Piece>) {
    if !plain.is_empty() {
        pieces.push(Piece::Text(std::mem::take(plain)));
    }
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

/// The longest pattern that stands here as whole words, and its length.
fn longest_match(rest: &str, previous: Option<char>, patterns: &[String]) -> Option<(usize, usize)> {
    let stands_here = |pattern: &str| {
        let Some(after) = rest.strip_prefix(pattern) else { return false };
        let starts_inside = pattern.starts_with(is_word) && previous.is_some_and(is_word);
        let ends_inside = pattern.ends_with(is_word) && after.starts_with(is_word);
        !starts_inside && !ends_inside
    };
    let found =
        patterns.iter().enumerate().filter(|(_, pattern)| !pattern.is_empty() && stands_here(pattern));
    // The first of equal ones, so that the choice does not depend on the order of iteration.
    found
        .max_by_key(|(index, pattern)| (pattern.len(), usize::MAX - index))
        .map(|(index, pattern)| (index, pattern.len()))
}

fn leading_number(text: &str) -> Option<(i64, &str)> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, rest) = text.split_at_checked(digits)?;
    let is_plain = (1..=MOST_DIGITS).contains(&digits) && !(digits > 1 && number.starts_with('0'));
    if is_plain { Some((number.parse().ok()?, rest)) } else { None }
}

/// Numbers that move together, over all calls of a function.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Shifts {
    /// For each number of the templates in turn: 0 if it never moves, else which shift it follows, from 1 on.
    pub followed: Vec<u32>,
    /// By call: its shifts.
    pub by_call: Vec<Vec<i64>>,
}

impl Shifts {
    /// `distances` by call: one for each number of the templates in turn.
    pub(crate) fn new(distances: &[Vec<i64>]) -> Shifts {
        let numbers = distances.iter().map(Vec::len).max().unwrap_or(0);
        let mut known: HashMap<Vec<i64>, u32> = HashMap::new();
        let mut shifts =
            Shifts { followed: Vec::with_capacity(numbers), by_call: vec![Vec::new(); distances.len()] };
        for i in 0..numbers {
            let moves: Vec<i64> = distances.iter().map(|call| call.get(i).copied().unwrap_or(0)).collect();
            if moves.iter().all(|distance| *distance == 0) {
                shifts.followed.push(0);
                continue;
            }
            let next = known.len() as u32 + 1;
            let index = *known.entry(moves.clone()).or_insert(next);
            if index == next {
                shifts.by_call.iter_mut().zip(moves).for_each(|(call, distance)| call.push(distance));
            }
            shifts.followed.push(index);
        }
        shifts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn another_layer_follows_from_its_path_and_its_numbers() {
        let first = strings(&["encoder.layer.1", "/M/Layer.1"]);
        let other = strings(&["encoder.layer.10", "/M/Layer.10"]);
        let text =
            "/M/Layer.1/Attention|encoder.layer.1.fc|encoder.layer.12|linear|linear_3: aten.linear.default";
        let template = Template::new(text, &first);
        assert_eq!(template.text(&first, &mut || 0), text);
        let wanted = "/M/Layer.10/Attention|encoder.layer.10.fc|encoder.layer.12|linear_6|linear_9: aten.linear.default";
        let distances = template.distances(wanted, &other).unwrap();
        assert_eq!(distances.len(), template.number_count());
        assert_eq!(distances.iter().filter(|distance| **distance == 6).count(), 2);
        let mut next = distances.into_iter();
        assert_eq!(template.text(&other, &mut || next.next().unwrap_or(0)), wanted);
        assert_eq!(template.distances("something else", &other), None);
    }

    #[test]
    fn numbers_that_are_no_counters_stay_text() {
        for text in ["a007b", "1234567890123456789", "0x1f", "_", "é1", ""] {
            let template = Template::new(text, &[]);
            assert_eq!(template.text(&[], &mut || 0), text);
        }
        assert_eq!(Template::new("a007b", &[]).distances("a008b", &[]), None);
    }

    #[test]
    fn numbers_that_move_alike_share_a_shift() {
        let shifts = Shifts::new(&[vec![0, 0, 0, 0], vec![1, 6, 0, 6], vec![2, 12, 0, 12]]);
        assert_eq!(shifts.followed, [1, 2, 0, 2]);
        assert_eq!(shifts.by_call, [vec![0, 0], vec![1, 6], vec![2, 12]]);
    }
}
