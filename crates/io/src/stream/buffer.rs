//! Memory that is used again and again.

/// Bytes, whatever they hold: clearing them each time would take as long as copying.
#[derive(Default)]
pub(super) struct Buffer(Vec<u8>);

impl Buffer {
    /// The first `length` bytes.
    pub fn of(&mut self, length: usize) -> &mut [u8] {
        if self.0.len() < length {
            // Nothing in it is worth moving.
            self.0 = Vec::new();
            self.0.resize(length, 0);
        }
        self.0.get_mut(..length).unwrap_or_default()
    }
}
