//! Progress reports of long operations.

use std::path::Path;

use modelexport_io::weights::Progress;

/// A phase of an operation.
///
/// ```
/// use modelexport::Step;
///
/// fn title(step: Step) -> &'static str {
///     match step {
///         Step::Read => "reading",
///         Step::Lower => "lowering",
///         Step::Tag => "tagging",
///         Step::Write => "writing",
///     }
/// }
/// # assert_eq!(title(Step::Tag), "tagging");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The inputs are read.
    Read,
    /// The captured program is lowered to ONNX.
    Lower,
    /// The nodes are assigned to modules.
    Tag,
    /// The outputs are written.
    Write,
}

/// Receives progress and messages. Every method does nothing by default; `()` is an observer that ignores everything.
///
/// ```
/// use std::path::Path;
///
/// use modelexport::{Export, Observer, Step};
///
/// # let folder = tempfile::tempdir()?;
/// # let archive = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/bert_tiny/model.pt2");
/// struct Steps(Vec<Step>);
///
/// impl Observer for Steps {
///     fn step(&mut self, step: Step, _file: &Path) {
///         self.0.push(step);
///     }
/// }
///
/// let mut steps = Steps(Vec::new());
/// Export::new(archive, folder.path().join("bert.onnx")).run(&mut steps)?;
/// assert_eq!(steps.0, [Step::Read, Step::Lower, Step::Tag, Step::Write]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Observer {
    /// `step` begins; it works on `file`.
    fn step(&mut self, step: Step, file: &Path) {
        let _ = (step, file);
    }

    /// More bytes of the output are written.
    fn progress(&mut self, progress: Progress) {
        let _ = progress;
    }

    /// The user should know this although the operation goes on.
    fn warning(&mut self, text: &str) {
        let _ = text;
    }

    /// A detail for verbose output.
    fn detail(&mut self, text: &str) {
        let _ = text;
    }
}

impl Observer for () {}
