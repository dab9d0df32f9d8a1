//! Shows what the library reports while it works.

use std::path::Path;

use modelexport::{Observer, Step};
use modelexport_io::weights;

use crate::display::progress::Progress;
use crate::session::Session;

/// Progress and messages on stderr. Dropped, it clears the line of progress.
pub struct SessionObserver<'s> {
    session: &'s mut Session,
    progress: Progress,
}

impl<'s> SessionObserver<'s> {
    pub fn new(session: &'s mut Session) -> Self {
        let progress = Progress::new(session.shows_progress());
        SessionObserver { session, progress }
    }
}

impl Observer for SessionObserver<'_> {
    fn step(&mut self, step: Step, file: &Path) {
        let name = match step {
            Step::Read => "reading",
            Step::Lower => "lowering",
            Step::Tag => "tagging",
            Step::Write => "writing",
        };
        self.progress.step(name, file);
    }

    fn progress(&mut self, progress: weights::Progress) {
        self.progress.bytes(progress);
    }

    fn warning(&mut self, text: &str) {
        self.session.warn(text);
    }

    fn detail(&mut self, text: &str) {
        self.session.detail(text);
    }
}

impl Drop for SessionObserver<'_> {
    fn drop(&mut self) {
        self.progress.finish();
    }
}
