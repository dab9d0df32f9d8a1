//! Building blocks for the archive's JSON: strings that borrow from the text, maps that keep their order, numbers as Python
//! writes them, and classified errors.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::error::Problem;

/// Deepest nesting of arrays and objects; `serde_json` stops there too.
pub(super) const MAX_JSON_DEPTH: usize = 127;

/// A string that borrows from the JSON text unless it holds escapes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Text<'a>(Cow<'a, str>);

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for Text<'_> {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl Default for Text<'_> {
    fn default() -> Self {
        Text(Cow::Borrowed(""))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(TextVisitor)
    }
}

/// A JSON object as a list of pairs in the order of the text. The reader of a map looks for keys that occur twice.
#[derive(Debug)]
pub(super) struct Map<'a, V>(pub Vec<(Text<'a>, V)>);

impl<V> Default for Map<'_, V> {
    fn default() -> Self {
        Map(Vec::new())
    }
}

impl<'de: 'a, 'a, V: Deserialize<'de>> Deserialize<'de> for Map<'a, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PairsVisitor<V>(PhantomData<V>);

        impl<'de, V: Deserialize<'de>> Visitor<'de> for PairsVisitor<V> {
            type Value = Map<'de, V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Map(pairs))
            }
        }

        deserializer.deserialize_map(PairsVisitor(PhantomData))
    }
}

/// A JSON array whose length nobody knows before its end: kept in pieces, so that a long one is not moved while it
/// grows.
pub(super) struct Pieces<T>(Vec<Vec<T>>);

/// Elements of a piece.
const PIECE: usize = 4096;

impl<T> Pieces<T> {
    pub fn new() -> Self {
        Pieces(Vec::new())
    }

    pub fn len(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten()
    }

    /// Each piece is given back once its elements are taken.
    pub fn into_items(self) -> impl Iterator<Item = T> {
        self.0.into_iter().flatten()
    }

    pub fn push(&mut self, item: T) {
        match self.0.last_mut() {
            Some(piece) if piece.len() < PIECE => piece.push(item),
            Some(_) => {
                let mut piece = Vec::with_capacity(PIECE);
                piece.push(item);
                self.0.push(piece);
            }
            None => self.0.push(vec![item]),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pieces<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PiecesVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for PiecesVisitor<T> {
            type Value = Pieces<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a sequence")
            }

            fn visit_seq<S: SeqAccess<'de>>(self, mut items: S) -> Result<Self::Value, S::Error> {
                let mut pieces = Pieces::new();
                while let Some(item) = items.next_element()? {
                    pieces.push(item);
                }
                Ok(pieces)
            }
        }

        deserializer.deserialize_seq(PiecesVisitor(PhantomData))
    }
}

/// A float; infinities and NaN are strings, and a whole number may come without a point.
#[derive(Debug, Clone, Copy)]
pub(super) struct Float(pub f64);

impl<'de> Deserialize<'de> for Float {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FloatVisitor;

        impl Visitor<'_> for FloatVisitor {
            type Value = Float;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, \"Infinity\", \"-Infinity\" or \"NaN\"")
            }

            fn visit_f64<E>(self, value: f64) -> Result<Float, E> {
                Ok(Float(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Float, E> {
                Ok(Float(value as f64))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Float, E> {
                Ok(Float(value as f64))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Float, E> {
                match text {
                    "Infinity" => Ok(Float(f64::INFINITY)),
                    "-Infinity" => Ok(Float(f64::NEG_INFINITY)),
                    "NaN" => Ok(Float(f64::NAN)),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }
        }

        deserializer.deserialize_any(FloatVisitor)
    }
}

/// One bound of a range: a number, or nothing where the range is open (`null` or an infinity).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bound(pub Option<i64>);

impl<'de> Deserialize<'de> for Bound {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BoundVisitor;

        impl<'de> Visitor<'de> for BoundVisitor {
            type Value = Bound;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number, null or an infinity")
            }

            fn visit_unit<E>(self) -> Result<Bound, E> {
                Ok(Bound(None))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Bound, E> {
                Ok(Bound(Some(value)))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Bound, E> {
                Ok(Bound(i64::try_from(value).ok()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Bound, E> {
                // Whole floats below 2^53 are exact; whatever lies beyond bounds nothing.
                const EXACT: f64 = 9_007_199_254_740_992.0;
                Ok(Bound((value.fract() == 0.0 && value.abs() < EXACT).then_some(value as i64)))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Bound, E> {
                match text {
                    "Infinity" | "-Infinity" => Ok(Bound(None)),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }
        }

        deserializer.deserialize_any(BoundVisitor)
    }
}

/// For unions (objects with one member): an error if there is a second member.
pub(super) fn end_of_union<'de, M: MapAccess<'de>>(map: &mut M, what: &str) -> Result<(), M::Error> {
    match map.next_key::<Text<'de>>()? {
        None => Ok(()),
        Some(second) => {
            Err(M::Error::custom(format_args!("{what} has a second member {:?}; expected one", &*second)))
        }
    }
}

/// Reads `bytes`, the content of the zip entry `entry`, as JSON.
pub(super) fn parse<'a, T: Deserialize<'a>>(entry: &str, bytes: &'a [u8]) -> Result<T, Problem> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| Problem::JsonNotUtf8 { entry: entry.into(), offset: error.valid_up_to() })?;
    serde_json::from_str(text).map_err(|error| explain(entry, bytes, &error))
}

/// Reads a part of a JSON text that was left as it stands. `what` says which part, for messages.
pub(super) fn parse_part<'a, T: Deserialize<'a>>(
    entry: &str,
    part: &'a str,
    what: impl FnOnce() -> String,
) -> Result<T, Problem> {
    serde_json::from_str(part).map_err(|error| {
        let mut problem = explain(entry, part.as_bytes(), &error);
        if let Problem::Json { message, .. } | Problem::JsonDuplicateKey { message, .. } = &mut problem {
            *message = format!("{}: {message}", what());
        }
        problem
    })
}

/// `serde_json` tells kinds of errors apart only by their text, so what matters is found out here.
fn explain(entry: &str, bytes: &[u8], error: &serde_json::Error) -> Problem {
    let message = error.to_string();
    if let Some(offset) = too_deep(bytes) {
        return Problem::JsonTooDeep { entry: entry.into(), limit: MAX_JSON_DEPTH, offset };
    }
    if message.starts_with("duplicate field") || message.starts_with("duplicate key") {
        return Problem::JsonDuplicateKey { entry: entry.into(), message };
    }
    Problem::Json { entry: entry.into(), message }
}

/// Where the nesting first exceeds the limit.
fn too_deep(bytes: &[u8]) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for (offset, byte) in bytes.iter().enumerate() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_JSON_DEPTH {
            return Some(offset);
        }
    }
    None
}
