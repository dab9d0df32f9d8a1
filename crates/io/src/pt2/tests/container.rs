//! The zip file and its layout.

use std::io;

use rawzip::ReaderAt;
use serde_json::json;

use super::super::archive::{Archive, MAX_JSON_BYTES};
use super::super::error::{Error, Problem};
use super::super::{read, read_program};
use super::sample::{Sample, read_bytes};
use super::zip::{ZipEntry, stored, zip};
use crate::ErrorKind;

/// The problem of the sample's archive after its entries were changed.
fn problem_of(change: impl FnOnce(&mut Vec<ZipEntry>)) -> Problem {
    let mut entries = Sample::default().entries();
    change(&mut entries);
    read_bytes(&zip(&entries)).expect_err("the archive is bad")
}

fn entry<'a>(entries: &'a mut [ZipEntry], name: &str) -> &'a mut ZipEntry {
    entries.iter_mut().find(|entry| entry.name == name.as_bytes()).unwrap()
}

#[test]
fn the_sample_is_good() {
    let program = Sample::default().read().unwrap();
    assert_eq!(program.graph.nodes.len(), 2);
}

#[test]
fn other_files_are_not_zip() {
    for bytes in [&b""[..], b"PK", b"\x08\x00onnx", &[0; 100_000]] {
        assert!(matches!(read_bytes(bytes), Err(Problem::NotZip)), "{} bytes", bytes.len());
    }
}

#[test]
fn every_cut_of_the_file_is_noticed() {
    let bytes = zip(&Sample::default().entries());
    for length in 0..bytes.len() {
        let problem = read_bytes(&bytes[..length]).expect_err("a cut file");
        match length {
            0..4 => assert!(matches!(problem, Problem::NotZip), "{length}: {problem}"),
            _ => assert!(matches!(problem, Problem::Truncated { .. }), "{length}: {problem}"),
        }
    }
}

#[test]
fn two_entries_of_one_name() {
    let problem = problem_of(|entries| entries.push(entries[0].clone()));
    assert!(
        matches!(&problem, Problem::DuplicateEntry { entry } if entry == "m/data/weights/weight_0"),
        "{problem}"
    );
}

#[test]
fn more_entries_than_the_limit() {
    let bytes = zip(&Sample::default().entries());
    let open = |limit| Archive::open_limited(&bytes[..], bytes.len() as u64, limit).err();
    assert!(matches!(open(7), Some(Problem::TooManyEntries { limit: 7 })));
    assert!(open(8).is_none());
}

#[test]
fn entries_on_the_same_bytes() {
    let problem = problem_of(|entries| {
        let honest = entries[0].clone();
        entries[0] = ZipEntry { size: Some(40), ..honest };
    });
    assert!(
        matches!(&problem, Problem::OverlappingEntries { first, second }
            if first == "m/data/weights/weight_0" && second == "m/data/weights/weight_1"),
        "{problem}"
    );
}

#[test]
fn a_size_that_lies() {
    let problem = problem_of(|entries| entries[0].local_size = Some(8));
    assert!(matches!(&problem, Problem::HeaderMismatch { what: "its size", .. }), "{problem}");
    let problem = problem_of(|entries| entries[0].uncompressed_size = Some(8));
    assert!(matches!(&problem, Problem::HeaderMismatch { what: "its size", .. }), "{problem}");
    let problem = problem_of(|entries| entries[0].local_method = Some(8));
    assert!(matches!(&problem, Problem::HeaderMismatch { what: "its compression", .. }), "{problem}");
    let problem = problem_of(|entries| entries[0].local_name = Some(b"m/data/weights/weight_9".to_vec()));
    assert!(matches!(&problem, Problem::HeaderMismatch { what: "its name", .. }), "{problem}");
}

#[test]
fn sizes_behind_the_content_are_not_compared() {
    const SIZES_BEHIND: u16 = 8;
    let mut entries = Sample::default().entries();
    for entry in &mut entries {
        (entry.flags, entry.local_size) = (SIZES_BEHIND, Some(0));
    }
    read_bytes(&zip(&entries)).unwrap();
}

