//! A spliced file on its way to the disk.

use modelexport_graph::{SourceId, Span, StridedView};

use super::{Piece, Spliced};
use crate::output::OutputFile;
use crate::source::Sources;
use crate::stream::{self, Streamer};

impl Spliced {
    /// Writes the file: new bytes from memory, the others from the original, which is `id` in `sources`. `progress`
    /// is told how many bytes were copied.
    pub fn write(
        &self,
        sources: &Sources,
        id: SourceId,
        output: &mut OutputFile,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), stream::Error> {
        let mut streamer = Streamer::new(sources, progress);
        for piece in self.pieces() {
            match piece {
                Piece::New(bytes) => output.write_all(bytes)?,
                Piece::Original { offset, length } => {
                    let span = Span { source: id, offset, length };
                    let view = StridedView { span, offset: 0, sizes: vec![length], strides: vec![1] };
                    streamer.append(output, &view, 8)?;
                }
            }
        }
        streamer.finish().map_err(|failure| failure.error)
    }
}

#[cfg(test)]
mod tests {
    use crate::onnx::splice::{NodeEdit, NodeTags, splice};
    use crate::onnx::test_bytes::{graph_of, model_of, node_of};
    use crate::output::{Durability, Role, Settings, Transaction};
    use crate::source::Sources;

    #[test]
    fn a_file_can_be_spliced_onto_itself() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.onnx");
        std::fs::write(&path, model_of(graph_of(&[node_of("Add", []), node_of("Mul", [])]))).unwrap();
        let mut sources = Sources::new();
        let id = sources.add_file(&path).unwrap();
        let tags = NodeTags { doc_string: Some("new".into()), ..Default::default() };
        let spliced = splice(&sources, id, &mut |_| NodeEdit::Tag(tags.clone())).unwrap();
        let expected = spliced.to_vec(sources.get(id).unwrap()).unwrap();
        let settings = Settings { overwrite: true, durability: Durability::ProcessCrash };
        let mut transaction = Transaction::begin(&path, settings).unwrap();
        let mut output = transaction.create(&path, Role::Model).unwrap();
        spliced.write(&sources, id, &mut output, &mut |_| ()).unwrap();
        transaction.stage(output).unwrap();
        transaction.commit().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), expected);
    }
}
