//! Copies the data files of a model that is written into another folder, where it could not be read without them.

use std::path::{Path, PathBuf};

use modelexport_graph::{SourceId, Span};
use modelexport_io::output::{OutputFile, Role, Transaction};
use modelexport_io::source::Sources;
use modelexport_io::stream::{self, Streamer};
use modelexport_io::{onnx, weights};

use crate::Error;
use crate::folders::is_beside;

/// The files that tensors of a model lie in.
#[derive(Debug)]
pub(crate) struct DataFiles {
    /// As the model names them.
    pub(crate) locations: Vec<String>,
    /// Those that were opened.
    opened: Vec<(String, SourceId)>,
}

impl DataFiles {
    pub(crate) fn find(locations: Vec<String>, folder: &Path, sources: &Sources) -> Self {
        let source = |location: &String| Some((location.clone(), sources.find(&folder.join(location))?));
        let opened = locations.iter().filter_map(source).collect();
        DataFiles { locations, opened }
    }

    /// The copies that `output` needs beside it; none if the files are there, as they are beside `input`.
    pub(crate) fn copies(&self, input: &Path, output: &Path) -> Vec<DataCopy> {
        let files = self.opened.iter().filter(|_| !is_beside(input, output));
        files
            .map(|(location, source)| DataCopy {
                location: location.clone(),
                target: output.with_file_name(location),
                source: *source,
            })
            .collect()
    }
}

/// A data file that is copied.
#[derive(Debug, PartialEq)]
pub(crate) struct DataCopy {
    /// As the model names it.
    location: String,
    pub(crate) target: PathBuf,
    source: SourceId,
}

/// Copies data files beside the output. `model` is the file that names them.
pub(crate) fn stage(
    transaction: &mut Transaction,
    model: SourceId,
    copies: &[DataCopy],
    sources: &Sources,
) -> Result<(), Error> {
    let mut temporary_locations = Vec::new();
    for DataCopy { location, target, source } in copies {
        let mut copy = transaction.create(target, Role::Data)?;
        let length = sources.len(*source).unwrap_or(0);
        let span = Span { source: *source, offset: 0, length };
        copy.reserve(length)?;
        copy_span(sources, span, &mut copy).map_err(weights::Error::Stream)?;
        let temporary = Path::new(location).with_file_name(copy.temporary_name());
        temporary_locations.push((location.clone(), temporary.to_string_lossy().into_owned()));
        transaction.stage(copy)?;
    }
    if transaction.needs_bridge() && !copies.is_empty() {
        let model = onnx::read_source(sources, model)?;
        weights::stage_bridge(transaction, model, sources, &temporary_locations)?;
    }
    Ok(())
}

/// Copies a range of a source, to its last byte.
fn copy_span(sources: &Sources, span: Span, copy: &mut OutputFile) -> Result<(), stream::Error> {
    let mut ignore_progress = |_| ();
    let mut streamer = Streamer::new(sources, &mut ignore_progress);
    streamer.append_span(copy, span)?;
    streamer.finish().map_err(|failure| failure.error)
}

#[cfg(test)]
mod tests {
    use modelexport_io::output::Settings;

    use super::*;

    #[test]
    fn a_data_file_is_copied_to_its_last_byte() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        std::fs::create_dir(&from).unwrap();
        std::fs::create_dir(&to).unwrap();
        // Larger than what is copied at a time.
        let bytes: Vec<u8> = (0..40_000_000u32).map(|i| (i % 251) as u8).collect();
        std::fs::write(from.join("m.data"), &bytes).unwrap();
        let mut sources = Sources::new();
        let source = sources.add_file(&from.join("m.data")).unwrap();
        let files = DataFiles::find(vec!["m.data".into()], &from, &sources);
        let copies = files.copies(&from.join("m.onnx"), &to.join("m.onnx"));
        assert_eq!(copies, [DataCopy { location: "m.data".into(), target: to.join("m.data"), source }]);
        let mut transaction = Transaction::begin(&to.join("m.onnx"), Settings::default()).unwrap();
        stage(&mut transaction, source, &copies, &sources).unwrap();
        let mut model = transaction.create(&to.join("m.onnx"), Role::Model).unwrap();
        model.write_all(b"model").unwrap();
        transaction.stage(model).unwrap();
        transaction.commit().unwrap();
        assert!(std::fs::read(to.join("m.data")).unwrap() == bytes);
    }
}
