//! How output is told to stop: one transaction by its owner, all of them by a signal.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use super::Error;

/// What a signal handler and the output of this process tell each other.
#[derive(Debug)]
pub struct Interrupt {
    /// Once set, all output fails with [`Error::Stopped`] and leaves the old files.
    pub stop: Arc<AtomicBool>,
    /// Nothing has been written yet: the process may end at once, without `stop`.
    pub is_idle: Arc<AtomicBool>,
}

/// That of this process.
pub fn interrupt() -> &'static Interrupt {
    static INTERRUPT: LazyLock<Interrupt> = LazyLock::new(|| Interrupt {
        stop: Arc::new(AtomicBool::new(false)),
        is_idle: Arc::new(AtomicBool::new(true)),
    });
    &INTERRUPT
}

impl Interrupt {
    /// From now on the process must not end without cleaning up. Handlers set `stop` before they read `is_idle`, so that
    /// one of both sides sees the other.
    pub fn begin_work(&self) -> bool {
        self.is_idle.store(false, Ordering::SeqCst);
        !self.stop.load(Ordering::SeqCst)
    }
}

/// Whether a transaction is to go on.
#[derive(Clone, Debug, Default)]
pub(super) struct Stop(pub Option<Arc<AtomicBool>>);

impl Stop {
    /// An error once somebody wants no more of `path`.
    pub(super) fn check(&self, path: &Path) -> Result<(), Error> {
        let own = self.0.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
        match own || interrupt().stop.load(Ordering::Relaxed) {
            true => Err(Error::Stopped { path: path.into() }),
            false => Ok(()),
        }
    }
}
