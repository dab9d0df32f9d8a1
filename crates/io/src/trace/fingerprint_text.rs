//! Fingerprints as text: many JSON readers lose bits of numbers beyond 53.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Unexpected};
use serde::ser::{Serialize, Serializer};

use super::FingerprintSum;

const DIGITS: usize = 16;

impl Serialize for FingerprintSum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:016x}", self.0))
    }
}

impl<'de> Deserialize<'de> for FingerprintSum {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let is_plain = text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        u64::from_str_radix(&text, 16)
            .ok()
            .filter(|_| is_plain)
            .map(FingerprintSum)
            .ok_or_else(|| D::Error::invalid_value(Unexpected::Str(&text), &"16 hexadecimal digits"))
    }
}

impl JsonSchema for FingerprintSum {
    fn schema_name() -> Cow<'static, str> {
        "FingerprintSum".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Wrapping sum of a 64-bit mix over the bits of all elements, as hexadecimal digits.",
            "type": "string",
            "pattern": "^[0-9a-f]{16}$"
        })
    }
}
