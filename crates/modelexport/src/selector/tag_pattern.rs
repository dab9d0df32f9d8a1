//! A glob over tags.

use globset::{GlobBuilder, GlobMatcher};

use crate::pattern::PatternError;

/// `*` stands for one segment or a piece of it, `**` for any number of segments. A segment without a suffix stands for
/// all instances: `/Model/Layer` chooses `/Model/Layer.0` and `/Model/Layer.1`.
#[derive(Clone, Debug)]
pub(super) struct TagPattern(GlobMatcher);

impl TagPattern {
    pub(super) fn parse(text: &str) -> Result<Self, PatternError> {
        GlobBuilder::new(text)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .map(|glob| TagPattern(glob.compile_matcher()))
            .map_err(|error| PatternError::Glob(error.kind().to_string()))
    }

    pub(super) fn matches(&self, tag: &str) -> bool {
        self.0.is_match(tag) || self.matches_without_suffixes(tag)
    }

    /// Whether the tag matches when the suffixes of its last segments are left out. Suffixes further up stay, so that
    /// `/Model/Layer.0/Norm` does not choose the norm of another layer.
    fn matches_without_suffixes(&self, tag: &str) -> bool {
        let starts: Vec<usize> = tag.match_indices('/').map(|(start, _)| start).collect();
        let mut bare = String::new();
        starts.into_iter().rev().any(|start| {
            let end = tag.len() - bare_length(tag, start);
            let segment = tag.get(start..end).unwrap_or_default();
            let class = segment.split('.').next().unwrap_or(segment);
            bare.insert_str(0, class);
            let above = tag.get(..start).unwrap_or_default();
            self.0.is_match(format!("{above}{bare}"))
        })
    }
}

/// Length of the part of `tag` after the segment that starts at `start`.
fn bare_length(tag: &str, start: usize) -> usize {
    let rest = tag.get(start + 1..).unwrap_or_default();
    rest.find('/').map_or(0, |end| rest.len() - end)
}
