//! Writes a spliced file: an ONNX file in which only tags change.

use modelexport_graph::{SourceId, Span};

use crate::onnx::{CopyError, Piece, Spliced};
use crate::output::{Role, Transaction};
use crate::source::Sources;
use crate::stream::{Error, Streamer};

/// Stages `spliced`, made from the source `original`, as the file for which `transaction` was begun. `progress` gets
/// each number of bytes that was written. Returns how many there are.
pub fn stage(
    transaction: &mut Transaction,
    spliced: &mut Spliced<'_>,
    original: SourceId,
    sources: &Sources,
    progress: &mut dyn FnMut(u64),
) -> Result<u64, CopyError> {
    let target = transaction.model().to_path_buf();
    let mut output = transaction.create(&target, Role::Model).map_err(Error::from)?;
    output.reserve(spliced.len()).map_err(Error::from)?;
    let mut streamer = Streamer::new(sources, progress);
    spliced.copy(&mut |piece| match piece {
        Piece::New(bytes) => streamer.append_bytes(&mut output, bytes),
        Piece::Original { offset, length } => {
            streamer.append_span(&mut output, Span { source: original, offset, length })
        }
    })?;
    streamer.finish().map_err(|failure| failure.error)?;
    transaction.stage(output).map_err(Error::from)?;
    Ok(spliced.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::onnx;
    use crate::output::Settings;

    #[test]
    fn a_spliced_file_is_its_pieces_in_order() {
        use modelexport_graph::onnx::{Model, Node, OpsetImport};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.onnx");
        let mut model = Model { ir_version: 10, ..Model::default() };
        model.opset_imports.push(OpsetImport { version: 20, ..OpsetImport::default() });
        let node = Node {
            op_type: "Relu".into(),
            inputs: vec!["x".into()],
            outputs: vec!["y".into()],
            ..Node::default()
        };
        model.graph.nodes = vec![node; 3];
        let mut bytes = Vec::new();
        for chunk in onnx::encode(&model).unwrap() {
            let onnx::Chunk::Bytes(part) = chunk else { panic!("no weights here") };
            bytes.extend_from_slice(&part);
        }
        std::fs::write(&path, &bytes).unwrap();
        let mut sources = Sources::new();
        let id = sources.add_file(&path).unwrap();
        let tags = onnx::NodeTags { doc_string: Some("tag".into()), metadata: Vec::new() };
        let mut spliced = onnx::splice(&sources, id, |_| onnx::NodeEdit::Tag(tags.clone())).unwrap();
        let expected = spliced.to_vec().unwrap();
        assert!(expected.len() > bytes.len());

        let settings = Settings { overwrite: true, ..Settings::default() };
        let mut transaction = Transaction::begin(&path, settings).unwrap();
        let mut reported = 0;
        let length =
            stage(&mut transaction, &mut spliced, id, &sources, &mut |bytes| reported += bytes).unwrap();
        transaction.commit().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), expected);
        assert_eq!((length, reported), (expected.len() as u64, expected.len() as u64));
    }
}
