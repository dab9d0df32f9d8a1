//! Changes to JSON that leave it JSON: members go, come twice, change places and kinds.

use crate::random::Random;

/// Deeper texts are not taken apart.
const MAX_DEPTH: usize = 200;

/// Leaves and keys are kept as they were written.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Leaf(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

const LEAVES: [&str; 26] = [
    "null",
    "true",
    "false",
    "0",
    "1",
    "-1",
    "2",
    "7",
    "255",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551615",
    "100000000000000000000",
    "0.5",
    "1e308",
    "-1e-400",
    "\"\"",
    "\"\\u0000\"",
    "\"\\ud83d\\ude00\"",
    "\"/\"",
];

/// Whether the bytes were JSON and could be changed as such.
pub fn mutate(bytes: &mut Vec<u8>, random: &mut Random) -> bool {
    let Some(mut json) = Json::parse(bytes) else { return false };
    for _ in 0..random.few() {
        change(&mut json, random);
    }
    *bytes = json.to_string().into_bytes();
    true
}

fn change(json: &mut Json, random: &mut Random) {
    let count = json.count();
    let donor = json.get(random.below(count)).cloned();
    let Some(place) = json.get_mut(random.below(count)) else { return };
    match (place, random.below(4)) {
        (Json::Leaf(text), 0 | 1) => change_leaf(text, donor, random),
        (Json::Array(items), 0..=2) => {
            change_list(items, random, |_| donor.unwrap_or(Json::Array(Vec::new())))
        }
        (Json::Object(members), 0..=2) => {
            let keys: Vec<String> = members.iter().map(|(key, _)| key.clone()).collect();
            let new = |random: &mut Random| {
                let key = random.choose(&keys).cloned().unwrap_or_else(|| "\"new\"".into());
                (key, donor.unwrap_or(Json::Object(Vec::new())))
            };
            change_list(members, random, new);
        }
        (place, 2) => *place = Json::Leaf((*random.choose(&LEAVES).unwrap_or(&"null")).into()),
        (place, _) => match random.below(24) {
            0 => *place = Json::Leaf(nested(random)),
            1 => *place = Json::Array(vec![place.clone()]),
            _ => *place = donor.unwrap_or_else(|| place.clone()),
        },
    }
}

/// Keeps the kind of the leaf: a name becomes another name, a number its neighbour.
fn change_leaf(text: &mut String, donor: Option<Json>, random: &mut Random) {
    if let Ok(number) = text.parse::<i64>() {
        let other = match random.below(6) {
            0 => number.wrapping_add(1),
            1 => number.wrapping_sub(1),
            2 => number.wrapping_mul(2),
            3 => number.wrapping_neg(),
            4 => 1 << random.below(63),
            _ => random.below(16) as i64,
        };
        *text = other.to_string();
    } else if let Some(Json::Leaf(other)) = donor
        && other.starts_with('"') == text.starts_with('"')
        && random.once_in(2)
    {
        *text = other;
    } else if text.starts_with('"') && text.len() > 2 {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).skip(1).collect();
        let at = *random.choose(&places).unwrap_or(&1);
        // A backslash before the place belongs to what follows.
        if !text[..at].ends_with('\\') {
            let pieces =
                [".", ",", ";", "/", "_", "0", "(", ")", "*", " ", "\\n", "\\u0000", "é", "aten.", "@1"];
            text.insert_str(at, random.choose(&pieces).unwrap_or(&"x"));
        }
    } else if let Some(leaf) = random.choose(&LEAVES) {
        *text = (*leaf).into();
    }
}

fn change_list<T: Clone>(items: &mut Vec<T>, random: &mut Random, new: impl FnOnce(&mut Random) -> T) {
    let (at, other) = (random.below(items.len()), random.below(items.len()));
    match random.below(5) {
        0 if !items.is_empty() => _ = items.remove(at),
        1 if !items.is_empty() => items.insert(other, items[at].clone()),
        2 if !items.is_empty() => items.swap(at, other),
        3 if !items.is_empty() => items[at] = items[other].clone(),
        _ => items.insert(at, new(random)),
    }
}

/// Nested so deep that a reader without a limit runs out of stack.
fn nested(random: &mut Random) -> String {
    let depth = [10, 100, 127, 128, 1000, 100_000][random.below(6)];
    let (open, close) = if random.once_in(2) { ("[", "]") } else { ("{\"a\":", "}") };
    format!("{}0{}", open.repeat(depth), close.repeat(depth))
}

