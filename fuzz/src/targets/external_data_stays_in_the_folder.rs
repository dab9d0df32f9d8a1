use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use modelexport_graph::onnx::{Graph, Model, OpsetImport, Tensor, TensorData};
use modelexport_io::onnx::{self, OnnxFile};
use modelexport_io::{external_data, source::Sources};

use super::onnx_encode_reads_back::bytes;
use crate::mutate::{self, protobuf};
use crate::{Target, Verdict, files};

pub static TARGET: Target = Target {
    name: "external_data_stays_in_the_folder",
    property: "Whatever tensors say, their data lies inside a plain file of the model's folder, all of it.",
    seeds,
    mutate: |input, random| mutate::formatted(input, random, protobuf::mutate),
    check,
};

/// Length of `data.bin` and `sub/part.bin`.
const LENGTH: usize = 256;

/// Models with one weight, in each of the files of the folder.
fn seeds() -> Vec<Vec<u8>> {
    let locations =
        ["data.bin", "sub/part.bin", "link", "hard.bin", "pipe", "folder", "../outside.bin", "linked/in.bin"];
    let model = |location: &str| {
        let entries = [("location", location), ("offset", "64"), ("length", "32")];
        let data =
            TensorData::External(entries.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec());
        let tensor = Tensor { name: "w".into(), data_type: 1, dims: vec![2, 4], data, ..Tensor::default() };
        let graph = Graph { name: "g".into(), initializers: vec![tensor], ..Graph::default() };
        let opset_imports = vec![OpsetImport { version: 20, ..OpsetImport::default() }];
        bytes(&Model { ir_version: 10, opset_imports, graph, ..Model::default() }, &Sources::new())
    };
    locations.map(model).to_vec()
}

fn check(input: &[u8]) -> Verdict {
    let Ok(OnnxFile { mut model, mut sources }) = onnx::read_bytes("model.onnx", input.to_vec()) else {
        return Verdict::Refused;
    };
    let folder = folder();
    let checked = external_data::check(&mut model, folder).map_err(|error| error.to_string());
    let resolved = external_data::resolve(&mut model, folder, &mut sources);
    assert_eq!(
        checked,
        resolved.as_ref().map(|_| ()).map_err(ToString::to_string),
        "check and resolve differ"
    );
    for (_, source) in sources.iter() {
        if let Some(path) = source.path() {
            let real = path.canonicalize().expect("it was opened");
            let is_plain = [folder.join("data.bin"), folder.join("sub/part.bin")].contains(&real);
            assert!(is_plain, "{} was opened", real.display());
        }
    }
    let outside = |tensor: &Tensor| match &tensor.data {
        TensorData::Stored(view) if sources.path(view.span.source).is_some() => {
            view.span.offset.checked_add(view.span.length).is_none_or(|end| end > LENGTH as u64)
        }
        _ => false,
    };
    assert!(!model.graph.initializers.iter().any(outside), "a tensor outside its file");
    match resolved {
        Ok(count) if count > 0 => Verdict::Accepted,
        _ => Verdict::Refused,
    }
}

/// A folder with two plain files and much that must not be opened.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let outer = files::folder("external").canonicalize().expect("it was just made");
        let folder = outer.join("model");
        let make = |path: &str| std::fs::create_dir_all(folder.join(path)).expect("a folder can be made");
        ["sub", "folder", "../elsewhere"].into_iter().for_each(make);
        for file in ["data.bin", "sub/part.bin", "hard.bin", "../outside.bin", "../elsewhere/in.bin"] {
            files::write(&folder.join(file), &[7; LENGTH]);
        }
        std::fs::hard_link(folder.join("hard.bin"), folder.join("hard.too")).expect("a link can be made");
        let link =
            |to: &str, at: &str| std::os::unix::fs::symlink(to, folder.join(at)).expect("a link can be made");
        link("../outside.bin", "link");
        link("data.bin", "link.too");
        link("../elsewhere", "linked");
        let pipe = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, folder.join("pipe"), pipe, 0o600.into(), 0)
            .expect("a pipe can be made");
        folder
    })
}
