//! How tags of modelexport are distinguished from earlier content.
//!
//! * A `doc_string` is a tag if it is a JSON object with `hierarchy_tags` (see [`DocString`](crate::onnx::DocString)).
//! * Entries of `metadata_props` are tags if their key starts with [`OWN_PREFIX`].
//! * Keys that other tools also write (`namespace`, `pkg.torch.onnx.*`) are tags if they come after the first entry with the
//!   prefix: new entries are appended, those with the prefix first.

/// Keys with this prefix are nobody else's.
pub const OWN_PREFIX: &str = "modelexport.";

/// Keys that we write and other tools too.
pub fn is_shared_key(key: &str) -> bool {
    key == "namespace" || key.starts_with("pkg.torch.onnx.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_keys_are_those_of_torch() {
        assert!(is_shared_key("namespace") && is_shared_key("pkg.torch.onnx.name_scopes"));
        assert!(!is_shared_key("namespaces") && !is_shared_key("pkg.torch"));
    }
}