#[test]
fn an_entry_past_the_end() {
    let problem = problem_of(|entries| entries[0].size = Some(1 << 30));
    assert!(matches!(problem, Problem::EntryOutside { .. }), "{problem}");
    let problem = problem_of(|entries| entries[0].header_offset = Some(1 << 30));
    assert!(matches!(problem, Problem::EntryOutside { .. }), "{problem}");
}

#[test]
fn compressed_and_encrypted_entries() {
    const DEFLATE: u16 = 8;
    const ENCRYPTED: u16 = 1;
    for name in ["m/data/weights/weight_0", "m/models/model.json"] {
        let problem = problem_of(|entries| entry(entries, name).method = DEFLATE);
        assert!(matches!(&problem, Problem::NotStored { entry } if entry == name), "{problem}");
        let problem = problem_of(|entries| entry(entries, name).flags = ENCRYPTED);
        assert!(matches!(&problem, Problem::NotStored { entry } if entry == name), "{problem}");
    }
    let mut entries = Sample::default().entries();
    entry(&mut entries, "m/data/sample_inputs/model.pt").method = DEFLATE;
    read_bytes(&zip(&entries)).expect("what is not read may be compressed");
}

#[test]
fn a_changed_byte_of_the_json() {
    let problem = problem_of(|entries| entry(entries, "m/models/model.json").checksum = Some(7));
    assert!(matches!(&problem, Problem::Checksum { entry } if entry == "m/models/model.json"), "{problem}");
}

#[test]
fn a_name_that_is_not_utf8() {
    let problem = problem_of(|entries| entries[0].name = b"m/data/\xff\x1b[2J".to_vec());
    assert!(matches!(problem, Problem::EntryNameNotUtf8 { .. }), "{problem}");
    assert!(!problem.to_string().contains('\x1b'), "{problem:?}");
}

#[test]
fn json_larger_than_the_limit_is_not_loaded() {
    // A file of zeros that is never there: only the entry's header is real.
    struct Huge(Vec<u8>, u64);
    impl ReaderAt for Huge {
        fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
            let tail = self.1 - self.0.len() as u64 / 2;
            for (index, byte) in buffer.iter_mut().enumerate() {
                let at = offset + index as u64;
                let half = self.0.len() as u64 / 2;
                *byte = match at {
                    _ if at < half => self.0[at as usize],
                    _ if at >= tail => self.0[(at - tail + half) as usize],
                    _ => 0,
                };
            }
            Ok(buffer.len())
        }
    }
    let name = b"m/models/model.json";
    let size = MAX_JSON_BYTES + 1;
    let mut header = b"PK\x03\x04\x2d\x00\x08\x00".to_vec();
    header.resize(26, 0);
    header.extend((name.len() as u16).to_le_bytes());
    header.extend([0; 2]);
    header.extend(name);
    let directory_start = header.len() as u64 + size;
    let mut directory =
        b"PK\x01\x02\x2d\x00\x2d\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00".to_vec();
    directory.extend([0xff; 8]);
    directory.extend((name.len() as u16).to_le_bytes());
    directory.extend(20u16.to_le_bytes());
    directory.extend([0; 14]);
    directory.extend(name);
    directory.extend([1, 0, 16, 0]);
    directory.extend(size.to_le_bytes());
    directory.extend(size.to_le_bytes());
    let mut end = b"PK\x06\x06".to_vec();
    end.extend(44u64.to_le_bytes());
    end.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    end.extend(1u64.to_le_bytes());
    end.extend(1u64.to_le_bytes());
    end.extend((directory.len() as u64).to_le_bytes());
    end.extend(directory_start.to_le_bytes());
    end.extend(b"PK\x06\x07\0\0\0\0");
    end.extend((directory_start + directory.len() as u64).to_le_bytes());
    end.extend(1u32.to_le_bytes());
    end.extend(b"PK\x05\x06\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0");
    let tail: Vec<u8> = [directory, end].concat();
    let length = directory_start + tail.len() as u64;
    // Both halves get the same length, so that the reader can tell them apart by it.
    header.resize(tail.len(), 0);
    let archive = Archive::open(Huge([header, tail].concat(), length), length).unwrap();
    let problem = archive.read_json("m/models/model.json").unwrap_err();
    assert!(
        matches!(problem, Problem::EntryTooLarge { length, limit, .. } if length == size && limit == MAX_JSON_BYTES),
        "{problem}"
    );
}

