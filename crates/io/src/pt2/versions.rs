//! The versions of archives that can be read. Messages, the Python package and the README take them from here.

/// The major version of the schema.
pub const SCHEMA_MAJOR: i64 = 8;

/// The oldest and the newest minor version of the schema.
pub const SCHEMA_MINORS: [i64; 2] = [14, 20];

/// The oldest and the newest torch that writes these versions.
pub const TORCH: [&str; 2] = ["2.9", "2.15"];

/// Whether programs of this schema can be read.
pub(super) fn is_supported(major: i64, minor: i64) -> bool {
    let [oldest, newest] = SCHEMA_MINORS;
    major == SCHEMA_MAJOR && (oldest..=newest).contains(&minor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_names_the_versions() {
        let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
        let [from, to] = TORCH;
        let [oldest, newest] = SCHEMA_MINORS;
        let expected =
            format!("of torch {from} to {to} (schema {SCHEMA_MAJOR}.{oldest} to {SCHEMA_MAJOR}.{newest})");
        let text = std::fs::read_to_string(readme).unwrap();
        assert!(text.contains(&expected), "README.md does not say {expected:?}");
    }
}
