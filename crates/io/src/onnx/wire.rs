//! Numbers and tags of the protobuf wire format, in memory.

/// How the payload of a field is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WireType {
    Varint,
    Fixed64,
    Length,
    GroupStart,
    GroupEnd,
    Fixed32,
}

impl WireType {
    pub(crate) fn from_bits(bits: u8) -> Option<WireType> {
        Some(match bits {
            0 => WireType::Varint,
            1 => WireType::Fixed64,
            2 => WireType::Length,
            3 => WireType::GroupStart,
            4 => WireType::GroupEnd,
            5 => WireType::Fixed32,
            _ => return None,
        })
    }

    pub(crate) fn bits(self) -> u8 {
        match self {
            WireType::Varint => 0,
            WireType::Fixed64 => 1,
            WireType::Length => 2,
            WireType::GroupStart => 3,
            WireType::GroupEnd => 4,
            WireType::Fixed32 => 5,
        }
    }
}

/// A varint has at most this many bytes.
pub(crate) const MAX_VARINT: usize = 10;

/// Number of bytes of `value` in its shortest form.
pub(crate) fn varint_len(value: u64) -> u64 {
    u64::from((64 - (value | 1).leading_zeros()).div_ceil(7))
}

/// Appends `value` in its shortest form.
pub(crate) fn put_varint(out: &mut Vec<u8>, value: u64) {
    if value < 0x80 {
        out.push(value as u8);
        return;
    }
    put_padded_varint(out, value, 1);
}

/// Appends `value` in `width` bytes, or in more if it does not fit.
pub(crate) fn put_padded_varint(out: &mut Vec<u8>, value: u64, width: u64) {
    let mut rest = value;
    let mut left = varint_len(value).max(width);
    while left > 1 {
        out.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
        left -= 1;
    }
    out.push((rest & 0x7f) as u8);
}

/// The number before a field: its field number and wire type.
pub(crate) fn tag(number: u32, wire_type: WireType) -> u64 {
    u64::from(number) << 3 | u64::from(wire_type.bits())
}

/// Appends a length-delimited field.
pub(crate) fn put_bytes_field(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    put_varint(out, tag(number, WireType::Length));
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// What the start of a buffer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Varint {
    /// The value and how many bytes it took.
    Value(u64, u64),
    /// The buffer ends inside the number.
    Unfinished,
    /// Longer than ten bytes, or more than 64 bits.
    Bad,
}

/// Reads the varint at the start of `bytes`.
pub(crate) fn get_varint(bytes: &[u8]) -> Varint {
    let mut value = 0u64;
    for (i, &byte) in bytes.iter().take(MAX_VARINT).enumerate() {
        let bits = u64::from(byte & 0x7f);
        if i == MAX_VARINT - 1 && bits > 1 {
            return Varint::Bad;
        }
        value |= bits << (7 * i);
        if byte & 0x80 == 0 {
            return Varint::Value(value, i as u64 + 1);
        }
    }
    if bytes.len() < MAX_VARINT { Varint::Unfinished } else { Varint::Bad }
}

/// Number and length (tag and payload) of the field at the start of `bytes`. `None` for groups and for bytes that
/// are no field.
pub(crate) fn first_field(bytes: &[u8]) -> Option<(u32, usize)> {
    let Varint::Value(tag, tag_length) = get_varint(bytes) else { return None };
    let payload = bytes.get(tag_length as usize..)?;
    let length = match (WireType::from_bits((tag & 7) as u8)?, get_varint(payload)) {
        (WireType::Varint, Varint::Value(_, length)) => length,
        (WireType::Fixed64, _) => 8,
        (WireType::Fixed32, _) => 4,
        (WireType::Length, Varint::Value(length, own_length)) => length.checked_add(own_length)?,
        _ => return None,
    };
    let whole = usize::try_from(tag_length.checked_add(length)?).ok()?;
    (whole <= bytes.len()).then_some((u32::try_from(tag >> 3).ok()?, whole))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn varints_come_back_and_have_the_length_that_was_promised(value: u64, width in 1u64..=10) {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, value);
            prop_assert_eq!(bytes.len() as u64, varint_len(value));
            prop_assert_eq!(get_varint(&bytes), Varint::Value(value, varint_len(value)));
            bytes.clear();
            put_padded_varint(&mut bytes, value, width);
            let length = width.max(varint_len(value));
            prop_assert_eq!(get_varint(&bytes), Varint::Value(value, length));
            bytes.pop();
            prop_assert_eq!(get_varint(&bytes), Varint::Unfinished);
        }
    }

    #[test]
    fn the_first_field_ends_where_its_payload_ends() {
        assert_eq!(first_field(&[0x08, 0xac, 0x02, 0x10]), Some((1, 3)));
        assert_eq!(first_field(&[0x32, 0x02, b'a', b'b', 0x10]), Some((6, 4)));
        assert_eq!(first_field(&[0x15, 0, 0, 0, 0]), Some((2, 5)));
        assert_eq!(first_field(&[0x11, 0, 0, 0, 0, 0, 0, 0, 0]), Some((2, 9)));
        for bad in [&[][..], &[0x32, 0x02, b'a'], &[0x0b, 0x0c], &[0x0e], &[0x15, 0]] {
            assert_eq!(first_field(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn known_encodings() {
        let encoded = |value| {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, value);
            bytes
        };
        assert_eq!(encoded(0), [0]);
        assert_eq!(encoded(127), [0x7f]);
        assert_eq!(encoded(300), [0xac, 0x02]);
        assert_eq!(encoded(u64::MAX).len(), 10);
        assert_eq!(get_varint(&[0xff; 11]), Varint::Bad);
        let too_many_bits = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02];
        assert_eq!(get_varint(&too_many_bits), Varint::Bad);
    }
}