#[test]
fn archives_without_a_model_are_named() {
    for (name, expected) in [
        ("m/data.pkl", "a checkpoint of torch.save"),
        ("m/constants.pkl", "a TorchScript archive"),
        ("m/data/aotinductor/model/x.so", "a package compiled by AOTInductor"),
        ("word/document.xml", "some other zip archive"),
    ] {
        let problem = read_bytes(&zip(&[stored(name, "")])).unwrap_err();
        assert!(matches!(problem, Problem::NoModel { found } if found.contains(expected)), "{name}");
    }
}

#[test]
fn several_models() {
    let problem = problem_of(|entries| entries.push(stored("m/models/other.json", "{}")));
    assert!(
        matches!(&problem, Problem::SeveralModels { names } if names == &["model", "other"]),
        "{problem}"
    );
}

#[test]
fn layouts_of_old_torch() {
    let problem = read_bytes(&zip(&[stored("serialized_exported_program.json", "{}")])).unwrap_err();
    assert!(matches!(problem, Problem::OldLayout { .. }), "{problem}");
    for name in ["m/data/weights/model.pt", "m/data/constants/model.pt"] {
        let problem = problem_of(|entries| entries.push(stored(name, "")));
        assert!(matches!(&problem, Problem::OldLayout { found } if found.contains(name)), "{problem}");
    }
}

#[test]
fn a_missing_configuration() {
    let problem = problem_of(|entries| {
        entries.retain(|entry| !entry.name.ends_with(b"constants_config.json"));
    });
    assert!(
        matches!(&problem, Problem::MissingEntry { entry } if entry == "m/data/constants/model_constants_config.json"),
        "{problem}"
    );
}

#[test]
fn marks_of_another_machine_or_time() {
    let problem = Sample::problem(|sample| sample.byte_order = "big");
    assert!(matches!(&problem, Problem::ByteOrder { found } if found == "big"), "{problem}");
    let problem = Sample::problem(|sample| sample.archive_version = "1");
    assert!(matches!(&problem, Problem::ArchiveVersion { found } if found == "1"), "{problem}");
}

#[test]
fn other_schema_versions() {
    for (major, minor) in [(8, 13), (8, 21), (7, 20), (9, 0), (8, -1)] {
        let problem = Sample::problem(|sample| {
            sample.program["schema_version"] = json!({"major": major, "minor": minor});
        });
        assert!(
            matches!(&problem, Problem::SchemaVersion { major: a, minor: b, torch }
                if (*a, *b) == (major, minor) && torch == "2.15.0"),
            "{problem}"
        );
    }
}

#[test]
fn another_schema_version_that_is_also_laid_out_differently() {
    let problem = Sample::problem(|sample| {
        sample.program = json!({"schema_version": {"major": 5, "minor": 3}, "graph": []});
    });
    assert!(matches!(problem, Problem::SchemaVersion { major: 5, minor: 3, .. }), "{problem}");
}

#[test]
fn errors_of_the_system_are_of_their_kind() {
    struct Failing;
    impl ReaderAt for Failing {
        fn read_at(&self, _: &mut [u8], _: u64) -> io::Result<usize> {
            Err(io::Error::from(io::ErrorKind::PermissionDenied))
        }
    }
    let problem = read_program(Failing, 1000, modelexport_graph::SourceId(0)).unwrap_err();
    assert!(matches!(problem, Problem::Read(_)), "{problem}");
    let error = Error { path: "x.pt2".into(), problem: Box::new(problem) };
    assert_eq!(error.kind(), ErrorKind::Io);

    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("none.pt2");
    let error = read(&missing).unwrap_err();
    assert!(matches!(*error.problem, Problem::Open(_)), "{error}");
    assert_eq!(error.kind(), ErrorKind::Io);
    assert_eq!(error.to_string().matches("none.pt2").count(), 1, "{error}");
    let error = read(folder.path()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadInput);

    let text = folder.path().join("text.pt2");
    std::fs::write(&text, "hello").unwrap();
    let error = read(&text).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadInput);
    assert!(error.to_string().contains("text.pt2: is not a zip archive"), "{error}");
}
