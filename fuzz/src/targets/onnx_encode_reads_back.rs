use modelexport_graph::onnx::Model;
use modelexport_io::onnx::{self, Chunk, OnnxFile};
use modelexport_io::source::Sources;

use crate::mutate::{self, protobuf};
use crate::{Target, Verdict, files, seeds};

pub static TARGET: Target = Target {
    name: "onnx_encode_reads_back",
    property: "What is read from an ONNX file can be written, read again and written to the same bytes.",
    seeds: seeds::models,
    mutate: |input, random| mutate::formatted(input, random, protobuf::mutate),
    check,
};

fn check(input: &[u8]) -> Verdict {
    let OnnxFile { model, sources } = match onnx::read_bytes("model.onnx", input.to_vec()) {
        Ok(file) => file,
        Err(error) => {
            files::assert_names(&error.to_string(), "model.onnx");
            return Verdict::Refused;
        }
    };
    let written = bytes(&model, &sources);
    let length = onnx::encoded_len(&model).expect("what can be written has a length");
    assert_eq!(written.len() as u64, length, "the length is told before the bytes");
    let again = onnx::read_bytes("written.onnx", written.clone()).expect("what was written can be read");
    assert!(bytes(&again.model, &again.sources) == written, "a model is written differently the second time");
    Verdict::Accepted
}

/// The file of a model.
pub fn bytes(model: &Model, sources: &Sources) -> Vec<u8> {
    let mut bytes = Vec::new();
    for chunk in onnx::encode(model).expect("what was read can be written") {
        match chunk {
            Chunk::Bytes(part) => bytes.extend(part),
            Chunk::View { view, dtype_bits } => {
                assert!(view.is_contiguous(), "the tensors of a file have no gaps");
                let elements = modelexport_graph::element_count(&view.sizes).expect("it was checked");
                let start = bytes.len();
                bytes.resize(start + (elements * dtype_bits).div_ceil(8) as usize, 0);
                let offset = view.span.offset + view.offset * dtype_bits / 8;
                sources
                    .read_at(view.span.source, offset, &mut bytes[start..])
                    .expect("it is inside the source");
            }
        }
    }
    bytes
}
