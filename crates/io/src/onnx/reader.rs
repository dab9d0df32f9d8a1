//! Reads messages as sequences of fields, from a source that is not loaded.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt::Write;
use std::io;

use super::error::{Error, Location};
use super::input::Input;
use super::limits::{MAX_LOADED_FIELD, MAX_NESTING};
use super::wire::{MAX_VARINT, Varint, WireType, get_varint};
use crate::source::Source;

/// A range of bytes of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub start: u64,
    pub end: u64,
}

impl Extent {
    pub(super) fn len(self) -> u64 {
        self.end - self.start
    }
}

/// One field of a message and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub number: u32,
    /// Tag and payload.
    pub whole: Extent,
    pub value: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    /// The payload of a length-delimited field: text, bytes, a message or packed numbers.
    Bytes(Extent),
    Group,
}

/// What is left to read of a message. A singular message that occurs more than once is read as one: its parts
/// follow each other, which is how protobuf merges them.
#[derive(Clone, Debug)]
pub(super) struct Message {
    at: u64,
    end: u64,
    rest: VecDeque<Extent>,
}

impl Message {
    pub(super) fn new(extent: Extent) -> Self {
        Message { at: extent.start, end: extent.end, rest: VecDeque::new() }
    }

    /// Adds a part to a singular message that may have been seen before.
    pub(super) fn merge(slot: &mut Option<Message>, part: Extent) {
        match slot {
            Some(message) => message.rest.push_back(part),
            None => *slot = Some(Message::new(part)),
        }
    }

    /// Where the next field would start.
    pub(super) fn position(&self) -> u64 {
        self.at
    }
}

/// One step of the path from the model to a message.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Field(&'static str),
    Item(&'static str, usize),
}

/// Splits messages into fields and knows where it is.
pub(super) struct Reader<'a> {
    input: Input<'a>,
    path: Vec<Step>,
    /// Bytes looked at so far; skipped payloads do not count.
    consumed: u64,
}

