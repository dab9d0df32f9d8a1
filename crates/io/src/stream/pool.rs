//! A worker pool that writes weights.
//!
//! The kernel lets only one thread at a time write into a file; a second one would wait. Therefore one thread writes while the
//! others prepare data: they read what must be reordered, part by part, and queue the parts for the writer. A thread writes
//! if no other does, so no thread waits while there is work.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use modelexport_graph::StridedView;

use super::buffer::Buffer;
use super::{Error, Failure};

/// One to write and one to prepare: more would only wait for each other at the file that they write.
pub(super) const THREADS: usize = 2;

/// Parts that are being put in order, wait to be written or are written.
pub(super) const PARTS: usize = 3;

/// Jobs that may be queued; beyond it, the caller waits. Enough to find something to prepare behind a large weight
/// that is copied.
const MAX_QUEUED: usize = 256;

/// Bytes after which progress is worth a report. A report wakes another thread, which costs as much as writing a few
/// pages.
const REPORT_BYTES: u64 = 8 << 20;

/// Writes by itself; it may use the buffer meanwhile.
pub(super) type Copy = Box<dyn FnOnce(&mut Buffer) -> Result<(), Error> + Send>;

/// Prepares parts and pushes them to the sink; it may use the buffer meanwhile.
pub(super) type Prepare = Box<dyn FnOnce(&mut Buffer, &PartSink<'_>) -> Result<(), Error> + Send>;

/// Writes bytes that were prepared.
type WritePart = Box<dyn FnOnce(&[u8]) -> Result<(), Error> + Send>;

/// Work for a weight, which is remembered for messages.
struct Job<W> {
    view: StridedView,
    work: W,
}

/// Something that can be written right away.
enum Write {
    Copy { bytes: u64, job: Job<Copy> },
    Part { buffer: Buffer, length: usize, job: Job<WritePart> },
}

/// Runs work in threads. The first failure ends it: what comes after is dropped.
#[derive(Default)]
pub(super) struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Wakes the workers.
    work_available: Condvar,
    /// Wakes the producer of jobs; see [`State::should_wake_producer`].
    progressed: Condvar,
}

#[derive(Default)]
struct State {
    to_prepare: VecDeque<Job<Prepare>>,
    /// Prepared parts come before copies: they hold memory that others wait for.
    parts: VecDeque<Write>,
    copies: VecDeque<Write>,
    /// Buffers of parts that were written.
    spare: Vec<Buffer>,
    /// Buffers that are in use.
    used: usize,
    is_writing: bool,
    /// The producer has to wait before it can add jobs.
    is_full: bool,
    /// Threads that prepare.
    preparing: usize,
    is_closed: bool,
    /// Bytes that were written since the last report.
    written: u64,
    failure: Option<Box<Failure>>,
}

impl State {
    /// Jobs that no thread has begun.
    fn queued(&self) -> usize {
        self.copies.len() + self.to_prepare.len()
    }

    fn is_idle(&self) -> bool {
        self.queued() == 0 && self.parts.is_empty() && self.preparing == 0 && !self.is_writing
    }

    /// Whether a producer that waits should wake. While the queue is more than half full, it need not add jobs.
    fn should_wake_producer(&self) -> bool {
        let has_room = self.is_full && self.queued() <= MAX_QUEUED / 2;
        self.written >= REPORT_BYTES || self.failure.is_some() || self.is_idle() || has_room
    }

    /// Something to write, if nobody else writes. The caller writes it.
    fn take_write(&mut self) -> Option<Write> {
        self.take(|state| state.parts.pop_front().or_else(|| state.copies.pop_front()))
    }

    fn take_part(&mut self) -> Option<Write> {
        self.take(|state| state.parts.pop_front())
    }

    fn take(&mut self, from: impl Fn(&mut State) -> Option<Write>) -> Option<Write> {
        let write = if self.is_writing { None } else { from(self) };
        self.is_writing |= write.is_some();
        write
    }

    fn fail(&mut self, error: Error, view: Option<&StridedView>) {
        self.clear();
        self.failure.get_or_insert_with(|| error.about(view));
    }

    /// Gives up all that nobody has begun.
    fn clear(&mut self) {
        self.copies.clear();
        self.to_prepare.clear();
        self.used -= self.parts.len();
        self.parts.clear();
    }
}

impl Pool {
    /// Does work for a weight that writes so many bytes, some time before [`Pool::finish`] returns. Reports what was
    /// written meanwhile.
    pub(super) fn copy(&mut self, bytes: u64, view: &StridedView, work: Copy, report: &mut dyn FnMut(u64)) {
        let job = Job { view: view.clone(), work };
        self.add(|state| state.copies.push_back(Write::Copy { bytes, job }), report);
    }

    /// The same for work that pushes what is to be written to the sink.
    pub(super) fn prepare(&mut self, view: &StridedView, work: Prepare, report: &mut dyn FnMut(u64)) {
        let job = Job { view: view.clone(), work };
        self.add(|state| state.to_prepare.push_back(job), report);
    }

    fn add(&mut self, push: impl FnOnce(&mut State), report: &mut dyn FnMut(u64)) {
        if self.threads.len() < THREADS.min(available_threads()) {
            let shared = self.shared.clone();
            let thread =
                std::thread::Builder::new().name("weights".into()).spawn(move || shared.work_until_closed());
            self.threads.extend(thread);
        }
        let mut state = self.shared.reporting_until(report, |state| state.queued() < MAX_QUEUED);
        if state.failure.is_none() {
            push(&mut state);
            state.is_full = state.queued() >= MAX_QUEUED;
            self.shared.work_available.notify_all();
        }
        drop(state);
        if self.threads.is_empty() {
            // The system has no thread to spare.
            self.shared.work_until_idle();
            report(std::mem::take(&mut self.shared.lock().written));
        }
    }

