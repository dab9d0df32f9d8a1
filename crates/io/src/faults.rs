//! System calls that fail on demand, for tests. Without the feature `faults` nothing of it is left.

#[cfg(not(feature = "faults"))]
mod plan {
    pub(crate) fn call<T, E>(_: &'static str, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        work()
    }

    pub(crate) fn writable(length: usize) -> usize {
        length
    }
}

#[cfg(feature = "faults")]
mod plan {
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use rustix::io::Errno;

    /// What becomes of a call.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Fault {
        /// It fails with this error.
        Error(Errno),
        /// The process dies before it.
        Death,
        /// If it writes, it writes half.
        ShortWrite,
    }

    #[derive(Default)]
    struct Plan {
        fault: Option<(usize, Fault)>,
        lacking: Option<&'static str>,
        calls: Vec<&'static str>,
    }

    static PLAN: Mutex<Option<Plan>> = Mutex::new(None);

    fn plan() -> MutexGuard<'static, Option<Plan>> {
        PLAN.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on the calls of this process are counted, and call number `at` meets `fault`.
    pub fn start(fault: Option<(usize, Fault)>) {
        *plan() = Some(Plan { fault, ..Plan::default() });
    }

    /// From now on the system has no such call.
    pub fn lack(name: &'static str) {
        if let Some(plan) = &mut *plan() {
            plan.lacking = Some(name);
        }
    }

    /// Nothing fails any more. Returns the names of the calls since the start.
    pub fn stop() -> Vec<&'static str> {
        plan().take().map(|plan| plan.calls).unwrap_or_default()
    }

    pub(crate) fn call<T, E: From<Errno>>(
        name: &'static str,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        if let Some(plan) = &mut *plan() {
            let number = plan.calls.len();
            plan.calls.push(name);
            match plan.fault {
                Some((at, Fault::Error(errno))) if at == number => return Err(errno.into()),
                Some((at, Fault::Death)) if at == number => std::process::abort(),
                _ if plan.lacking == Some(name) => return Err(Errno::OPNOTSUPP.into()),
                _ => {}
            }
        }
        work()
    }

    pub(crate) fn writable(length: usize) -> usize {
        match &*plan() {
            Some(Plan { fault: Some((at, Fault::ShortWrite)), calls, .. }) if *at == calls.len() => {
                length.div_ceil(2)
            }
            _ => length,
        }
    }
}

#[cfg(feature = "faults")]
pub use plan::{Fault, lack, start, stop};
pub(crate) use plan::{call, writable};
