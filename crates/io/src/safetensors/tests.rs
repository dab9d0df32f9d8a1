use std::fs::{self, File};
use std::path::PathBuf;

use super::*;
use crate::ErrorKind;

fn bytes_of(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(data);
    bytes
}

fn write(folder: &tempfile::TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn refusal_of_bytes(bytes: &[u8]) -> Reason {
    let folder = tempfile::tempdir().unwrap();
    let path = write(&folder, "m.safetensors", bytes);
    let error = read(&path, &mut Sources::new()).unwrap_err();
    assert_eq!(error.path, path);
    error.reason
}

fn refusal(header: &str, data: &[u8]) -> Reason {
    refusal_of_bytes(&bytes_of(header, data))
}

const TWO: &str = r#"{"__metadata__":{"format":"pt"},
    "b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},
    "a":{"dtype":"BF16","shape":[2,3],"data_offsets":[8,20]},
    "empty":{"dtype":"I64","shape":[0,7],"data_offsets":[8,8]},
    "scalar":{"dtype":"U8","shape":[],"data_offsets":[20,21]}}   "#;

#[test]
fn tensors_are_found_where_the_header_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(&folder, "m.safetensors", &bytes_of(TWO, &[0; 21]));
    let mut sources = Sources::new();
    let tensors = read(&path, &mut sources).unwrap();
    let source = sources.find(&path).unwrap();
    let start = 8 + TWO.len() as u64;
    assert_eq!(tensors.keys().collect::<Vec<_>>(), ["a", "b", "empty", "scalar"]);
    let span = Span { source, offset: start + 8, length: 12 };
    assert_eq!(tensors["a"], Entry { dtype: DType::BF16, shape: vec![2, 3], span });
    assert_eq!(tensors["empty"].span.length, 0);
    assert_eq!(tensors["scalar"].shape, Vec::<u64>::new());
}

#[test]
fn every_prefix_of_a_file_is_refused() {
    let bytes = bytes_of(TWO, &[0; 21]);
    for end in 0..bytes.len() {
        let reason = refusal_of_bytes(&bytes[..end]);
        assert!(
            matches!(reason, Reason::Truncated { .. } | Reason::OutOfRange { .. } | Reason::Gap { .. }),
            "{end}: {reason}"
        );
    }
}

#[test]
fn a_header_over_the_limit_is_refused_before_it_is_read() {
    for length in [HEADER_LIMIT + 1, u64::MAX] {
        let reason = refusal_of_bytes(&length.to_le_bytes());
        assert!(matches!(reason, Reason::HeaderTooLarge { .. }), "{reason}");
    }
    assert!(matches!(refusal_of_bytes(&HEADER_LIMIT.to_le_bytes()), Reason::Truncated { .. }));
}

#[test]
fn bad_json_is_refused() {
    let nested = format!("{{\"a\":{}", "[".repeat(100_000));
    let unknown_shape = r#"{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}"#;
    for header in ["", "[]", "{", "{\"a\":1}", "{\"a\":{}}", &nested, unknown_shape, "\u{fffd}"] {
        let reason = refusal(header, &[0; 4]);
        assert!(matches!(reason, Reason::Json(_)), "{reason}");
    }
    let reason = refusal_of_bytes(&[2, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xfe]);
    assert!(matches!(reason, Reason::Json(_)), "{reason}");
}

#[test]
fn a_name_that_occurs_twice_is_refused() {
    let header = r#"{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},
        "a":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}"#;
    assert!(matches!(refusal(header, &[0; 4]), Reason::Duplicate { name } if name == "a"));
}

#[test]
fn an_unknown_type_is_refused() {
    let header = r#"{"a":{"dtype":"F6_E2M3","shape":[4],"data_offsets":[0,3]}}"#;
    assert!(matches!(refusal(header, &[0; 3]), Reason::UnknownDType { dtype, .. } if dtype == "F6_E2M3"));
}

#[test]
fn offsets_outside_the_data_or_in_reverse_are_refused() {
    for offsets in ["[0,9]", "[4,0]", "[18446744073709551615,18446744073709551615]"] {
        let header = format!(r#"{{"a":{{"dtype":"U8","shape":[8],"data_offsets":{offsets}}}}}"#);
        assert!(matches!(refusal(&header, &[0; 8]), Reason::OutOfRange { .. }), "{offsets}");
    }
}

#[test]
fn lengths_that_contradict_the_shape_are_refused() {
    let header = r#"{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}"#;
    assert!(matches!(refusal(header, &[0; 8]), Reason::WrongLength { length: 8, expected: 12, .. }));
}

#[test]
fn shapes_that_overflow_are_refused() {
    let header = r#"{"a":{"dtype":"F32","shape":[9223372036854775807,9],"data_offsets":[0,4]}}"#;
    assert!(matches!(refusal(header, &[0; 4]), Reason::BadShape { .. }));
}

#[test]
fn tensors_that_share_bytes_are_refused() {
    let header = r#"{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},
        "b":{"dtype":"U8","shape":[4],"data_offsets":[3,7]}}"#;
    assert!(
        matches!(refusal(header, &[0; 7]), Reason::Overlap { first, second } if first == "a" && second == "b")
    );
}