impl Json {
    pub fn parse(bytes: &[u8]) -> Option<Json> {
        let mut parser = Parser { text: std::str::from_utf8(bytes).ok()?, at: 0 };
        let json = parser.value(0)?;
        parser.peek().is_none().then_some(json)
    }

    pub fn member(&self, key: &str) -> Option<&Json> {
        let Json::Object(members) = self else { return None };
        members.iter().find(|(name, _)| name.get(1..name.len() - 1) == Some(key)).map(|(_, value)| value)
    }

    /// Removes every member of this name.
    pub fn remove(&mut self, key: &str) {
        match self {
            Json::Leaf(_) => {}
            Json::Array(items) => items.iter_mut().for_each(|item| item.remove(key)),
            Json::Object(members) => {
                members.retain(|(name, _)| name.get(1..name.len() - 1) != Some(key));
                members.iter_mut().for_each(|(_, value)| value.remove(key));
            }
        }
    }

    fn count(&self) -> usize {
        1 + match self {
            Json::Leaf(_) => 0,
            Json::Array(items) => items.iter().map(Json::count).sum::<usize>(),
            Json::Object(members) => members.iter().map(|(_, value)| value.count()).sum(),
        }
    }

    fn get(&self, mut index: usize) -> Option<&Json> {
        fn walk<'a>(json: &'a Json, index: &mut usize) -> Option<&'a Json> {
            if *index == 0 {
                return Some(json);
            }
            *index -= 1;
            match json {
                Json::Leaf(_) => None,
                Json::Array(items) => items.iter().find_map(|item| walk(item, index)),
                Json::Object(members) => members.iter().find_map(|(_, value)| walk(value, index)),
            }
        }
        walk(self, &mut index)
    }

    fn get_mut(&mut self, mut index: usize) -> Option<&mut Json> {
        fn walk<'a>(json: &'a mut Json, index: &mut usize) -> Option<&'a mut Json> {
            if *index == 0 {
                return Some(json);
            }
            *index -= 1;
            match json {
                Json::Leaf(_) => None,
                Json::Array(items) => items.iter_mut().find_map(|item| walk(item, index)),
                Json::Object(members) => members.iter_mut().find_map(|(_, value)| walk(value, index)),
            }
        }
        walk(self, &mut index)
    }
}

impl std::fmt::Display for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Json::Leaf(text) => f.write_str(text),
            Json::Array(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i == 0 { "" } else { "," })?;
                }
                f.write_str("]")
            }
            Json::Object(members) => {
                f.write_str("{")?;
                for (i, (key, value)) in members.iter().enumerate() {
                    write!(f, "{}{key}:{value}", if i == 0 { "" } else { "," })?;
                }
                f.write_str("}")
            }
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    fn eat(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        if depth > MAX_DEPTH {
            return None;
        }
        match self.peek()? {
            b'[' => self.list(b'[', b']', |parser| parser.value(depth + 1)).map(Json::Array),
            b'{' => {
                let member = |parser: &mut Self| {
                    let key = parser.leaf().filter(|key| key.starts_with('"'))?;
                    let value = if parser.eat(b':') { parser.value(depth + 1)? } else { return None };
                    Some((key, value))
                };
                self.list(b'{', b'}', member).map(Json::Object)
            }
            _ => self.leaf().map(Json::Leaf),
        }
    }

    fn list<T>(&mut self, open: u8, close: u8, item: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut items = Vec::new();
        self.eat(open);
        while !self.eat(close) {
            if !items.is_empty() && !self.eat(b',') {
                return None;
            }
            items.push(item(self)?);
        }
        Some(items)
    }

    fn leaf(&mut self) -> Option<String> {
        let is_string = self.peek()? == b'"';
        let start = self.at;
        let rest = &self.text.as_bytes()[start..];
        let length = match is_string {
            true => {
                let mut escaped = false;
                let end = rest.iter().skip(1).position(|&byte| {
                    let ends = byte == b'"' && !escaped;
                    escaped = byte == b'\\' && !escaped;
                    ends
                });
                end? + 2
            }
            false => rest.iter().position(|byte| b",]} \n\r\t:".contains(byte)).unwrap_or(rest.len()),
        };
        self.at += length;
        (length > 0).then(|| self.text[start..self.at].to_owned())
    }
}
