//! What cannot be derived from the tagged file about the original, stored beside the tags.
//!
//! Most nodes need no record: their tags are appended, or replace the old `doc_string`. A node gets one more entry, [`KEY`],
//! if something else was replaced (an entry with the same key, an unusually encoded `doc_string`), or if the length of a
//! message around it took more bytes than needed.

use serde::{Deserialize, Serialize};

use super::item::{Item, Meaning, entry_bytes};
use crate::onnx::names;

/// The key of the entry.
pub const KEY: &str = "modelexport.splice";

/// The value of the entry, as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    /// The last `doc_string` is ours.
    #[serde(default, skip_serializing_if = "is_false")]
    pub doc_string: bool,
    /// Keys of the entries after this one that are ours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
    /// Fields that were taken out, with the index that they had among the fields of the node, lowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<(usize, Removed)>,
    /// Bytes that the length of a message took: of the node (0), of the graph or function around it (1), and so on
    /// outwards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub widths: Vec<(usize, u64)>,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// A field that was taken out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Removed {
    /// An entry of `metadata_props` in the usual form.
    Entry(String, String),
    /// The bytes of any other field.
    Hex(String),
}

impl Removed {
    pub(super) fn of(item: &Item) -> Removed {
        let bytes = item.bytes().unwrap_or_default();
        match &item.meaning {
            Meaning::Entry(key, value)
                if is_text(key) && is_text(value) && entry_bytes(key, value) == bytes =>
            {
                Removed::Entry(key.clone(), value.clone())
            }
            _ => Removed::Hex(bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
        }
    }

    /// `None` if it is no field.
    pub(super) fn restore(&self) -> Option<Item> {
        match self {
            Removed::Entry(key, value) => Some(Item::new_entry(key, value)),
            Removed::Hex(digits) => from_hex(digits).map(Item::restored),
        }
    }
}

/// Goes into a file as it is.
fn is_text(text: &str) -> bool {
    *names::to_bytes(text) == *text.as_bytes()
}

fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let nibble = |digit: u8| char::from(digit).to_digit(16);
    let pairs = digits.as_bytes().chunks(2).map(|pair| match pair {
        &[high, low] => u8::try_from(nibble(high)? << 4 | nibble(low)?).ok(),
        _ => None,
    });
    pairs.collect()
}

impl Record {
    /// The entry that holds the record.
    pub(super) fn to_item(&self) -> Item {
        // Strings, numbers and lists always have a JSON form.
        Item::new_entry(KEY, &serde_json::to_string(self).unwrap_or_default())
    }

    /// The record that an item holds.
    pub(super) fn of(item: &Item) -> Option<Record> {
        match &item.meaning {
            Meaning::Entry(key, value) if key == KEY => serde_json::from_str(value).ok(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_back_from_its_entry() {
        let odd = Item::restored(vec![0xb2, 0x80, 0x00, 0x01, 0xff]);
        let record = Record {
            doc_string: true,
            keys: vec!["namespace".into()],
            removed: vec![(3, Removed::of(&Item::new_entry("a", "b"))), (5, Removed::of(&odd))],
            widths: vec![(1, 5)],
        };
        let item = record.to_item();
        assert_eq!(Record::of(&item), Some(record.clone()));
        let Meaning::Entry(_, json) = &item.meaning else { panic!("{item:?}") };
        assert_eq!(
            json,
            r#"{"doc_string":true,"keys":["namespace"],"removed":[[3,{"entry":["a","b"]}],[5,{"hex":"b2800001ff"}]],"widths":[[1,5]]}"#
        );
        let restored: Vec<_> = record.removed.iter().map(|(_, field)| field.restore().unwrap()).collect();
        assert_eq!(restored[0].bytes(), Item::new_entry("a", "b").bytes());
        assert_eq!(restored[1].bytes(), odd.bytes());
    }

    #[test]
    fn what_is_no_record_is_left_alone() {
        for value in ["", "{", r#"{"other":1}"#] {
            assert_eq!(Record::of(&Item::new_entry(KEY, value)), None);
        }
        assert_eq!(Record::of(&Item::new_entry("other", "{}")), None);
        assert!(Removed::Hex("abc".into()).restore().is_none());
        assert!(Removed::Hex("zz".into()).restore().is_none());
    }
}
