//! A JSON text that is read from front to back through a short window, so that it is never in memory as a whole.

use rawzip::{Crc32, ReaderAt};
use serde::de::{Deserialize, IgnoredAny};
use serde_json::value::RawValue;

/// Bytes that are read at once: small enough to stay in the processor's cache until they are looked at.
const STEP: usize = 256 << 10;

/// A place in a text, and some of what follows. Whatever is not as it should be is `None`.
pub(super) struct Window<'r, R: ?Sized> {
    reader: &'r R,
    /// Where the text goes on behind the window, and where it ends.
    next: u64,
    end: u64,
    text: String,
    /// The place, counted from the start of the window.
    at: usize,
    /// The first bytes of a character whose others are behind the window.
    cut: Vec<u8>,
    checksum: Crc32,
    is_broken: bool,
}

impl<'r, R: ReaderAt + ?Sized> Window<'r, R> {
    /// A window at the start of the text that lies from `start` to `end`.
    pub fn new(reader: &'r R, start: u64, end: u64) -> Self {
        let (text, cut) = (String::new(), Vec::new());
        Window { reader, next: start, end, text, at: 0, cut, checksum: Crc32::new(), is_broken: false }
    }

    /// The checksum of what was read: of the whole text once its end was met.
    pub fn checksum(&self) -> u32 {
        self.checksum.checksum()
    }

    /// Bytes of the text that were not in the window yet.
    fn unread(&self) -> u64 {
        self.end.saturating_sub(self.next)
    }

    /// Bytes of the text from here on.
    pub fn left(&self) -> u64 {
        self.unread() + (self.cut.len() + self.rest().len()) as u64
    }

    /// Whether the whole text was read.
    pub fn is_at_end(&self) -> bool {
        self.left() == 0 && !self.is_broken
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Reads more, at least as much as is there: a value that does not fit is looked at again, and this bounds how often.
    pub fn grow(&mut self) -> Option<()> {
        if self.unread() == 0 || self.is_broken {
            return None;
        }
        // Until it is known that what comes is a text.
        self.is_broken = true;
        let mut bytes = std::mem::take(&mut self.text).into_bytes();
        bytes.drain(..self.at.min(bytes.len()));
        self.at = 0;
        bytes.append(&mut self.cut);
        let known = bytes.len();
        let more = usize::try_from(self.unread()).map_or(STEP, |unread| unread.min(known.max(STEP)));
        bytes.resize(known + more, 0);
        let new = bytes.get_mut(known..)?;
        self.reader.read_exact_at(new, self.next).ok()?;
        self.checksum.update(new);
        self.next += more as u64;
        self.text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let valid = error.utf8_error();
                let mut bytes = error.into_bytes();
                // The end may be in the middle of a character. At the end of the text it may not.
                if valid.error_len().is_some() || self.unread() == 0 {
                    return None;
                }
                self.cut = bytes.split_off(valid.valid_up_to());
                String::from_utf8(bytes).ok()?
            }
        };
        self.is_broken = false;
        Some(())
    }

    /// The next byte that is not white space; the window stands before it then. `None` at the end.
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            match self.text.as_bytes().get(self.at) {
                Some(b' ' | b'\n' | b'\t' | b'\r') => self.at += 1,
                Some(byte) => return Some(*byte),
                None => self.grow()?,
            }
        }
    }

    /// Goes over `byte`, if that is next.
    pub fn take(&mut self, byte: u8) -> Option<()> {
        if self.peek()? != byte {
            return None;
        }
        self.at += 1;
        Some(())
    }

    /// Whether `text` is next.
    pub fn starts_with(&self, text: &str) -> bool {
        self.rest().starts_with(text)
    }

    /// The value that is next, with its text, which [`Window::skip`] goes over; `Some(None)` if it does not end in the
    /// window, which must [`Window::grow`] then.
    pub fn value<'w, T: Deserialize<'w>>(&'w self) -> Option<Option<(T, &'w str)>> {
        let rest = self.rest();
        let mut values = serde_json::Deserializer::from_str(rest).into_iter();
        let value = match values.next() {
            Some(Ok(value)) => value,
            Some(Err(error)) if !error.is_eof() => return None,
            Some(Err(_)) | None => return Some(None),
        };
        let length = values.byte_offset();
        // A number may go on behind the window.
        let is_whole = length < rest.len() || self.unread() == 0;
        Some(is_whole.then_some((value, rest.get(..length)?)))
    }

    /// Goes over so many bytes of the window.
    pub fn skip(&mut self, length: usize) {
        self.at += length;
    }

    /// Goes over a value that `see` is shown, with its text.
    pub fn pass<R2>(&mut self, mut see: impl FnMut(&str) -> R2) -> Option<R2> {
        loop {
            let seen = self.value::<&RawValue>()?.map(|(value, text)| (see(value.get()), text.len()));
            match seen {
                Some((result, length)) => {
                    self.skip(length);
                    return Some(result);
                }
                None => self.grow()?,
            }
        }
    }

    /// Goes over a value that nobody wants.
    pub fn ignore(&mut self) -> Option<()> {
        loop {
            let length = self.value::<IgnoredAny>()?.map(|(_, text)| text.len());
            match length {
                Some(length) => {
                    self.skip(length);
                    return Some(());
                }
                None => self.grow()?,
            }
        }
    }
}

