//! Reads, encodes, tags and strips every `.onnx` file of a folder, and puts the results beside them, so that
//! `tests/python/test_onnx_bytes.py` can look at thousands of models with one process.
//!
//! `NAME.onnx` gives `NAME.encoded`, `NAME.tagged` and `NAME.stripped`, or `NAME.error` with the message.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use modelexport_graph::{Method, Name};
use modelexport_io::onnx::{self, Chunk, DocString, NodeEdit, NodeTags, NodeView, OnnxFile};
use modelexport_io::source::Sources;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args_os().nth(1).ok_or("usage: onnx_bytes FOLDER")?);
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "onnx")
            && let Err(error) = process(&path)
        {
            fs::write(path.with_extension("error"), error.to_string())?;
        }
    }
    Ok(())
}

fn process(path: &Path) -> Result<(), Box<dyn Error>> {
    fs::write(path.with_extension("encoded"), encode(&onnx::read(path)?)?)?;
    let with_tags = path.with_extension("tagged");
    fs::write(&with_tags, tagged(path)?)?;
    fs::write(path.with_extension("stripped"), stripped(&with_tags)?)?;
    Ok(())
}

fn encode(file: &OnnxFile) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut bytes = Vec::new();
    for chunk in onnx::encode(&file.model)? {
        match chunk {
            Chunk::Bytes(part) => bytes.extend(part),
            // What was read from a file is stored without gaps.
            Chunk::View { view, .. } => {
                let mut part = vec![0; usize::try_from(view.span.length)?];
                file.sources.read_at(view.span.source, view.span.offset, &mut part)?;
                bytes.extend(part);
            }
        }
    }
    if bytes.len() as u64 != onnx::encoded_len(&file.model)? {
        return Err("the length is not the one that was promised".into());
    }
    Ok(bytes)
}

fn tagged(path: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut sources = Sources::new();
    let id = sources.add_file(path)?;
    Ok(onnx::splice(&sources, id, tag)?.to_vec()?)
}

fn stripped(path: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut sources = Sources::new();
    let id = sources.add_file(path)?;
    Ok(onnx::strip(&sources, id)?.to_vec()?)
}

/// Tags as they are written for real: earlier text inside ours, entries of others left alone.
fn tag(node: &NodeView<'_>) -> NodeEdit {
    let path = format!("/Model/Layer.{}", node.key.index);
    let tag: Name = path.as_str().into();
    let doc_string = DocString::new(vec![tag.clone()], &tag, Method::Direct, node.doc_string).to_text();
    let mut metadata = vec![("modelexport.tag".into(), path.clone())];
    if !node.metadata.iter().any(|(key, _)| key == "namespace") {
        metadata.push(("namespace".into(), path));
    }
    NodeEdit::Tag(NodeTags { doc_string: Some(doc_string), metadata })
}