impl<'a> Reader<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        Reader { input: Input::new(source), path: Vec::new(), consumed: 0 }
    }

    pub(super) fn file(&self) -> String {
        self.input.source().to_string()
    }

    /// The whole source as one message.
    pub(super) fn whole(&self) -> Message {
        Message::new(Extent { start: 0, end: self.input.len() })
    }

    pub(super) fn consumed(&self) -> u64 {
        self.consumed
    }

    /// The first bytes of the source, for a guess at what it is.
    pub(super) fn head(&mut self, length: usize) -> Vec<u8> {
        self.input.peek(0, length).map(<[u8]>::to_vec).unwrap_or_default()
    }

    /// `offset` in the message that is being read.
    pub(super) fn at(&self, offset: u64) -> Box<Location> {
        place(self.input.source(), &self.path, offset)
    }

    /// Goes one level deeper; [`Reader::leave`] goes back.
    pub(super) fn enter(&mut self, step: Step, offset: u64) -> Result<(), Error> {
        if self.path.len() >= MAX_NESTING {
            return Err(Error::NestedTooDeep { at: self.at(offset), cap: MAX_NESTING });
        }
        self.path.push(step);
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.path.pop();
    }

    /// The next field of `message`, or `None` at its end. Payloads of known length are skipped, not read.
    pub(super) fn next(&mut self, message: &mut Message) -> Result<Option<Field>, Error> {
        while message.at == message.end {
            let Some(part) = message.rest.pop_front() else { return Ok(None) };
            (message.at, message.end) = (part.start, part.end);
        }
        let start = message.at;
        let field = match self.header(message)? {
            (number, WireType::GroupStart) => {
                self.skip_group(message, number)?;
                Field { number, whole: Extent { start, end: message.at }, value: Value::Group }
            }
            (field, WireType::GroupEnd) => {
                return Err(Error::UnmatchedGroup { at: self.at(start), field });
            }
            (number, wire_type) => {
                let value = self.payload(message, wire_type)?;
                Field { number, whole: Extent { start, end: message.at }, value }
            }
        };
        Ok(Some(field))
    }

    fn header(&mut self, message: &mut Message) -> Result<(u32, WireType), Error> {
        let start = message.at;
        let tag = self.varint(message)?;
        let bits = (tag & 7) as u8;
        let number = match u32::try_from(tag >> 3) {
            Ok(number) if number > 0 && number < 1 << 29 => number,
            _ => return Err(Error::BadFieldNumber { at: self.at(start), number: tag >> 3 }),
        };
        match WireType::from_bits(bits) {
            Some(wire_type) => Ok((number, wire_type)),
            None => Err(Error::BadWireType { at: self.at(start), field: number, wire_type: bits }),
        }
    }

    fn payload(&mut self, message: &mut Message, wire_type: WireType) -> Result<Value, Error> {
        Ok(match wire_type {
            WireType::Varint => Value::Varint(self.varint(message)?),
            WireType::Fixed64 => Value::Fixed64(u64::from_le_bytes(self.fixed(message)?)),
            WireType::Fixed32 => Value::Fixed32(u32::from_le_bytes(self.fixed(message)?)),
            WireType::Length => {
                let length = self.varint(message)?;
                let start = message.at;
                self.advance(message, length)?;
                Value::Bytes(Extent { start, end: message.at })
            }
            WireType::GroupStart | WireType::GroupEnd => Value::Group,
        })
    }

    /// Moves behind the end of the group that field `number` has begun. Groups are a form that ONNX never uses;
    /// an unknown field may have it.
    fn skip_group(&mut self, message: &mut Message, number: u32) -> Result<(), Error> {
        let mut open = vec![number];
        while let Some(&innermost) = open.last() {
            let start = message.at;
            match self.header(message)? {
                (number, WireType::GroupStart) => {
                    if self.path.len() + open.len() >= MAX_NESTING {
                        return Err(Error::NestedTooDeep { at: self.at(start), cap: MAX_NESTING });
                    }
                    open.push(number);
                }
                (number, WireType::GroupEnd) if number == innermost => {
                    open.pop();
                }
                (field, WireType::GroupEnd) => {
                    return Err(Error::UnmatchedGroup { at: self.at(start), field });
                }
                (_, wire_type) => {
                    self.payload(message, wire_type)?;
                }
            }
        }
        Ok(())
    }

    fn varint(&mut self, message: &mut Message) -> Result<u64, Error> {
        let room = message.end - message.at;
        let wanted = room.min(MAX_VARINT as u64) as usize;
        let found = match self.input.peek(message.at, wanted) {
            Ok(bytes) => get_varint(bytes),
            Err(source) => return Err(self.unreadable(message.at, source)),
        };
        match found {
            Varint::Value(value, length) => {
                message.at += length;
                self.consumed += length;
                Ok(value)
            }
            Varint::Unfinished => Err(self.too_short(message, room.saturating_add(1))),
            Varint::Bad => Err(Error::BadVarint { at: self.at(message.at) }),
        }
    }

    fn fixed<const N: usize>(&mut self, message: &mut Message) -> Result<[u8; N], Error> {
        let start = message.at;
        self.advance(message, N as u64)?;
        self.consumed += N as u64;
        let mut value = [0; N];
        match self.input.bytes(start, N) {
            Ok(bytes) => value.iter_mut().zip(bytes.iter()).for_each(|(to, from)| *to = *from),
            Err(source) => return Err(self.unreadable(start, source)),
        }
        Ok(value)
    }

    fn advance(&mut self, message: &mut Message, length: u64) -> Result<(), Error> {
        match message.at.checked_add(length) {
            Some(end) if end <= message.end => {
                message.at = end;
                Ok(())
            }
            _ => Err(self.too_short(message, length)),
        }
    }

    /// `needed` bytes were to follow, more than the message has.
    fn too_short(&self, message: &Message, needed: u64) -> Error {
        let missing = message.at.saturating_add(needed).saturating_sub(self.input.len());
        let at = self.at(message.at);
        if missing > 0 {
            Error::Truncated { at, missing }
        } else {
            Error::Overrun { at, needed, room: message.end - message.at }
        }
    }

    fn unreadable(&self, offset: u64, source: io::Error) -> Error {
        Error::Read { at: self.at(offset), source }
    }

    /// The bytes of an extent. Long ones are refused: only tensor data is long, and that is never loaded.
    pub(super) fn bytes(&mut self, extent: Extent) -> Result<Cow<'_, [u8]>, Error> {
        let length = match usize::try_from(extent.len()) {
            Ok(length) if extent.len() <= MAX_LOADED_FIELD => length,
            _ => {
                let at = self.at(extent.start);
                return Err(Error::FieldTooLarge { at, length: extent.len(), cap: MAX_LOADED_FIELD });
            }
        };
        self.consumed += extent.len();
        let (source, path) = (self.input.source(), &self.path);
        let unreadable = |error| Error::Read { at: place(source, path, extent.start), source: error };
        self.input.bytes(extent.start, length).map_err(unreadable)
    }

    /// The numbers of a packed field.
    pub(super) fn packed_varints(&mut self, extent: Extent, mut each: impl FnMut(u64)) -> Result<(), Error> {
        let mut message = Message::new(extent);
        while message.at < message.end {
            each(self.varint(&mut message)?);
        }
        Ok(())
    }

    /// The numbers of a packed field of 4-byte values.
    pub(super) fn packed_fixed32(&mut self, extent: Extent, mut each: impl FnMut(u32)) -> Result<(), Error> {
        let mut message = Message::new(extent);
        while message.at < message.end {
            each(u32::from_le_bytes(self.fixed(&mut message)?));
        }
        Ok(())
    }
}

fn place(source: &Source, steps: &[Step], offset: u64) -> Box<Location> {
    let mut path = String::new();
    for step in steps {
        if !path.is_empty() {
            path.push('.');
        }
        // Writing to a String cannot fail.
        let _ = match step {
            Step::Field(name) => write!(path, "{name}"),
            Step::Item(name, index) => write!(path, "{name}[{index}]"),
        };
    }
    Box::new(Location { file: source.to_string(), offset, path })
}
