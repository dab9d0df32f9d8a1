//! Models that reference the files of their weights.

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

#[test]
fn referenced_weights_stay_where_they_are() {
    let bench = Bench::new();
    let (model, expected) = all_kinds(bench.file);
    let written = bench.write(model, WeightsMode::Reference).unwrap();
    let counts =
        Counts { embedded: 5, external: 2, shared: 1, referenced: 3, copied_instead: 3, ..Counts::default() };
    assert_eq!(written.counts, counts);
    assert_eq!(bench.read_back(), expected);
    let model = onnx::read(&bench.target()).unwrap().model;
    let TensorData::External(entries) = &model.graph.initializers[0].data else { panic!() };
    let entry = external_data::Entry::parse(entries).unwrap();
    assert_eq!((entry.location.as_str(), entry.offset, entry.length), ("sub/weights.bin", 128, Some(4000)));
}

#[test]
fn a_referenced_model_of_contiguous_weights_has_no_data_file() {
    let bench = Bench::new();
    let model = model_of(vec![stored("w", bench.file, 0, &[1000], &[1])]);
    let written = bench.write(model, WeightsMode::Reference).unwrap();
    assert_eq!((written.data, written.counts.referenced), (None, 1));
}

#[test]
fn a_model_cannot_refer_to_the_file_that_it_replaces() {
    let bench = Bench::new();
    let target = bench.folder.path().join("sub/weights.bin");
    let model = all_kinds(bench.file).0;
    let error = write_model(model, &bench.sources, &target, WeightsMode::Reference, SETTINGS, &mut |_| {});
    assert!(matches!(error, Err(Error::OwnTarget { .. })), "{error:?}");
    assert_eq!(fs::read(target).unwrap(), weight_bytes());
}

#[test]
fn a_model_can_refer_only_to_files_in_its_folder() {
    let bench = Bench::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let target = elsewhere.path().join("m.onnx");
    let model = all_kinds(bench.file).0;
    let error = write_model(model, &bench.sources, &target, WeightsMode::Reference, SETTINGS, &mut |_| {});
    assert!(matches!(error, Err(Error::OutsideFolder { .. })), "{error:?}");
    symlink(bench.folder.path().join("sub/weights.bin"), elsewhere.path().join("link")).unwrap();
    let mut sources = Sources::new();
    let link = sources.add_file(&elsewhere.path().join("link")).unwrap();
    let error =
        write_model(all_kinds(link).0, &sources, &target, WeightsMode::Reference, SETTINGS, &mut |_| {});
    assert!(matches!(error, Err(Error::OutsideFolder { .. })), "{error:?}");
    assert!(!target.exists());
}

#[test]
fn a_model_cannot_refer_to_memory() {
    let bench = Bench::new();
    let error = bench.write(all_kinds(bench.memory).0, WeightsMode::Reference).unwrap_err();
    assert!(matches!(error, Error::NotAFile { .. }), "{error}");
}

/// What comes before the files that a model may point at is copied, be it memory or a file in another folder.
#[test]
fn what_may_not_be_referred_to_is_copied() {
    let mut bench = Bench::new();
    bench.sources.refer_to_later_ones();
    for source in [bench.file, bench.memory] {
        let model = model_of(vec![stored("w", source, 0, &[1000], &[1])]);
        let written = bench.write(model, WeightsMode::Reference).unwrap();
        assert_eq!((written.counts.referenced, written.counts.external), (0, 1));
        assert!(written.data.is_some());
    }
}

#[test]
fn a_source_that_was_replaced_cannot_be_referred_to() {
    let bench = Bench::new();
    let path = bench.folder.path().join("sub/weights.bin");
    fs::remove_file(&path).unwrap();
    fs::write(&path, weight_bytes()).unwrap();
    let error = bench.write(all_kinds(bench.file).0, WeightsMode::Reference).unwrap_err();
    assert!(matches!(error, Error::Replaced { .. }), "{error}");
}

#[test]
fn a_source_with_several_names_cannot_be_referred_to() {
    let bench = Bench::new();
    fs::hard_link(bench.folder.path().join("sub/weights.bin"), bench.folder.path().join("twin")).unwrap();
    let error = bench.write(all_kinds(bench.file).0, WeightsMode::Reference).unwrap_err();
    let reason = external_data::Reason::HardLink { names: 2 };
    assert!(
        matches!(&error, Error::Refused { reason: r, .. } if r.to_string() == reason.to_string()),
        "{error}"
    );
}
