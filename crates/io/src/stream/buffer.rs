//! Memory that is used again and again.

/// Bytes, whatever they hold: clearing them each time would take as long as copying.
#[derive(Default)]
pub(super) struct Buffer(Vec<u8>);

impl Buffer {
    /// The first `length` bytes.
    pub fn of(&mut self, length: usize) -> &mut [u8] {
        if self.0.len() < length {
            // Nothing in it is worth moving. What is never touched takes no memory, and a longer one may be asked for.
            self.0 = Vec::new();
            self.0 = vec![0; length.next_power_of_two()];
        }
        self.0.get_mut(..length).unwrap_or_default()
    }
}
