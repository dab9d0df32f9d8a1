//! Writes the sidecar without a copy of its text in memory.

use std::io::{self, Write};

use modelexport_io::output::{self, OutputFile, Role, Transaction};
use modelexport_io::sidecar::{self, Sidecar};

use crate::Error;

/// Stages `sidecar` beside the model for which `transaction` was begun.
pub(crate) fn stage(transaction: &mut Transaction, sidecar: &Sidecar) -> Result<(), Error> {
    let output = create(transaction)?;
    transaction.stage(write(output, None, |text| sidecar.write(text))?)?;
    Ok(())
}

/// The file beside the model for which `transaction` was begun.
pub(crate) fn create(transaction: &mut Transaction) -> Result<OutputFile, Error> {
    let beside = sidecar::path_beside(transaction.model());
    Ok(transaction.create(&beside, Role::Companion)?)
}

/// Writes the text that `write` gives, also into `copy`, and gives the file back, which is to be staged.
pub(crate) fn write(
    mut output: OutputFile,
    copy: Option<&mut Vec<u8>>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<OutputFile, Error> {
    let mut text = Text { output: &mut output, copy, failure: None };
    let written = write(&mut text);
    match (text.failure, written) {
        (Some(failure), _) => Err(failure.into()),
        (None, Err(source)) => Err(Error::Write { path: output.target().to_path_buf(), source }),
        (None, Ok(())) => Ok(output),
    }
}

/// Hands text over and keeps why that failed.
struct Text<'o> {
    output: &'o mut OutputFile,
    copy: Option<&'o mut Vec<u8>>,
    failure: Option<output::Error>,
}

impl Write for Text<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(copy) = &mut self.copy {
            copy.extend_from_slice(bytes);
        }
        match self.output.write_all(bytes) {
            Ok(()) => Ok(bytes.len()),
            Err(failure) => {
                self.failure = Some(failure);
                Err(io::ErrorKind::Other.into())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use modelexport_graph::onnx::Model;
    use modelexport_graph::{ModuleTree, Scopes};
    use modelexport_io::output::Settings;

    use super::*;
    use crate::embedding::Embed;
    use crate::policy::Policy;
    use crate::tagger;
    use crate::tags::{TagFormat, Tags};

    #[test]
    fn the_file_is_what_the_sidecar_writes_into_memory() {
        let folder = tempfile::tempdir().unwrap();
        let tree = ModuleTree::new();
        let tags = Tags::new(&tree, &Policy::default(), TagFormat::default());
        let source = sidecar::Source { kind: "onnx".into(), file: None, torch_version: None };
        let options = tagger::Options { embed: Embed::BOTH, strategy: "htp".into(), source };
        let sidecar = tagger::describe(&Model::default(), &tree, &Scopes::new(), &tags, &options);
        let model = folder.path().join("m.onnx");
        let mut transaction = Transaction::begin(&model, Settings::default()).unwrap();
        stage(&mut transaction, &sidecar).unwrap();
        transaction.commit().unwrap();
        let written = std::fs::read(sidecar::path_beside(&model)).unwrap();
        assert_eq!(written, sidecar.to_bytes().unwrap());
    }
}
