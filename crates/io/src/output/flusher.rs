//! Flushes a large file to the disk while it is still being written.
//!
//! Waiting for the disk after a copy about doubles its time; a thread that flushes behind the writer hides most of
//! that, because disk and memory work at the same time.

use std::fs::File;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Dirty bytes that are worth a flush of their own.
const STEP: u64 = 32 << 20;

/// A thread that flushes a file each time that [`STEP`] bytes have been completed.
#[derive(Debug)]
pub(super) struct Flusher {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    unflushed: u64,
    is_finished: bool,
}

impl Flusher {
    /// `None` if the system has no thread to spare: then everything is flushed at the end.
    pub fn start(file: Arc<File>) -> Option<Flusher> {
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new() });
        let theirs = shared.clone();
        let thread = std::thread::Builder::new()
            .name("flush".into())
            .spawn(move || {
                while theirs.wait_for_step() {
                    file.sync_data()?;
                }
                Ok(())
            })
            .ok()?;
        Some(Flusher { shared, thread: Some(thread) })
    }

    /// Tells of bytes that will not be written again.
    pub fn completed(&self, bytes: u64) {
        let mut state = self.shared.lock();
        state.unflushed += bytes;
        if state.unflushed >= STEP {
            self.shared.changed.notify_one();
        }
    }

    /// Ends the thread. An error of a flush is reported here: the system tells it only once.
    pub fn finish(mut self) -> io::Result<()> {
        self.shared.finish();
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(_)) => Err(io::Error::other("the flushing thread failed")),
            Some(Ok(result)) => result,
            None => Ok(()),
        }
    }
}

impl Drop for Flusher {
    /// The thread of a file that is given up ends by itself.
    fn drop(&mut self) {
        self.shared.finish();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Plain numbers cannot be left half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self) {
        self.lock().is_finished = true;
        self.changed.notify_one();
    }

    /// Waits for work; false once the writer is done.
    fn wait_for_step(&self) -> bool {
        let mut state = self.lock();
        while state.unflushed < STEP && !state.is_finished {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.unflushed = 0;
        !state.is_finished
    }
}
