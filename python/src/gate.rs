//! The way from Python into Rust work that takes its time: other Python threads go on, Ctrl-C ends it, and a panic
//! becomes an exception.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::prelude::*;

use crate::errors;

/// How often a wait looks for Ctrl-C. It ends at once when the work does.
const LOOK: Duration = Duration::from_millis(50);

/// Set when the work is no longer wanted.
#[derive(Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }
}

/// Runs `work` on a thread of its own while this one waits without the interpreter's lock.
///
/// Python handles signals on its main thread only, and only there when it is asked to; so the waiting thread asks.
pub fn run<T: Send>(py: Python<'_>, stop: &Stop, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let (result, interrupt) = py.detach(|| {
        std::thread::scope(|scope| {
            let (done, wait) = channel();
            let worker = scope.spawn(move || {
                let result = catch_unwind(AssertUnwindSafe(work));
                // The receiver lives until this arrives.
                let _ = done.send(());
                result
            });
            let mut interrupt = None;
            while let Err(RecvTimeoutError::Timeout) = wait.recv_timeout(LOOK) {
                if interrupt.is_none() {
                    interrupt = Python::attach(|py| py.check_signals()).err();
                    stop.0.store(interrupt.is_some(), Ordering::Relaxed);
                }
            }
            (worker.join().and_then(|result| result), interrupt)
        })
    });
    match (result, interrupt) {
        (_, Some(interrupt)) => Err(interrupt),
        (Ok(value), None) => Ok(value),
        (Err(panic), None) => Err(errors::of_panic(panic.as_ref())),
    }
}
