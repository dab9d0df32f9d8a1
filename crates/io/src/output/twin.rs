//! A second name for the bytes of a data file: one takes the target's place while the bridge reads the other.
//!
//! Best is a clone, which shares the bytes on file systems that can. A small file is simply copied. A large one gets a
//! hard link; while it has both names, runtimes read it, but onnx's own loader refuses it, as it distrusts files with
//! several names.

use std::fs::File;

use rustix::io::{Errno, Result};

use super::Durability;
use super::file::FinishedFile;
use super::temporary::Temporary;

/// Up to this size, to copy takes milliseconds.
const COPIED_UP_TO: u64 = 32 << 20;

#[derive(Debug)]
pub(super) struct Twin {
    pub temporary: Temporary,
    /// Holds the lock of a copy; a link has that of its original.
    _file: Option<File>,
}

impl Twin {
    /// `None` where the file system offers no way.
    pub fn of(original: &FinishedFile, durability: Durability) -> Result<Option<Twin>> {
        let name = original.target.file_name().unwrap_or_default();
        let (temporary, file) = Temporary::create(&original.folder, name)?;
        let is_same = clone(&original.file, &file) || {
            original.bytes <= COPIED_UP_TO && std::io::copy(&mut &*original.file, &mut &file).is_ok()
        };
        if is_same {
            let mode = rustix::fs::fstat(&original.file)?.st_mode;
            rustix::fs::fchmod(&file, mode.into())?;
            if durability == Durability::PowerLoss {
                rustix::fs::fdatasync(&file)?;
            }
            return Ok(Some(Twin { temporary, _file: Some(file) }));
        }
        match original.temporary.link(name) {
            Ok(temporary) => Ok(Some(Twin { temporary, _file: None })),
            Err(Errno::PERM | Errno::OPNOTSUPP | Errno::MLINK | Errno::NOSYS) => Ok(None),
            Err(errno) => Err(errno),
        }
    }
}

#[cfg(target_os = "linux")]
fn clone(from: &File, to: &File) -> bool {
    rustix::fs::ioctl_ficlone(to, from).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn clone(_: &File, _: &File) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{OutputFile, Role, Settings, Transaction};
    use std::os::unix::fs::{FileExt, MetadataExt};

    /// A data file of `length` bytes, all but the last of them a hole, and its twin.
    fn twin_of(length: u64) -> (FinishedFile, Twin, tempfile::TempDir) {
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
        let twin = Twin::of(&file, Durability::ProcessCrash).unwrap().unwrap();
        (file, twin, folder)
    }

    #[test]
    fn twins_hold_the_same_bytes_and_only_large_ones_may_share_the_file() {
        for length in [5, COPIED_UP_TO, COPIED_UP_TO + 1] {
            let (file, twin, folder) = twin_of(length);
            let twin = File::open(folder.path().join(twin.temporary.name())).unwrap();
            let metadata = twin.metadata().unwrap();
            assert_eq!(metadata.len(), length);
            let mut end = [0; 2];
            twin.read_exact_at(&mut end, length - 2).unwrap();
            assert_eq!(&end, b"\0x");
            let is_shared = metadata.ino() == file.file.metadata().unwrap().ino();
            assert!(!is_shared || length > COPIED_UP_TO, "{length}");
            assert_eq!(metadata.nlink(), if is_shared { 2 } else { 1 });
        }
    }
}
