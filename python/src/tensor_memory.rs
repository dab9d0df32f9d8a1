//! The memory of a tensor as a source of bytes.

use std::io;

use modelexport_io::source::ByteSource;
use pyo3::prelude::*;

/// A storage of PyTorch: where its bytes are, and the object that keeps them there.
#[derive(FromPyObject)]
pub struct Storage {
    /// What the weights' configuration calls it.
    #[pyo3(item(0))]
    pub name: String,
    #[pyo3(item(1))]
    pub pointer: usize,
    #[pyo3(item(2))]
    pub length: usize,
    #[pyo3(item(3))]
    pub owner: Py<PyAny>,
}

/// Bytes that belong to Python.
pub struct TensorMemory {
    pointer: *const u8,
    length: usize,
    /// The storage cannot go away while this is held.
    _owner: Py<PyAny>,
}

impl TensorMemory {
    /// `None` if the storage claims bytes and has no address.
    pub fn new(storage: Storage) -> Option<TensorMemory> {
        let Storage { pointer, length, owner, .. } = storage;
        let is_sound = length == 0 || (pointer != 0 && isize::try_from(length).is_ok());
        is_sound.then(|| TensorMemory { pointer: pointer as *const u8, length, _owner: owner })
    }

    #[allow(unsafe_code)]
    fn slice(&self) -> &[u8] {
        if self.length == 0 {
            return &[];
        }
        // SAFETY: the package takes pointer and length from the same `torch.UntypedStorage` on the CPU and hands it
        // over as the owner. A storage keeps its allocation while it lives and nobody resizes it, and the owner is
        // released only with `self`. Bytes have no invalid values and no alignment.
        unsafe { std::slice::from_raw_parts(self.pointer, self.length) }
    }
}

// SAFETY: the memory is only read. The owner is not touched without the interpreter's lock.
#[allow(unsafe_code)]
unsafe impl Send for TensorMemory {}
#[allow(unsafe_code)]
unsafe impl Sync for TensorMemory {}

impl ByteSource for TensorMemory {
    fn len(&self) -> u64 {
        self.length as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let bytes = usize::try_from(offset)
            .ok()
            .and_then(|start| self.slice().get(start..start.checked_add(buffer.len())?))
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }

    fn bytes(&self) -> Option<&[u8]> {
        Some(self.slice())
    }
}
