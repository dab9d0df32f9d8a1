//! A second copy of a data file, or a second name for it: one takes the target's place while the bridge reads the other.
//!
//! Best is a clone, which shares the bytes on file systems that can. A small file is simply copied. A large one gets a
//! hard link; while it has both names, runtimes read it, but onnx's own loader refuses it, as it distrusts files with
//! several names.

use std::fs::File;
use std::io::{self, Seek};

use super::Durability;
use super::file::FinishedFile;
use super::temporary::Temporary;
use crate::platform;

/// Up to this size, to copy takes milliseconds.
const COPIED_UP_TO: u64 = 32 << 20;

#[derive(Debug)]
pub(super) struct DataCopy {
    pub temporary: Temporary,
    /// Holds the lock of a copy; a link has that of its original.
    _file: Option<File>,
}

impl DataCopy {
    /// `None` where the file system offers no way.
    pub(super) fn of(original: &FinishedFile, durability: Durability) -> io::Result<Option<DataCopy>> {
        let name = original.target.file_name().unwrap_or_default();
        let (temporary, file) = Temporary::create(&original.folder, name)?;
        let is_copied = platform::clone_file(&original.file, &file) || {
            let mut from = &*original.file;
            original.bytes <= COPIED_UP_TO && from.rewind().is_ok() && io::copy(&mut from, &mut &file).is_ok()
        };
        if is_copied {
            file.set_permissions(platform::status(&original.file)?.permissions)?;
            if durability == Durability::PowerLoss {
                file.sync_data()?;
            }
            return Ok(Some(DataCopy { temporary, _file: Some(file) }));
        }
        let link = original.temporary.link(name)?;
        Ok(link.map(|temporary| DataCopy { temporary, _file: None }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{OutputFile, Role, Settings, Transaction};
    use std::os::unix::fs::{FileExt, MetadataExt};

    /// A data file of `length` bytes, all but the last of them a hole, and its copy.
    fn copy_of(length: u64) -> (FinishedFile, DataCopy, tempfile::TempDir) {
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
        let copy = DataCopy::of(&file, Durability::ProcessCrash).unwrap().unwrap();
        (file, copy, folder)
    }

    #[test]
    fn copies_hold_the_same_bytes_and_only_large_ones_may_share_the_file() {
        for length in [5, COPIED_UP_TO, COPIED_UP_TO + 1] {
            let (file, copy, folder) = copy_of(length);
            let copy = File::open(folder.path().join(copy.temporary.name())).unwrap();
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
