//! Threads that gather blocks.
//!
//! To read a block, to put it in order and to write it take about the same time each. Two threads that do all of it
//! keep two processors busy and need no balance between stages; the kernel lets one of them write at a time.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use modelexport_graph::StridedView;

use super::{Error, Failure};

/// More would only wait for each other at the file that they write.
pub(super) const THREADS: usize = 2;

/// Work that waits for a thread; beyond it, the caller waits.
const WAITING: usize = 4;

/// Memory that a thread keeps from block to block.
#[derive(Default)]
pub(super) struct Scratch {
    /// What was read.
    pub image: Vec<u8>,
    /// What is written.
    pub part: Vec<u8>,
}

type Work = Box<dyn FnOnce(&mut Scratch) -> Result<(), Error> + Send>;

struct Job {
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
    jobs: VecDeque<Job>,
    is_closed: bool,
    failure: Option<Box<Failure>>,
}

impl Pool {
    /// Does work for a weight some time before [`Pool::finish`] returns.
    pub fn run(&mut self, view: &StridedView, work: Work) {
        if self.threads.len() < THREADS && self.threads.len() < available_threads() {
            let shared = self.shared.clone();
            let thread = std::thread::Builder::new().name("gather".into()).spawn(move || shared.work());
            self.threads.extend(thread);
        }
        let job = Job { view: view.clone(), work };
        if self.threads.is_empty() {
            // The system has no thread to spare.
            self.shared.run(job, &mut Scratch::default());
            return;
        }
        let mut state = self.shared.lock();
        while state.jobs.len() >= WAITING && state.failure.is_none() {
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.failure.is_none() {
            state.jobs.push_back(job);
            self.shared.changed.notify_all();
        }
    }

    /// Waits until all work is done. A failure says which weight it is about.
    pub fn finish(&mut self) -> Result<(), Box<Failure>> {
        self.shared.close();
        let mut is_broken = false;
        for thread in self.threads.drain(..) {
            is_broken |= thread.join().is_err();
        }
        let shared = std::mem::take(&mut self.shared);
        let mut state = shared.lock();
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
        self.shared.lock().jobs.clear();
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

    fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    fn work(&self) {
        let mut scratch = Scratch::default();
        while let Some(job) = self.next() {
            self.run(job, &mut scratch);
        }
    }

    fn next(&self) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
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
        if let Err(error) = (job.work)(scratch) {
            let mut state = self.lock();
            state.jobs.clear();
            state.failure.get_or_insert_with(|| error.about(Some(&job.view)));
            self.changed.notify_all();
        }
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

    #[test]
    fn all_work_is_done_when_it_finishes_and_more_can_follow() {
        let mut pool = Pool::default();
        let done = Arc::new(AtomicUsize::new(0));
        for round in 1..3 {
            for _ in 0..100 {
                let done = done.clone();
                pool.run(
                    &view_of(1),
                    Box::new(move |_| {
                        done.fetch_add(1, Ordering::Relaxed);
                        Ok(())
                    }),
                );
            }
            pool.finish().unwrap();
            assert_eq!(done.load(Ordering::Relaxed), 100 * round);
        }
    }

    #[test]
    fn the_first_failure_is_told_with_its_weight_and_ends_the_rest() {
        let mut pool = Pool::default();
        pool.run(&view_of(7), Box::new(|_| Err(Error::TooLarge)));
        for _ in 0..100 {
            pool.run(&view_of(8), Box::new(|_| Ok(())));
        }
        let failure = pool.finish().unwrap_err();
        assert_eq!(failure.view.unwrap().sizes, [7]);
        assert!(matches!(failure.error, Error::TooLarge), "{}", failure.error);
    }

    #[test]
    fn a_pool_that_is_given_up_ends_its_threads() {
        let mut pool = Pool::default();
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        for _ in 0..3 {
            let sender = sender.clone();
            pool.run(&view_of(1), Box::new(move |_| sender.send(()).map_err(|_| Error::Thread)));
        }
        drop((pool, sender));
        assert!(receiver.iter().count() <= 3);
    }
}
