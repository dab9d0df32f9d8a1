//! Threads that write weights.
//!
//! The kernel lets one thread write into a file at a time, so two threads that only copy are as slow as one, and two
//! that put weights in order wait for each other when they write. Therefore each thread has a kind of work that it
//! takes first: one copies while the other one reads the next block and puts it in order.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use modelexport_graph::StridedView;

use super::{Error, Failure};

/// More would only wait for each other at the file that they write.
pub(super) const THREADS: usize = 2;

/// Work of all kinds that waits for a thread; beyond it, the caller waits. Enough to find a block to put in order behind
/// a large weight that is copied.
const WAITING: usize = 256;

/// What a piece of work mostly does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It writes.
    Copy,
    /// It reads and puts in order, then it writes.
    Gather,
}

/// Memory that a thread keeps from block to block.
#[derive(Default)]
pub(super) struct Scratch {
    /// What was read.
    pub image: Buffer,
    /// What is written.
    pub part: Buffer,
}

/// Bytes that are used again and again, whatever they hold: clearing them each time would take as long as copying.
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

type Work = Box<dyn FnOnce(&mut Scratch) -> Result<(), Error> + Send>;

struct Job {
    /// How many bytes it writes.
    bytes: u64,
    /// The weight that it is about, for messages.
    view: StridedView,
    work: Work,
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
    changed: Condvar,
}

#[derive(Default)]
struct State {
    copies: VecDeque<Job>,
    gathers: VecDeque<Job>,
    is_closed: bool,
    /// Bytes that were written since somebody asked.
    written: u64,
    failure: Option<Box<Failure>>,
}

impl State {
    fn queue(&mut self, kind: Kind) -> &mut VecDeque<Job> {
        match kind {
            Kind::Copy => &mut self.copies,
            Kind::Gather => &mut self.gathers,
        }
    }

    fn len(&self) -> usize {
        self.copies.len() + self.gathers.len()
    }

    /// The oldest of the preferred kind, else the oldest of the other one.
    fn take(&mut self, preferred: Kind) -> Option<Job> {
        let other = if preferred == Kind::Copy { Kind::Gather } else { Kind::Copy };
        self.queue(preferred).pop_front().or_else(|| self.queue(other).pop_front())
    }

    fn clear(&mut self) {
        self.copies.clear();
        self.gathers.clear();
    }
}

impl Pool {
    /// Does work for a weight, which writes so many bytes, some time before [`Pool::finish`] returns. Reports what was
    /// written meanwhile.
    pub fn run(
        &mut self,
        kind: Kind,
        bytes: u64,
        view: &StridedView,
        work: Work,
        report: &mut dyn FnMut(u64),
    ) {
        if self.threads.len() < THREADS && self.threads.len() < available_threads() {
            let shared = self.shared.clone();
            let preferred = if self.threads.is_empty() { Kind::Gather } else { Kind::Copy };
            let thread =
                std::thread::Builder::new().name("weights".into()).spawn(move || shared.work(preferred));
            self.threads.extend(thread);
        }
        let job = Job { bytes, view: view.clone(), work };
        if self.threads.is_empty() {
            // The system has no thread to spare.
            self.shared.run(job, &mut Scratch::default());
            report(std::mem::take(&mut self.shared.lock().written));
            return;
        }
        let mut state = self.shared.reporting_until(report, |state| state.len() < WAITING);
        if state.failure.is_none() {
            state.queue(kind).push_back(job);
            self.shared.changed.notify_all();
        }
    }

    /// Waits until all work is done, and reports what was written. A failure says which weight it is about.
    pub fn finish(&mut self, report: &mut dyn FnMut(u64)) -> Result<(), Box<Failure>> {
        drop(self.shared.reporting_until(report, |state| state.len() == 0));
        self.shared.close();
        let mut is_broken = false;
        for thread in self.threads.drain(..) {
            is_broken |= thread.join().is_err();
        }
        let shared = std::mem::take(&mut self.shared);
        let mut state = shared.lock();
        report(state.written);
        match state.failure.take() {
            Some(failure) => Err(failure),
            None if is_broken => Err(Error::Thread.about(None)),
            None => Ok(()),
        }
    }
}

