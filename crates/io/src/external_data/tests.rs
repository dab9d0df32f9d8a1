use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use modelexport_graph::DType;
use rustix::fs::{CWD, mknodat};

use super::*;
use crate::ErrorKind;

fn tensor(entries: &[(&str, &str)], dims: &[i64]) -> Tensor {
    let entries = entries.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    Tensor {
        name: "w".into(),
        data_type: DType::F32.onnx_code().unwrap(),
        dims: dims.into(),
        data: TensorData::External(entries),
        ..Tensor::default()
    }
}

fn model_of(tensor: Tensor) -> Model {
    let mut model = Model::default();
    model.graph.initializers.push(tensor);
    model
}

/// A model's folder with a file of 64 bytes, and things that models must not refer to.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("w.bin"), (0..64).collect::<Vec<u8>>()).unwrap();
    fs::create_dir(folder.path().join("sub")).unwrap();
    fs::write(folder.path().join("sub/w.bin"), [7; 16]).unwrap();
    symlink("w.bin", folder.path().join("link")).unwrap();
    symlink("sub", folder.path().join("linked")).unwrap();
    mknodat(CWD, folder.path().join("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    folder
}

fn refusal(tensor: Tensor) -> Reason {
    let folder = folder();
    let _socket = UnixListener::bind(folder.path().join("socket")).unwrap();
    let error = resolve(&mut model_of(tensor), folder.path(), &mut Sources::new()).unwrap_err();
    assert_eq!(error.tensor, "w");
    error.reason
}

fn refusal_of_location(location: &str) -> Reason {
    refusal(tensor(&[("location", location)], &[4]))
}

#[test]
fn entries_become_spans_of_the_file() {
    let folder = folder();
    let mut sources = Sources::new();
    let mut model = model_of(tensor(&[("location", "w.bin"), ("offset", "16"), ("length", "24")], &[2, 3]));
    model.graph.initializers.push(tensor(&[("location", "./sub/w.bin")], &[4]));
    model.graph.initializers.push(tensor(&[("location", "w.bin"), ("checksum", "x")], &[0, 5]));
    assert_eq!(resolve(&mut model, folder.path(), &mut sources).unwrap(), 3);
    let views: Vec<_> = model
        .graph
        .initializers
        .iter()
        .map(|tensor| match &tensor.data {
            TensorData::Stored(view) => view.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!((views[0].span.offset, views[0].span.length), (16, 24));
    assert_eq!(
        (views[0].sizes.as_slice(), views[0].strides.as_slice()),
        ([2, 3].as_slice(), [3, 1].as_slice())
    );
    assert_eq!((views[1].span.offset, views[1].span.length), (0, 16));
    assert_eq!(views[2].span.length, 0);
    assert_eq!(views[0].span.source, views[2].span.source);
    assert_eq!(sources.iter().count(), 2);
    let mut bytes = [0; 2];
    sources.read_at(views[0].span.source, 16, &mut bytes).unwrap();
    assert_eq!(bytes, [16, 17]);
}

#[test]
fn tensors_in_subgraphs_and_attributes_are_resolved_too() {
    use modelexport_graph::onnx::{Attribute, AttributeValue, Graph, Node};
    let folder = folder();
    let inner = Graph { initializers: vec![tensor(&[("location", "w.bin")], &[1])], ..Graph::default() };
    let attribute = |value| Attribute { value, ..Attribute::default() };
    let node = Node {
        attributes: vec![
            attribute(AttributeValue::Graph(Box::new(inner))),
            attribute(AttributeValue::Tensor(Box::new(tensor(&[("location", "w.bin")], &[1])))),
        ],
        ..Node::default()
    };
    let mut model = Model::default();
    model.graph.nodes.push(node);
    assert_eq!(resolve(&mut model, folder.path(), &mut Sources::new()).unwrap(), 2);
}

#[test]
fn absolute_paths_are_refused() {
    assert!(matches!(refusal_of_location("/etc/hostname"), Reason::Absolute));
}

#[test]
fn ways_out_of_the_folder_are_refused() {
    for location in ["../w.bin", "sub/../../w.bin", "sub/../w.bin", ".."] {
        assert!(matches!(refusal_of_location(location), Reason::Outside), "{location}");
    }
}

#[test]
fn links_are_refused_wherever_they_stand() {
    for location in ["link", "linked/w.bin"] {
        assert!(matches!(refusal_of_location(location), Reason::Link), "{location}");
    }
}

#[test]
fn hard_links_are_refused() {
    let folder = folder();
    fs::hard_link(folder.path().join("w.bin"), folder.path().join("twin")).unwrap();
    let mut model = model_of(tensor(&[("location", "twin")], &[4]));
    let error = resolve(&mut model, folder.path(), &mut Sources::new()).unwrap_err();
    assert!(matches!(error.reason, Reason::HardLink { names: 2 }), "{error}");
}

#[test]
fn pipes_sockets_and_folders_are_refused() {
    for (location, expected) in [("pipe", "a named pipe"), ("socket", "a socket"), ("sub", "a folder")] {
        let reason = refusal_of_location(location);
        assert!(matches!(reason, Reason::NotRegular { what } if what == expected), "{location}: {reason}");
    }
}

#[test]
fn devices_are_refused() {
    let error =
        resolve(&mut model_of(tensor(&[("location", "null")], &[4])), Path::new("/dev"), &mut Sources::new());
    assert!(matches!(error.unwrap_err().reason, Reason::NotRegular { what: "a device" }));
}

#[test]
fn missing_files_and_folders_are_told_as_such() {
    let reason = refusal_of_location("none.bin");
    assert!(matches!(reason, Reason::NotFound));
    assert_eq!(reason.kind(), ErrorKind::Io);
    let mut model = model_of(tensor(&[("location", "w.bin")], &[4]));
    let error = resolve(&mut model, Path::new("/nonexistent"), &mut Sources::new()).unwrap_err();
    assert!(matches!(error.reason, Reason::Open(_)), "{error}");
}

#[test]
fn paths_that_no_file_has_are_refused() {
    for location in ["", ".", "w.bin/", "a\0b", &"n".repeat(5000)] {
        assert!(matches!(refusal_of_location(location), Reason::BadPath), "{location:?}");
    }
}

#[test]
fn offsets_and_lengths_beyond_the_file_are_refused() {
    for (offset, dims) in [("49", 4), ("64", 4), ("18446744073709551615", 4), ("0", 17)] {
        let reason = refusal(tensor(&[("location", "w.bin"), ("offset", offset)], &[dims]));
        assert!(matches!(reason, Reason::OutOfRange { .. }), "{offset}: {reason}");
    }
}

#[test]
fn a_length_that_contradicts_the_dimensions_is_refused() {
    for length in ["15", "17", "0"] {
        let reason = refusal(tensor(&[("location", "w.bin"), ("length", length)], &[4]));
        assert!(matches!(reason, Reason::WrongLength { expected: 16, .. }), "{length}: {reason}");
    }
}

#[test]
fn numbers_that_are_none_are_refused() {
    for value in ["-1", "+1", "", "1e3", "0x10", "18446744073709551616", " 1"] {
        let reason = refusal(tensor(&[("location", "w.bin"), ("offset", value)], &[4]));
        assert!(matches!(reason, Reason::BadNumber { key: "offset", .. }), "{value:?}: {reason}");
    }
}

#[test]
fn missing_and_repeated_entries_are_refused() {
    assert!(matches!(refusal(tensor(&[("offset", "0")], &[4])), Reason::NoLocation));
    let repeated = tensor(&[("location", "w.bin"), ("location", "sub/w.bin")], &[4]);
    assert!(matches!(refusal(repeated), Reason::Repeated { key: "location" }));
}

#[test]
fn dimensions_that_are_negative_or_overflow_are_refused() {
    for dims in [&[-1][..], &[i64::MAX, 3], &[1 << 62, 1]] {
        let reason = refusal(tensor(&[("location", "w.bin")], dims));
        assert!(matches!(reason, Reason::BadDims { .. }), "{dims:?}: {reason}");
    }
}

#[test]
fn types_without_a_width_are_refused() {
    for data_type in [0, 8, 999] {
        let tensor = Tensor { data_type, ..tensor(&[("location", "w.bin")], &[4]) };
        assert!(matches!(refusal(tensor), Reason::NoWidth { .. }), "{data_type}");
    }
}
