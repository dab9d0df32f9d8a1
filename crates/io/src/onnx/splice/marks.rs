//! How our tags are told from what stood in the file before.
//!
//! * A `doc_string` is ours if it is a JSON object with `hierarchy_tags` (see [`DocString`](crate::onnx::DocString)).
//! * Entries of `metadata_props` are ours if their key begins with [`OWN_PREFIX`].
//! * Keys that other tools write as well (`namespace`, `pkg.torch.onnx.*`) are ours where they come after the first
//!   entry with the prefix: new entries are written at the end, those with the prefix first.

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
