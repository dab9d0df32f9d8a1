//! Brings a large file to the disk while it is still being written.
//!
//! Waiting for the disk after a copy about doubles its time; a thread that flushes behind the writer hides most of
//! that, because disk and memory work at the same time. Also without waiting at the end a very large file gains: the
//! system lets a writer run until a part of the memory is full of what the disk has not got, then it slows him down.

use std::fs::File;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::platform;

/// Dirty bytes that are worth a flush of their own.
const STEP: u64 = 32 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlushMode {
    /// Waits until the bytes are on the disk.
    Sync,
    /// Starts to write them to the disk, without a promise.
    StartWriteback,
}

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

#[derive(Debug)]
struct State {
    completed: u64,
    unflushed: u64,
    is_finished: bool,
}

impl Flusher {
    /// For a file of which `completed` bytes are there. `None` if the system has no thread to spare: then everything
    /// is flushed at the end.
    pub(super) fn start(file: Arc<File>, mode: FlushMode, completed: u64) -> Option<Flusher> {
        let state = State { completed, unflushed: completed, is_finished: false };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let theirs = shared.clone();
        let thread = std::thread::Builder::new()
            .name("flush".into())
            .spawn(move || {
                let mut sent = 0;
                while let Some(completed) = theirs.wait_for_step() {
                    match mode {
                        FlushMode::Sync => platform::sync_data(&file)?,
                        FlushMode::StartWriteback => {
                            platform::start_writeback(&file, sent, completed - sent);
                            sent = completed;
                        }
                    }
                }
                Ok(())
            })
            .ok()?;
        Some(Flusher { shared, thread: Some(thread) })
    }

    /// Tells of bytes that will not be written again.
    pub(super) fn completed(&self, bytes: u64) {
        let mut state = self.shared.lock();
        state.completed += bytes;
        state.unflushed += bytes;
        if state.unflushed >= STEP {
            self.shared.changed.notify_one();
        }
    }

    /// Ends the thread. An error of a flush is reported here: the system tells it only once.
    pub(super) fn finish(mut self) -> io::Result<()> {
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

    /// Waits for work; `None` once the writer is done, else how much is completed in all.
    fn wait_for_step(&self) -> Option<u64> {
        let mut state = self.lock();
        while state.unflushed < STEP && !state.is_finished {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.unflushed = 0;
        (!state.is_finished).then_some(state.completed)
    }
}
