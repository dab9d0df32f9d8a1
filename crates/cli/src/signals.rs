//! SIGINT, SIGTERM and SIGHUP: the process cleans up, then ends by the signal, so that its parent sees it.
//!
//! As long as nothing is written, a signal ends the process at once. Afterwards it stops the output, which leaves the old
//! files. One that comes when the new files are in place is too late. A second signal ends the process in any case; but not
//! a second SIGHUP, because a terminal that closes sends two.

#[cfg(unix)]
pub use unix::install;

#[cfg(unix)]
mod unix {
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use modelexport_io::output::interrupt;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::{flag, low_level};

    /// What the handlers leave behind.
    pub struct Handlers {
        received: Arc<AtomicUsize>,
    }

    /// Installs the handlers. A signal that the parent had ignored, as `nohup` does, stays ignored.
    pub fn install() -> io::Result<Handlers> {
        let received = Arc::new(AtomicUsize::new(0));
        let ignored = ignored();
        for signal in
            [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| (ignored >> (signal - 1)) & 1 == 0)
        {
            let output = interrupt();
            // They run in this order.
            if signal != SIGHUP {
                flag::register_conditional_default(signal, output.stop.clone())?;
            }
            flag::register_usize(signal, received.clone(), signal as usize)?;
            flag::register(signal, output.stop.clone())?;
            flag::register_conditional_default(signal, output.is_idle.clone())?;
        }
        Ok(Handlers { received })
    }

    impl Handlers {
        /// Ends the process by the signal that stopped its work, if one did.
        pub fn end_if_stopped(&self) {
            if let Ok(signal @ 1..) = i32::try_from(self.received.load(Ordering::SeqCst)) {
                // Only signals that cannot be raised come back from here.
                let _ = low_level::emulate_default_handler(signal);
            }
        }
    }

    /// A bit for each signal that is ignored. Systems that do not tell have none.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}

/// Elsewhere the system's own handling stays.
#[cfg(not(unix))]
mod other {
    pub struct Handlers;

    pub fn install() -> std::io::Result<Handlers> {
        Ok(Handlers)
    }

    impl Handlers {
        pub fn end_if_stopped(&self) {}
    }
}
#[cfg(not(unix))]
pub use other::install;