#[test]
fn bytes_of_no_tensor_are_refused() {
    let header = r#"{"a":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}"#;
    assert!(matches!(refusal(header, &[0; 3]), Reason::Gap { start: 0, length: 1 }));
    let header = r#"{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}"#;
    assert!(matches!(refusal(header, &[0; 3]), Reason::Gap { start: 2, length: 1 }));
}

#[test]
fn missing_files_are_io() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().join("none.safetensors"), folder.path().join("i.json")] {
        let error = read(&path, &mut Sources::new()).unwrap_err();
        assert!(matches!(error.reason, Reason::Source(_)), "{error}");
        assert_eq!(error.kind(), ErrorKind::Io);
    }
}

fn shard(name: &str) -> Vec<u8> {
    bytes_of(&format!(r#"{{"{name}":{{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}}}"#), &[1, 2])
}

fn sharded(index: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "s1.safetensors", &shard("a"));
    write(&folder, "s2.safetensors", &shard("b"));
    let path = write(&folder, INDEX_NAME, index.as_bytes());
    (folder, path)
}

#[test]
fn an_index_gathers_its_shards() {
    let (folder, path) =
        sharded(r#"{"metadata":{"total_size":4},"weight_map":{"b":"s2.safetensors","a":"s1.safetensors"}}"#);
    let mut sources = Sources::new();
    let tensors = read(&path, &mut sources).unwrap();
    assert_eq!(tensors.len(), 2);
    assert_ne!(tensors["a"].span.source, tensors["b"].span.source);
    assert_eq!(read(folder.path(), &mut sources).unwrap(), tensors);
}

#[test]
fn a_folder_without_files_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = read(folder.path(), &mut Sources::new()).unwrap_err();
    assert!(matches!(error.reason, Reason::NoFiles), "{error}");
    assert_eq!((error.kind(), error.path.as_path()), (ErrorKind::BadInput, folder.path()));
}

#[test]
fn files_of_other_names_are_all_read() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "one.safetensors", &shard("a"));
    write(&folder, "two.safetensors", &shard("b"));
    let tensors = read(folder.path(), &mut Sources::new()).unwrap();
    assert_eq!(tensors.keys().collect::<Vec<_>>(), ["a", "b"]);
    write(&folder, "three.safetensors", &shard("a"));
    let error = read(folder.path(), &mut Sources::new()).unwrap_err();
    assert!(matches!(&error.reason, Reason::Duplicate { name } if name == "a"), "{error}");
}

#[test]
fn a_folder_without_an_index_has_one_file() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, FILE_NAME, &shard("a"));
    assert_eq!(read(folder.path(), &mut Sources::new()).unwrap().len(), 1);
}

#[test]
fn bad_indexes_are_refused() {
    let refusal = |index: &str| {
        let (_folder, path) = sharded(index);
        read(&path, &mut Sources::new()).unwrap_err().reason
    };
    assert!(matches!(refusal("{}"), Reason::NoWeightMap));
    assert!(matches!(refusal(r#"{"weight_map":{"a":1}}"#), Reason::Json(_)));
    for file in ["../s1.safetensors", "/s1", "", "..", "a/s1"] {
        let index = format!(r#"{{"weight_map":{{"a":"{file}"}}}}"#);
        assert!(matches!(refusal(&index), Reason::BadShardName { .. }), "{file}");
    }
    let missing = r#"{"weight_map":{"c":"s1.safetensors"}}"#;
    assert!(matches!(refusal(missing), Reason::NotInShard { name, .. } if name == "c"));
    for second in ["s1.safetensors", "s2.safetensors"] {
        let twice = format!(r#"{{"weight_map":{{"a":"s1.safetensors","a":"{second}"}}}}"#);
        assert!(matches!(refusal(&twice), Reason::Duplicate { name } if name == "a"), "{second}");
    }
}

#[test]
fn an_index_over_the_limit_is_refused_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(INDEX_NAME);
    File::create(&path).unwrap().set_len(INDEX_LIMIT + 1).unwrap();
    let error = read(&path, &mut Sources::new()).unwrap_err();
    assert!(matches!(error.reason, Reason::IndexTooLarge { .. }), "{error}");
}
