//! Progress of long work on stderr: a line for each step, a bar while weights are copied.

use std::path::Path;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use modelexport_io::weights;

/// Shows nothing if stderr is not a terminal or `-q` was given.
pub struct Progress {
    bar: ProgressBar,
}

/// Steps that are shorter than this are never seen.
const TICK: Duration = Duration::from_millis(120);

impl Progress {
    pub fn new(is_shown: bool) -> Self {
        let bar = ProgressBar::no_length();
        if is_shown {
            bar.enable_steady_tick(TICK);
        } else {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        Progress { bar }
    }

    pub fn step(&self, what: &str, file: &Path) {
        self.bar.set_style(style("{spinner} {msg}"));
        self.bar.set_message(format!("{what} {}", file.display()));
    }

    /// So many bytes are written.
    pub fn bytes(&self, weights::Progress { done, total }: weights::Progress) {
        if self.bar.length() != Some(total) {
            self.bar.set_length(total);
            self.bar.set_style(style("{spinner} {msg} {bar:30} {bytes}/{total_bytes} {bytes_per_sec}"));
        }
        self.bar.set_position(done);
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
