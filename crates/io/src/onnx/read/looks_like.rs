//! Guesses the format of a file that is not an ONNX model.

/// How much of the start of a file decides.
pub(super) const HEAD: usize = 512;

/// A format other than ONNX in words, if the start of the file shows one.
pub(super) fn other_format(head: &[u8]) -> Option<&'static str> {
    const ZIP: &str = "a zip archive (a .pt2, .pt or .npz file?)";
    const MAGIC: [(&[u8], &str); 12] = [
        (b"PK\x03\x04", ZIP),
        (b"PK\x05\x06", ZIP),
        (b"\x1f\x8b", "gzip-compressed data"),
        (b"\x28\xb5\x2f\xfd", "zstd-compressed data"),
        (b"\x89HDF\r\n\x1a\n", "an HDF5 file (Keras?)"),
        (b"\x93NUMPY", "a NumPy array"),
        (b"\x7fELF", "a program"),
        (b"GGUF", "a GGUF file"),
        (b"\x80\x02", "a Python pickle"),
        (b"\x80\x04", "a Python pickle"),
        (b"\x80\x05", "a Python pickle"),
        (b"version https://git-lfs", "a Git LFS pointer: the model itself was not downloaded"),
    ];
    if head.is_empty() {
        return Some("an empty file");
    }
    if let Some((_, what)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Some(what);
    }
    if head.get(4..8) == Some(b"ORTM") {
        return Some("an onnxruntime .ort file");
    }
    if head.get(4..8) == Some(b"TFL3") {
        return Some("a TensorFlow Lite model");
    }
    if head.get(8..10) == Some(b"{\"") {
        return Some("a safetensors file");
    }
    text_format(head)
}

fn text_format(head: &[u8]) -> Option<&'static str> {
    // The head may end inside a character.
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(head.get(..error.valid_up_to())?).ok()?
        }
        Err(_) => return None,
    };
    if text.chars().any(|c| c.is_control() && !c.is_whitespace()) {
        return None;
    }
    match text.trim_start().as_bytes().first() {
        Some(b'{' | b'[') => Some("JSON"),
        Some(b'<') => Some("HTML or XML (an error page instead of a download?)"),
        _ => Some("text"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_their_first_bytes() {
        for (head, expected) in [
            (&b""[..], Some("an empty file")),
            (b"PK\x03\x04\x00\x00", Some("a zip archive (a .pt2, .pt or .npz file?)")),
            (
                b"version https://git-lfs.github.com/spec/v1\n",
                Some("a Git LFS pointer: the model itself was not downloaded"),
            ),
            (b"{\"a\": 1}\n", Some("JSON")),
            (b"<!DOCTYPE html>", Some("HTML or XML (an error page instead of a download?)")),
            (b"hello \xc3\xa9 and more \xc3", Some("text")),
            (b"\x40\x00\x00\x00\x00\x00\x00\x00{\"w\":", Some("a safetensors file")),
            (b"\x08\x07\x12\x07pytorch", None),
            (b"\xff\xfe", None),
        ] {
            assert_eq!(other_format(head), expected, "{head:?}");
        }
    }
}
