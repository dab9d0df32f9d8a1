//! The `external_data` entries of a tensor.

use super::Reason;

/// Where a tensor says that its bytes are. Other keys (`checksum` and what tools add) are left alone; see [`checksum`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub location: String,
    pub offset: u64,
    pub length: Option<u64>,
}

/// The key of the SHA-1 of a data file.
const CHECKSUM: &str = "checksum";

/// The SHA-1 in digits that a tensor says its data file has.
pub fn checksum(entries: &[(String, String)]) -> Option<&str> {
    entries.iter().find(|(key, _)| key == CHECKSUM).map(|(_, value)| value.as_str())
}

impl Entry {
    pub fn parse(entries: &[(String, String)]) -> Result<Entry, Reason> {
        let find = |key: &'static str| {
            let mut values = entries.iter().filter(|(name, _)| name == key).map(|(_, value)| value);
            match (values.next(), values.next()) {
                (value, None) => Ok(value),
                _ => Err(Reason::Repeated { key }),
            }
        };
        let number = |key: &'static str| -> Result<Option<u64>, Reason> {
            let Some(value) = find(key)? else { return Ok(None) };
            // `parse` would also take a plus sign.
            let digits = Some(value).filter(|value| value.bytes().all(|byte| byte.is_ascii_digit()));
            match digits.and_then(|value| value.parse().ok()) {
                Some(number) => Ok(Some(number)),
                None => Err(Reason::BadNumber { key, value: value.clone() }),
            }
        };
        Ok(Entry {
            location: find("location")?.ok_or(Reason::NoLocation)?.clone(),
            offset: number("offset")?.unwrap_or(0),
            length: number("length")?,
        })
    }

    /// The entries in the order in which onnx writes them.
    pub fn to_entries(&self) -> Vec<(String, String)> {
        let mut entries = vec![
            ("location".to_string(), self.location.clone()),
            ("offset".to_string(), self.offset.to_string()),
        ];
        entries.extend(self.length.map(|length| ("length".to_string(), length.to_string())));
        entries
    }
}
