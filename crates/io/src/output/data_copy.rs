//! A second copy of a data file, or a second name for it: one takes the target's place while the bridge reads the other.
//!
//! Best is a clone, which shares the bytes on file systems that can. A small file is simply copied. A large one gets a
//! hard link, where there are hard links; while it has both names, runtimes read it, but onnx's own loader refuses it, as
//! it distrusts files with several names.

use std::fs::File;
use std::io::{self, Seek};
use std::sync::Arc;

use super::Durability;
use super::file::FinishedFile;
use super::temporary::Temporary;
use crate::platform;

/// Up to this size, to copy takes milliseconds.
const COPIED_UP_TO: u64 = 32 << 20;

/// The copy and its file, which may be the original's.
pub(super) fn copy(original: &FinishedFile, durability: Durability) -> io::Result<(Temporary, Arc<File>)> {
    let name = original.target.file_name().unwrap_or_default();
    let (temporary, file) = Temporary::create(&original.folder, name)?;
    if !platform::clone_file(&original.file, &file) {
        if original.bytes > COPIED_UP_TO
            && let Some(link) = Temporary::link(&original.folder, original.temporary.name(), name)?
        {
            return Ok((link, original.file.clone()));
        }
        let mut from = &*original.file;
        from.rewind()?;
        io::copy(&mut from, &mut &file)?;
    }
    platform::set_permissions(&file, platform::status(&original.file)?.permissions)?;
    if durability == Durability::PowerLoss {
        platform::sync_data(&file)?;
    }
    Ok((temporary, Arc::new(file)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{OutputFile, Role, Settings, Transaction};
    use std::os::unix::fs::{FileExt, MetadataExt};

    /// A data file of `length` bytes, all but the last of them a hole, and its copy.
    fn copy_of(length: u64) -> (FinishedFile, Temporary, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("m.onnx.data");
        let mut transaction = Transaction::begin(&folder.path().join("m.onnx"), Settings::default()).unwrap();
        let mut file: OutputFile = transaction.create(&target, Role::Data).unwrap();
        let start = file.allocate(length).unwrap();
        let writer = file.writer();
        writer.filled(length - 1);
        writer.write_at(start + length - 1, b"x").unwrap();
        drop(writer);
        let file = file.finish().unwrap();
        let (copy, _) = copy(&file, Durability::ProcessCrash).unwrap();
        (file, copy, folder)
    }

    #[test]
    fn copies_hold_the_same_bytes_and_only_large_ones_may_share_the_file() {
        for length in [5, COPIED_UP_TO, COPIED_UP_TO + 1] {
            let (file, copy, folder) = copy_of(length);
            let copy = File::open(folder.path().join(copy.name())).unwrap();
            let metadata = copy.metadata().unwrap();
            assert_eq!(metadata.len(), length);
            let mut end = [0; 2];
            copy.read_exact_at(&mut end, length - 2).unwrap();
            assert_eq!(&end, b"\0x");
            let is_shared = metadata.ino() == file.file.metadata().unwrap().ino();
            assert!(!is_shared || length > COPIED_UP_TO, "{length}");
            assert_eq!(metadata.nlink(), if is_shared { 2 } else { 1 });
        }
    }
}
