//! The form of a tag: `/Segment/Segment`.

/// Whether `tag` is one that may be written: starts with `/`, has no empty segment and no control characters.
/// The error says what is wrong, to be put after "it" or a colon.
pub fn check_tag(tag: &str) -> Result<(), &'static str> {
    let Some(segments) = tag.strip_prefix('/') else { return Err("does not start with /") };
    if segments.split('/').any(str::is_empty) {
        return Err("has an empty segment");
    }
    if tag.chars().any(char::is_control) {
        return Err("has a control character");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check_tag;

    #[test]
    fn only_paths_of_whole_segments_are_tags() {
        assert_eq!(check_tag("/Model/Layer.0"), Ok(()));
        assert_eq!(check_tag("Model"), Err("does not start with /"));
        assert_eq!(check_tag(""), Err("does not start with /"));
        for empty in ["/", "/a/", "//a", "/a//b"] {
            assert_eq!(check_tag(empty), Err("has an empty segment"), "{empty:?}");
        }
        for control in ["/a\n", "/\u{1b}[2J", "/\u{85}"] {
            assert_eq!(check_tag(control), Err("has a control character"), "{control:?}");
        }
    }
}
