//! Changes to a protobuf message, field by field. Lengths of the messages around a change are written anew.

use super::bytes::{self, EDGES};
use crate::random::Random;

#[derive(Clone)]
struct Field {
    number: u64,
    payload: Payload,
}

#[derive(Clone)]
enum Payload {
    Varint(u64),
    Fixed64([u8; 8]),
    Bytes(Vec<u8>),
    Fixed32([u8; 4]),
}

/// Texts that mean something to a reader of ONNX.
const WORDS: [&str; 24] = [
    "",
    "\0",
    "..",
    "../outside",
    "/etc/passwd",
    "data.bin",
    "sub/part.bin",
    "sub/../data.bin",
    "./data.bin",
    "link",
    "hard.bin",
    "pipe",
    "folder",
    "location",
    "offset",
    "length",
    "-1",
    "+1",
    "18446744073709551615",
    "modelexport.tag",
    "modelexport.splice",
    "namespace",
    "{\"hierarchy_tags\":[\"/M\"]}",
    "{\"removed\":[[0,{\"hex\":\"0a\"}]]}",
];

/// Whether the bytes were a message and could be changed as such.
pub fn mutate(message: &mut Vec<u8>, random: &mut Random) -> bool {
    let mut changed = false;
    for _ in 0..random.few() {
        let Some(mut fields) = parse(message) else { return changed };
        change(&mut fields, message, random);
        *message = write(&fields, random);
        changed = true;
    }
    changed
}

/// Goes down to some field and changes it or those beside it.
fn change(fields: &mut Vec<Field>, whole: &[u8], random: &mut Random) {
    let (at, other) = (random.below(fields.len()), random.below(fields.len()));
    if let Some(Field { payload: Payload::Bytes(content), .. }) = fields.get_mut(at)
        && !random.once_in(4)
    {
        match parse(content).filter(|inner| !inner.is_empty()) {
            Some(mut inner) => {
                change(&mut inner, whole, random);
                *content = write(&inner, random);
            }
            None => change_text(content, random),
        }
        return;
    }
    match random.below(8) {
        0 if !fields.is_empty() => _ = fields.remove(at),
        1 if !fields.is_empty() => fields.insert(other, fields[at].clone()),
        2 if !fields.is_empty() => fields.swap(at, other),
        3 => fields.extend(donor(whole, random)),
        4 => fields.push(Field { number: 1 + random.below(30) as u64, payload: payload(random) }),
        5 => match fields.get_mut(at) {
            Some(field) => field.number = 1 + random.below(30) as u64,
            None => fields.extend(donor(whole, random)),
        },
        _ => match fields.get_mut(at).map(|field| &mut field.payload) {
            Some(Payload::Varint(number)) => *number = varint(*number, random),
            Some(other) => *other = payload(random),
            None => {}
        },
    }
}

fn varint(number: u64, random: &mut Random) -> u64 {
    match random.below(4) {
        0 => number.wrapping_add(1),
        1 => number.wrapping_sub(1),
        2 => random.below(32) as u64,
        _ => EDGES[random.below(EDGES.len())],
    }
}

fn payload(random: &mut Random) -> Payload {
    match random.below(5) {
        0 => Payload::Fixed32((random.number() as u32).to_le_bytes()),
        1 => Payload::Fixed64(random.number().to_le_bytes()),
        2 => Payload::Bytes(WORDS[random.below(WORDS.len())].into()),
        3 => Payload::Bytes(vec![0; random.below(64)]),
        _ => Payload::Varint(EDGES[random.below(EDGES.len())]),
    }
}

fn change_text(text: &mut Vec<u8>, random: &mut Random) {
    match random.below(3) {
        0 => *text = WORDS[random.below(WORDS.len())].into(),
        // A name that is there already is more likely to mean something than one that is not.
        1 => text.push(b'0' + random.below(10) as u8),
        _ => bytes::mutate(text, random),
    }
}

/// A field from somewhere in the file.
fn donor(whole: &[u8], random: &mut Random) -> Option<Field> {
    let mut fields = parse(whole)?;
    loop {
        let at = random.below(fields.len());
        if at >= fields.len() {
            return None;
        }
        let field = fields.swap_remove(at);
        match &field.payload {
            Payload::Bytes(content) if !random.once_in(3) => match parse(content) {
                Some(inner) if !inner.is_empty() => fields = inner,
                _ => return Some(field),
            },
            _ => return Some(field),
        }
    }
}

fn parse(mut bytes: &[u8]) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = read_varint(&mut bytes)?;
        let payload = match key & 7 {
            0 => Payload::Varint(read_varint(&mut bytes)?),
            1 => Payload::Fixed64(*bytes.split_off(..8)?.as_array()?),
            2 => {
                let length = usize::try_from(read_varint(&mut bytes)?).ok()?;
                Payload::Bytes(bytes.split_off(..length)?.to_vec())
            }
            5 => Payload::Fixed32(*bytes.split_off(..4)?.as_array()?),
            _ => return None,
        };
        match key >> 3 {
            0 => return None,
            number => fields.push(Field { number, payload }),
        }
    }
    Some(fields)
}

fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.split_off_first()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn write(fields: &[Field], random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    for field in fields {
        let kind = match &field.payload {
            Payload::Varint(_) => 0,
            Payload::Fixed64(_) => 1,
            Payload::Bytes(_) => 2,
            Payload::Fixed32(_) => 5,
        };
        write_varint(&mut bytes, field.number << 3 | kind, 0);
        match &field.payload {
            Payload::Varint(number) => write_varint(&mut bytes, *number, 0),
            Payload::Fixed64(number) => bytes.extend(number),
            Payload::Fixed32(number) => bytes.extend(number),
            Payload::Bytes(content) => {
                // Numbers may take more bytes than they need.
                let padding = if random.once_in(512) { random.below(4) } else { 0 };
                write_varint(&mut bytes, content.len() as u64, padding);
                bytes.extend(content);
            }
        }
    }
    bytes
}

fn write_varint(bytes: &mut Vec<u8>, mut number: u64, padding: usize) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    match padding {
        0 => bytes.push(number as u8),
        _ => {
            bytes.push(number as u8 | 0x80);
            bytes.extend(vec![0x80; padding - 1]);
            bytes.push(0);
        }
    }
}
