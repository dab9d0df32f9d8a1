//! Reusable memory.

/// Limit for what is read of the source at a time, a block. A third of 64 MB fits, a common size of weights: the fewer
/// blocks a weight has, the longer are the runs that are read.
pub(super) const IMAGE: usize = 22 << 20;

/// Limit for what is put in order at a time, and written at a time.
pub(super) const PART: usize = 1 << 20;

/// Bytes, whatever they hold: clearing them each time would take as long as copying.
#[derive(Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    /// How much is taken when the first bytes are asked for. Pages that are never touched take no memory, while a
    /// buffer that grows leaves behind what it was.
    room: usize,
}

impl Buffer {
    /// For what is read of a source.
    pub(super) fn image() -> Buffer {
        Buffer { room: IMAGE, ..Buffer::default() }
    }

    /// For what is written.
    pub(super) fn part() -> Buffer {
        Buffer { room: PART, ..Buffer::default() }
    }

    /// The first `length` bytes.
    pub(super) fn of(&mut self, length: usize) -> &mut [u8] {
        if self.bytes.len() < length {
            // Nothing in it is worth moving.
            self.bytes = Vec::new();
            self.bytes = vec![0; length.max(self.room)];
        }
        self.bytes.get_mut(..length).unwrap_or_default()
    }
}