    /// Waits until all work is done, and reports what was written. A failure says which weight it is about.
    pub(super) fn finish(&mut self, report: &mut dyn FnMut(u64)) -> Result<(), Box<Failure>> {
        drop(self.shared.reporting_until(report, State::is_idle));
        self.close();
        let shared = std::mem::take(&mut self.shared);
        let mut state = shared.lock();
        report(state.written);
        state.failure.take().map_or(Ok(()), Err)
    }

    fn close(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.work_available.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has recorded it.
            let _ = thread.join();
        }
    }
}

impl Drop for Pool {
    /// Work that nobody waits for is given up.
    fn drop(&mut self) {
        self.shared.lock().clear();
        self.close();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that can fail runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the threads that may wait for this state.
    fn notify(&self, state: &State) {
        self.work_available.notify_all();
        if state.should_wake_producer() {
            self.progressed.notify_all();
        }
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.work_available.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a state, or for a failure, and reports what is written until then.
    fn reporting_until(
        &self,
        report: &mut dyn FnMut(u64),
        is_reached: impl Fn(&State) -> bool,
    ) -> MutexGuard<'_, State> {
        loop {
            let mut state = self.lock();
            while state.written < REPORT_BYTES && state.failure.is_none() && !is_reached(&state) {
                state = self.progressed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            let written = std::mem::take(&mut state.written);
            if written == 0 {
                return state;
            }
            drop(state);
            report(written);
        }
    }

    fn work_until_closed(&self) {
        let _guard = ReportsPanic(self);
        let mut buffer = Buffer::image();
        let mut state = self.lock();
        loop {
            state = match self.work(state, &mut buffer) {
                (state, true) => state,
                (state, false) if state.is_closed => return,
                (state, false) => self.wait(state),
            };
        }
    }

    fn work_until_idle(&self) {
        let mut buffer = Buffer::image();
        let mut state = self.lock();
        while !state.is_idle() {
            (state, _) = self.work(state, &mut buffer);
        }
    }

    /// Does one piece of work; false if there was none.
    fn work<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        buffer: &mut Buffer,
    ) -> (MutexGuard<'a, State>, bool) {
        if let Some(write) = state.take_write() {
            return (self.write(state, write, buffer), true);
        }
        let Some(job) = state.to_prepare.pop_front() else { return (state, false) };
        state.preparing += 1;
        self.notify(&state);
        drop(state);
        let outcome = (job.work)(buffer, &PartSink { shared: self, view: &job.view });
        let mut state = self.lock();
        state.preparing -= 1;
        if let Err(error) = outcome {
            state.fail(error, Some(&job.view));
        }
        self.notify(&state);
        (state, true)
    }

    /// Writes what [`State::take_write`] gave.
    fn write<'a>(
        &'a self,
        state: MutexGuard<'a, State>,
        write: Write,
        buffer: &mut Buffer,
    ) -> MutexGuard<'a, State> {
        drop(state);
        let (outcome, bytes, view, spare) = match write {
            Write::Copy { bytes, job } => ((job.work)(buffer), bytes, job.view, None),
            Write::Part { mut buffer, length, job } => {
                ((job.work)(buffer.of(length)), length as u64, job.view, Some(buffer))
            }
        };
        let mut state = self.lock();
        state.is_writing = false;
        if let Some(buffer) = spare {
            state.used -= 1;
            state.spare.push(buffer);
        }
        match outcome {
            Ok(()) => state.written += bytes,
            Err(error) => state.fail(error, Some(&view)),
        }
        self.notify(&state);
        state
    }
}

/// The queue of parts that wait to be written.
pub(super) struct PartSink<'a> {
    shared: &'a Shared,
    view: &'a StridedView,
}

impl PartSink<'_> {
    /// A buffer for a part; `None` once the pool has failed or is closed.
    pub(super) fn buffer(&self) -> Option<Buffer> {
        let mut unused = Buffer::default();
        let mut state = self.shared.lock();
        loop {
            if state.failure.is_some() || state.is_closed {
                return None;
            }
            if state.used < PARTS {
                state.used += 1;
                return Some(state.spare.pop().unwrap_or_else(Buffer::part));
            }
            state = match state.take_part() {
                Some(part) => self.shared.write(state, part, &mut unused),
                None => self.shared.wait(state),
            };
        }
    }

    /// Lets `work` write the first `length` bytes of a part.
    pub(super) fn push(&self, buffer: Buffer, length: usize, work: WritePart) {
        let mut unused = Buffer::default();
        let mut state = self.shared.lock();
        let job = Job { view: self.view.clone(), work };
        state.parts.push_back(Write::Part { buffer, length, job });
        self.shared.work_available.notify_all();
        while let Some(part) = state.take_part() {
            state = self.shared.write(state, part, &mut unused);
        }
    }
}

/// Makes a panic of its thread a failure, so that nobody waits for what the thread was about to do.
struct ReportsPanic<'a>(&'a Shared);

impl Drop for ReportsPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut state = self.0.lock();
            state.fail(Error::Thread, None);
            self.0.notify(&state);
        }
    }
}

fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

#[cfg(test)]
mod tests;