/// The checksum of two texts, the second of `length` bytes, one behind the other: the first one's, moved on by so many
/// bytes, and the second one's.
pub(super) fn joined_checksum(first: u32, second: u32, length: u64) -> u32 {
    // Numbers are polynomials over two elements, the highest bit first, modulo that of the checksum.
    const POLYNOMIAL: u32 = 0xedb8_8320;
    const ONE: u32 = 1 << 31;
    const X_TO_THE_8: u32 = 1 << 23;
    let product = |a: u32, mut b: u32| {
        let mut sum = 0;
        for bit in (0..32).rev() {
            if a & (1 << bit) != 0 {
                sum ^= b;
            }
            b = if b & 1 == 0 { b >> 1 } else { (b >> 1) ^ POLYNOMIAL };
        }
        sum
    };
    let (mut moved, mut power, mut left) = (ONE, X_TO_THE_8, length);
    while left > 0 {
        if left & 1 == 1 {
            moved = product(moved, power);
        }
        power = product(power, power);
        left >>= 1;
    }
    product(moved, first) ^ second
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_whole_however_long_they_are() {
        let long = "é".repeat(STEP);
        let text = format!(r#" [1, "{long}", 22, {{"a": "{long}{long}"}}]"#);
        let mut window = Window::new(text.as_bytes(), 0, text.len() as u64);
        window.take(b'[').unwrap();
        let mut seen = Vec::new();
        loop {
            window.peek().unwrap();
            seen.push(window.pass(str::len).unwrap());
            if window.take(b',').is_none() {
                break;
            }
        }
        window.take(b']').unwrap();
        assert_eq!((window.peek(), window.is_at_end()), (None, true));
        assert_eq!(seen, [1, 2 + long.len(), 2, 9 + 2 * long.len()]);
        assert_eq!(window.checksum(), rawzip::crc32(text.as_bytes()));
    }

    #[test]
    fn a_number_goes_on_behind_the_window() {
        let text = format!("{}123", " ".repeat(STEP - 1));
        let mut window = Window::new(text.as_bytes(), 0, text.len() as u64);
        window.peek().unwrap();
        assert_eq!(window.rest(), "1");
        assert_eq!(window.pass(str::to_owned).as_deref(), Some("123"));
    }

    #[test]
    fn what_is_no_text_is_refused() {
        for bytes in [&b"\"\xff\""[..], b"\"\xc3", b"[1", b"", b"}"] {
            let mut window = Window::new(bytes, 0, bytes.len() as u64);
            assert_eq!(window.ignore(), None, "{bytes:?}");
        }
        for (bytes, end) in [(&b"[1]"[..], 4), (b"\xff", 1)] {
            let mut window = Window::new(bytes, 0, end);
            assert_eq!((window.ignore(), window.peek(), window.is_at_end()), (None, None, false));
        }
    }

    #[test]
    fn checksums_of_two_texts_make_that_of_both() {
        let text: Vec<u8> = (0..10_000u32).map(|i| ((i * i) >> 3) as u8).collect();
        for middle in [0, 1, 2, 255, 4096, 9_999, 10_000] {
            let (a, b) = text.split_at(middle);
            let joined = joined_checksum(rawzip::crc32(a), rawzip::crc32(b), b.len() as u64);
            assert_eq!(joined, rawzip::crc32(&text), "{middle}");
        }
    }
}
