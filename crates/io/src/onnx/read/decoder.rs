//! State shared by all message readers: fields, strings, interned names, and a bound on memory.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use modelexport_graph::hash::HashSet;
use modelexport_graph::onnx::{Metadata, Unknown};
use modelexport_graph::{Name, SourceId};

use crate::onnx::error::Error;
use crate::onnx::limits::{MEMORY_FACTOR, MEMORY_FLOOR};
use crate::onnx::names;
use crate::onnx::reader::{Extent, Field, Message, Reader, Step, Value};
use crate::onnx::schema::entry;

/// What a string takes besides its characters: its header, the allocation, the reference counts of a name.
const STRING_OVERHEAD: u64 = 48;

pub(super) struct Decoder<'a> {
    reader: Reader<'a>,
    source: SourceId,
    interned: HashSet<Name>,
    /// Estimated bytes of the types made so far.
    memory: u64,
}

impl<'a> Deref for Decoder<'a> {
    type Target = Reader<'a>;

    fn deref(&self) -> &Reader<'a> {
        &self.reader
    }
}

impl DerefMut for Decoder<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.reader
    }
}

impl<'a> Decoder<'a> {
    pub(super) fn new(reader: Reader<'a>, source: SourceId) -> Self {
        Decoder { reader, source, interned: HashSet::default(), memory: 0 }
    }

    pub(super) fn source(&self) -> SourceId {
        self.source
    }

    /// Reads a message that is a field of the one being read.
    pub(super) fn message<T>(
        &mut self,
        step: Step,
        mut message: Message,
        read: impl FnOnce(&mut Self, &mut Message) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let start = message.position();
        self.reader.enter(step, start)?;
        let result = self.charge(size_of::<T>() as u64, start).and_then(|()| read(self, &mut message));
        self.reader.leave();
        result
    }

    /// Reads a message of a repeated field into its list.
    pub(super) fn item<T>(
        &mut self,
        list: &mut Vec<T>,
        name: &'static str,
        payload: Extent,
        read: impl FnOnce(&mut Self, &mut Message) -> Result<T, Error>,
    ) -> Result<(), Error> {
        let item = self.message(Step::Item(name, list.len()), Message::new(payload), read)?;
        list.push(item);
        Ok(())
    }

    /// Counts memory that is about to be used. Small messages grow when they are read: an empty node is two bytes
    /// of file.
    pub(super) fn charge(&mut self, bytes: u64, offset: u64) -> Result<(), Error> {
        self.memory += bytes;
        if self.memory > MEMORY_FLOOR + MEMORY_FACTOR * self.reader.consumed() {
            return Err(Error::TooDense { at: self.reader.at(offset), factor: MEMORY_FACTOR });
        }
        Ok(())
    }

    /// Keeps a field as it stands.
    pub(super) fn keep(&mut self, field: &Field, unknown: &mut Unknown) -> Result<(), Error> {
        let bytes = self.reader.bytes(field.whole)?;
        unknown.extend_from_slice(&bytes);
        Ok(())
    }

    /// A string; an empty one is kept in `unknown` too.
    pub(super) fn text(
        &mut self,
        field: &Field,
        payload: Extent,
        unknown: &mut Unknown,
    ) -> Result<String, Error> {
        if payload.len() == 0 {
            self.keep(field, unknown)?;
        }
        self.plain_text(payload)
    }

    /// A string for which an empty one and none are the same, or that is an item of a list.
    pub(super) fn plain_text(&mut self, payload: Extent) -> Result<String, Error> {
        let text = names::from_bytes(&self.reader.bytes(payload)?).into_owned();
        self.charge(STRING_OVERHEAD, payload.start)?;
        Ok(text)
    }

    /// A name; an empty one is kept in `unknown` too.
    pub(super) fn name(
        &mut self,
        field: &Field,
        payload: Extent,
        unknown: &mut Unknown,
    ) -> Result<Name, Error> {
        if payload.len() == 0 {
            self.keep(field, unknown)?;
        }
        self.plain_name(payload)
    }

    /// A name, one in memory however often it occurs.
    pub(super) fn plain_name(&mut self, payload: Extent) -> Result<Name, Error> {
        self.charge(size_of::<Name>() as u64, payload.start)?;
        let bytes = self.reader.bytes(payload)?;
        let text = names::from_bytes(&bytes);
        if let Some(name) = self.interned.get(&*text) {
            return Ok(name.clone());
        }
        let name: Name = Arc::from(&*text);
        drop(text);
        drop(bytes);
        self.interned.insert(name.clone());
        self.charge(STRING_OVERHEAD, payload.start)?;
        Ok(name)
    }

    /// A number; a 0 is kept in `unknown` too.
    pub(super) fn number(&mut self, field: &Field, value: u64, unknown: &mut Unknown) -> Result<u64, Error> {
        if value == 0 {
            self.keep(field, unknown)?;
        }
        Ok(value)
    }

    /// An entry of a list of keys and values. One that says more or less than a key and a value is kept in
    /// `unknown`.
    pub(super) fn entry(
        &mut self,
        field: &Field,
        payload: Extent,
        list: &mut Metadata,
        unknown: &mut Unknown,
    ) -> Result<(), Error> {
        let found = self.message(Step::Item("entry", list.len()), Message::new(payload), read_entry)?;
        match found {
            Some(entry) => list.push(entry),
            None => self.keep(field, unknown)?,
        }
        Ok(())
    }
}

fn read_entry(d: &mut Decoder<'_>, message: &mut Message) -> Result<Option<(String, String)>, Error> {
    let (mut key, mut value) = (None, None);
    while let Some(field) = d.next(message)? {
        match (field.number, field.value) {
            (entry::KEY, Value::Bytes(payload)) => key = Some(d.plain_text(payload)?),
            (entry::VALUE, Value::Bytes(payload)) => value = Some(d.plain_text(payload)?),
            _ => return Ok(None),
        }
    }
    Ok(key.zip(value))
}

/// The signed number that a varint field of type `int32` or an enum holds.
pub(super) fn int32(value: u64) -> i32 {
    value as i32
}

/// The signed number that a varint field of type `int64` holds.
pub(super) fn int64(value: u64) -> i64 {
    value as i64
}
