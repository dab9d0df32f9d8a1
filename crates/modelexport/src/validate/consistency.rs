//! Whether the modules that nodes name fit the graph.

mod calls;
mod parameters;

use super::finding::Findings;
use crate::tagged_file::TaggedFile;

pub(super) fn check(file: &TaggedFile, findings: &mut Findings) {
    // Modules made from tags alone have neither parameters nor calls that could be compared.
    if file.hierarchy.tags_only.is_none() {
        parameters::check(file, findings);
        calls::check(file, findings);
    }
}
