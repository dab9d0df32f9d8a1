//! The fields of a node that matter for tags.

use crate::onnx::error::Error;
use crate::onnx::names;
use crate::onnx::reader::{Extent, Field, Message, Reader, Value};
use crate::onnx::schema::{entry, node};
use crate::onnx::wire::{
    Varint, WireType, first_field, get_varint, put_bytes_field, put_varint, tag, varint_len,
};

/// Fields that a node with tags has, and a few more.
const USUAL_FIELDS: usize = 16;

/// One field of a node: from the file, or new.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub content: Content,
    pub meaning: Meaning,
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    /// A field of the file that is copied without a look at its bytes.
    Field(Field),
    /// A field of the file that was looked at.
    Loaded(Extent, Vec<u8>),
    New(Vec<u8>),
}

/// What a field says, where that can be a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Other,
    DocString(Vec<u8>),
    Entry(String, String),
}

impl Item {
    pub(super) fn new_doc_string(text: &[u8]) -> Item {
        let mut bytes = Vec::new();
        put_doc_string(&mut bytes, text);
        Item { content: Content::New(bytes), meaning: Meaning::DocString(text.to_vec()) }
    }

    pub(super) fn new_entry(key: &str, value: &str) -> Item {
        let bytes = entry_bytes(key, value);
        Item { content: Content::New(bytes), meaning: Meaning::Entry(key.into(), value.into()) }
    }

    /// A field that is put back as its bytes say.
    pub(super) fn restored(bytes: Vec<u8>) -> Item {
        let meaning = meaning(&bytes);
        Item { content: Content::New(bytes), meaning }
    }

    /// The bytes of the field; `None` if they were not looked at.
    pub(super) fn bytes(&self) -> Option<&[u8]> {
        match &self.content {
            Content::Field(_) => None,
            Content::Loaded(_, bytes) | Content::New(bytes) => Some(bytes),
        }
    }

    pub(super) fn is_doc_string(&self) -> bool {
        matches!(self.meaning, Meaning::DocString(_))
    }

    /// Stands for the same bytes in a file.
    pub(super) fn same(&self, other: &Item) -> bool {
        match (&self.content, &other.content) {
            (Content::Field(a), Content::Field(b)) => a.whole == b.whole,
            _ => self.bytes().is_some() && self.bytes() == other.bytes(),
        }
    }
}

/// Appends a `doc_string`.
pub(super) fn put_doc_string(bytes: &mut Vec<u8>, text: &[u8]) {
    put_bytes_field(bytes, node::DOC_STRING, text);
}

/// An entry of `metadata_props` in the form in which everybody writes it.
pub(super) fn entry_bytes(key: &str, value: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_entry(&mut bytes, key, value);
    bytes
}

/// Appends such an entry.
pub(super) fn put_entry(bytes: &mut Vec<u8>, key: &str, value: &str) {
    let (key, value) = (names::to_bytes(key), names::to_bytes(value));
    let field_length = |payload: &[u8]| 1 + varint_len(payload.len() as u64) + payload.len() as u64;
    put_varint(bytes, tag(node::METADATA_PROPS, WireType::Length));
    // The numbers of both fields take one byte.
    put_varint(bytes, field_length(&key) + field_length(&value));
    put_bytes_field(bytes, entry::KEY, &key);
    put_bytes_field(bytes, entry::VALUE, &value);
}

/// The fields of a node, with what those say that could be tags. `loads`: and with the bytes of these.
pub(super) fn items_of(
    reader: &mut Reader<'_>,
    mut message: Message,
    loads: bool,
) -> Result<Vec<Item>, Error> {
    let mut items = Vec::with_capacity(USUAL_FIELDS);
    while let Some(field) = reader.next(&mut message)? {
        let can_be_tag = matches!(field.number, node::DOC_STRING | node::METADATA_PROPS)
            && matches!(field.value, Value::Bytes(_));
        items.push(if can_be_tag {
            let bytes = reader.bytes(field.whole)?;
            let meaning = meaning(&bytes);
            let content = match loads {
                true => Content::Loaded(field.whole, bytes.into_owned()),
                false => Content::Field(field),
            };
            Item { content, meaning }
        } else {
            Item { content: Content::Field(field), meaning: Meaning::Other }
        });
    }
    Ok(items)
}

/// What a whole field of a node says. What is not understood is not ours.
fn meaning(field: &[u8]) -> Meaning {
    let Some((number, payload)) = text_field(field) else { return Meaning::Other };
    match number {
        node::DOC_STRING => Meaning::DocString(payload.to_vec()),
        node::METADATA_PROPS => match key_and_value(payload) {
            Some((key, value)) => Meaning::Entry(key, value),
            None => Meaning::Other,
        },
        _ => Meaning::Other,
    }
}

/// Number and payload of a length-delimited field that `bytes` begins with.
fn text_field(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, length) = first_field(bytes)?;
    let Varint::Value(tag, tag_length) = get_varint(bytes) else { return None };
    if tag & 7 != 2 {
        return None;
    }
    let rest = bytes.get(tag_length as usize..length)?;
    let Varint::Value(_, own_length) = get_varint(rest) else { return None };
    Some((number, rest.get(own_length as usize..)?))
}

fn key_and_value(mut payload: &[u8]) -> Option<(String, String)> {
    let (mut key, mut value) = (None, None);
    while !payload.is_empty() {
        let (_, length) = first_field(payload)?;
        match text_field(payload) {
            Some((entry::KEY, text)) => key = Some(names::from_bytes(text).into_owned()),
            Some((entry::VALUE, text)) => value = Some(names::from_bytes(text).into_owned()),
            _ => {}
        }
        payload = payload.get(length..)?;
    }
    key.map(|key| (key, value.unwrap_or_default()))
}