impl Drop for Pool {
    /// Work that nobody waits for is given up.
    fn drop(&mut self) {
        self.shared.lock().clear();
        self.shared.close();
        for thread in self.threads.drain(..) {
            // Whoever wants to know calls `finish`.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that can fail runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a state, or for a failure, and reports what is written until then.
    fn reporting_until(
        &self,
        report: &mut dyn FnMut(u64),
        is_reached: impl Fn(&State) -> bool,
    ) -> MutexGuard<'_, State> {
        loop {
            let mut state = self.lock();
            while state.written == 0 && state.failure.is_none() && !is_reached(&state) {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            let written = std::mem::take(&mut state.written);
            if written == 0 {
                return state;
            }
            drop(state);
            report(written);
        }
    }

    fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    fn work(&self, preferred: Kind) {
        let mut scratch = Scratch::default();
        while let Some(job) = self.next(preferred) {
            self.run(job, &mut scratch);
        }
    }

    fn next(&self, preferred: Kind) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.take(preferred) {
                self.changed.notify_all();
                return Some(job);
            }
            if state.is_closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn run(&self, job: Job, scratch: &mut Scratch) {
        let outcome = (job.work)(scratch);
        let mut state = self.lock();
        match outcome {
            Ok(()) => state.written += job.bytes,
            Err(error) => {
                state.clear();
                state.failure.get_or_insert_with(|| error.about(Some(&job.view)));
            }
        }
        self.changed.notify_all();
    }
}

fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use modelexport_graph::{SourceId, Span};

    use super::*;

    fn view_of(size: u64) -> StridedView {
        let span = Span { source: SourceId(0), offset: 0, length: size };
        StridedView { span, offset: 0, sizes: vec![size], strides: vec![1] }
    }

    /// Work that counts how often it is done.
    fn counting(done: &Arc<AtomicUsize>) -> Work {
        let done = done.clone();
        Box::new(move |_| {
            done.fetch_add(1, Ordering::Relaxed);
            Ok(())
        })
    }

    #[test]
    fn all_work_is_done_and_reported_when_it_finishes_and_more_can_follow() {
        let mut pool = Pool::default();
        let done = Arc::new(AtomicUsize::new(0));
        let mut written = 0;
        for round in 1..3 {
            for index in 0..1000 {
                let kind = if index % 3 == 0 { Kind::Copy } else { Kind::Gather };
                pool.run(kind, 5, &view_of(1), counting(&done), &mut |bytes| written += bytes);
            }
            pool.finish(&mut |bytes| written += bytes).unwrap();
            assert_eq!(done.load(Ordering::Relaxed), 1000 * round);
            assert_eq!(written, 5000 * round as u64);
        }
    }

    #[test]
    fn each_thread_takes_its_kind_first_and_the_other_one_if_there_is_none() {
        let mut state = State::default();
        for (kind, bytes) in [(Kind::Copy, 1), (Kind::Copy, 2), (Kind::Gather, 3), (Kind::Gather, 4)] {
            state.queue(kind).push_back(Job { bytes, view: view_of(1), work: Box::new(|_| Ok(())) });
        }
        let preferences = [Kind::Gather, Kind::Copy, Kind::Gather, Kind::Gather, Kind::Copy];
        let taken = preferences.map(|preferred| state.take(preferred).map(|job| job.bytes));
        assert_eq!(taken, [Some(3), Some(1), Some(4), Some(2), None]);
    }

    #[test]
    fn the_first_failure_is_told_with_its_weight_and_ends_the_rest() {
        let mut pool = Pool::default();
        pool.run(Kind::Gather, 7, &view_of(7), Box::new(|_| Err(Error::TooLarge)), &mut |_| {});
        for _ in 0..1000 {
            pool.run(Kind::Copy, 8, &view_of(8), Box::new(|_| Ok(())), &mut |_| {});
        }
        let failure = pool.finish(&mut |_| {}).unwrap_err();
        assert_eq!(failure.view.unwrap().sizes, [7]);
        assert!(matches!(failure.error, Error::TooLarge), "{}", failure.error);
    }

    #[test]
    fn a_pool_that_is_given_up_ends_its_threads() {
        let mut pool = Pool::default();
        let done = Arc::new(AtomicUsize::new(0));
        for _ in 0..3 {
            pool.run(Kind::Copy, 1, &view_of(1), counting(&done), &mut |_| {});
        }
        drop(pool);
        assert_eq!(Arc::strong_count(&done), 1);
    }
}
