use std::fs::{self, File};
use std::sync::Arc;

use modelexport_graph::{SourceId, Span, StridedView};
use proptest::prelude::*;

use super::*;
use crate::ErrorKind;
use crate::output::{Durability, Role, Settings, Transaction};

const SETTINGS: Settings = Settings { overwrite: true, durability: Durability::ProcessCrash };

/// What the streamer writes, with the progress that it reported.
fn streamed(sources: &Sources, views: &[(StridedView, u64)]) -> Result<(Vec<u8>, u64), Error> {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("out");
    let mut transaction = Transaction::begin(&target, SETTINGS).unwrap();
    let mut output = transaction.create(&target, Role::Model).unwrap();
    let mut reported = 0;
    let mut progress = |bytes| reported += bytes;
    let mut streamer = Streamer::new(sources, &mut progress);
    for (view, bits) in views {
        streamer.append(&mut output, view, *bits)?;
    }
    streamer.finish().map_err(|failure| failure.error)?;
    transaction.stage(output).unwrap();
    transaction.commit().unwrap();
    Ok((fs::read(target).unwrap(), reported))
}

/// The same elements picked one by one.
fn naive(bytes: &[u8], view: &StridedView, width: u64) -> Vec<u8> {
    let mut result = Vec::new();
    let count: u64 = view.sizes.iter().product();
    for index in 0..count {
        let (mut rest, mut element) = (index, view.offset);
        for (&size, &stride) in view.sizes.iter().zip(&view.strides).rev() {
            element += rest % size * stride;
            rest /= size;
        }
        let start = (view.span.offset + element * width) as usize;
        result.extend_from_slice(&bytes[start..start + width as usize]);
    }
    result
}

fn pattern(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9u32;
    (0..length)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect()
}

fn view(source: SourceId, length: u64, offset: u64, sizes: &[u64], strides: &[u64]) -> StridedView {
    let span = Span { source, offset: 0, length };
    StridedView { span, offset, sizes: sizes.into(), strides: strides.into() }
}

/// The same bytes as a file and as memory.
fn two_sources(bytes: &[u8]) -> (tempfile::TempDir, Sources, [SourceId; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weights");
    fs::write(&path, bytes).unwrap();
    let mut sources = Sources::new();
    let ids = [sources.add_file(&path).unwrap(), sources.add_memory("memory", Arc::new(bytes.to_vec()))];
    (folder, sources, ids)
}

fn assert_gathers(bytes: &[u8], offset: u64, sizes: &[u64], strides: &[u64], width: u64) {
    let (_folder, sources, ids) = two_sources(bytes);
    let expected = naive(bytes, &view(ids[0], bytes.len() as u64, offset, sizes, strides), width);
    for id in ids {
        let view = view(id, bytes.len() as u64, offset, sizes, strides);
        let (result, reported) = streamed(&sources, &[(view, width * 8)]).unwrap();
        assert!(result == expected, "sizes {sizes:?} strides {strides:?} width {width} source {id:?}");
        assert_eq!(reported, expected.len() as u64);
    }
}

fn any_view() -> impl Strategy<Value = (Vec<u64>, Vec<u64>, u64, u64)> {
    let axis = (1u64..20, prop_oneof![3 => 0u64..6, 2 => 0u64..300, 1 => 0u64..5000]);
    let width = prop_oneof![Just(1u64), Just(2), Just(4), Just(8), Just(16)];
    (prop::collection::vec(axis, 0..5), 0u64..50, width).prop_map(|(axes, offset, width)| {
        let (sizes, strides) = axes.into_iter().unzip();
        (sizes, strides, offset, width)
    })
}

/// A tensor with its axes in another order, perhaps sliced: what models really contain.
fn any_permutation() -> impl Strategy<Value = (Vec<u64>, Vec<u64>, u64, u64)> {
    let axes = prop::collection::vec((1u64..40, 0u64..3), 1..5)
        .prop_filter("size", |axes| axes.iter().map(|(size, cut)| size + cut).product::<u64>() < 30_000);
    let axes = axes.prop_flat_map(|axes| {
        let strides = axes
            .iter()
            .rev()
            .scan(1, |stride, (size, cut)| Some(std::mem::replace(stride, *stride * (size + cut))));
        let mut strides: Vec<u64> = strides.collect();
        strides.reverse();
        let sizes = axes.iter().map(|(size, _)| *size);
        Just(sizes.zip(strides).collect::<Vec<_>>()).prop_shuffle()
    });
    let width = prop_oneof![Just(1u64), Just(2), Just(4), Just(8), Just(16)];
    (axes, width).prop_map(|(axes, width)| {
        let (sizes, strides) = axes.into_iter().unzip();
        (sizes, strides, 0, width)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, ..ProptestConfig::default() })]

    #[test]
    fn gathers_any_strides((sizes, strides, offset, width) in any_view()) {
        let last: u64 = sizes.iter().zip(&strides).map(|(size, stride)| (size - 1) * stride).sum();
        prop_assume!(sizes.iter().product::<u64>() <= 10_000);
        assert_gathers(&pattern(((offset + last + 1) * width) as usize), offset, &sizes, &strides, width);
    }

    #[test]
    fn gathers_permuted_tensors((sizes, strides, offset, width) in any_permutation()) {
        let last: u64 = sizes.iter().zip(&strides).map(|(size, stride)| (size - 1) * stride).sum();
        assert_gathers(&pattern(((last + 1) * width) as usize), offset, &sizes, &strides, width);
    }

    #[test]
    fn blocks_of_any_limit_give_the_same_bytes(
        (sizes, strides, offset, width) in any_permutation(),
        limits in (200u64..20_000, 200u64..20_000),
    ) {
        let last: u64 = sizes.iter().zip(&strides).map(|(size, stride)| (size - 1) * stride).sum();
        let bytes = pattern(((offset + last + 1) * width) as usize);
        let (_folder, sources, ids) = two_sources(&bytes);
        for id in ids {
            let view = view(id, bytes.len() as u64, offset, &sizes, &strides);
            let layout = layout::Layout::new(&view, width * 8).unwrap();
            let result = gather::in_memory(sources.get(id).unwrap(), &layout, limits);
            prop_assert!(result == naive(&bytes, &view, width));
        }
    }
}

#[test]
fn a_matrix_of_many_blocks_is_transposed() {
    let (rows, columns, width) = (903u64, 651, 16);
    let bytes = pattern((rows * columns * width) as usize);
    assert_gathers(&bytes, 0, &[columns, rows], &[1, columns], width);
}

#[test]
fn blocks_of_a_matrix_have_equal_sizes_in_whole_tiles() {
    let matrix = view(SourceId(0), 1 << 26, 0, &[2048, 8192], &[1, 2048]);
    let layout = layout::Layout::new(&matrix, 32).unwrap();
    // A third of 2048 is 683, and 16 elements are a tile.
    assert_eq!(layout.block(22 << 20), [688, 8192]);
    // No tile more than there is room for.
    assert_eq!(layout.block(683 * 8192 * 4), [683, 8192]);
}

#[test]
fn a_weight_that_is_expanded_from_one_element_is_repeated() {
    assert_gathers(&pattern(8), 1, &[300, 1000], &[0, 0], 4);
}

#[test]
fn contiguous_weights_of_all_sizes_are_copied_one_after_the_other() {
    let bytes = pattern(600_000);
    let (_folder, sources, ids) = two_sources(&bytes);
    for id in ids {
        let views = [(0, 70_000u64), (3, 1), (100, 300_000), (5, 0), (599_999, 1)];
        let mut expected = Vec::new();
        for (offset, length) in views {
            expected.extend_from_slice(&bytes[offset as usize..][..length as usize]);
        }
        let views = views.map(|(offset, length)| (view(id, 600_000, offset, &[length], &[1]), 8));
        let (result, reported) = streamed(&sources, &views).unwrap();
        assert!(result == expected);
        assert_eq!(reported, expected.len() as u64);
    }
}

#[test]
fn narrow_elements_are_copied_packed_and_not_gathered() {
    let (_folder, sources, [id, _]) = two_sources(&[1, 2, 3, 4]);
    let (result, _) = streamed(&sources, &[(view(id, 4, 2, &[5], &[1]), 4)]).unwrap();
    assert_eq!(result, [2, 3, 4]);
    for (offset, sizes, strides) in [(0, [2, 2], [1, 2]), (1, [1, 2], [2, 1])] {
        let error = streamed(&sources, &[(view(id, 4, offset, &sizes, &strides), 4)]).unwrap_err();
        assert!(matches!(error, Error::Packed { bits: 4 }), "{error}");
    }
}

#[test]
fn a_view_beyond_its_storage_or_file_is_refused() {
    let (_folder, sources, [id, _]) = two_sources(&[0; 100]);
    let cases = [
        view(id, 100, 0, &[101], &[1]),
        view(id, 50, 0, &[51], &[1]),
        view(id, 100, 90, &[2, 10], &[1, 2]),
        view(id, 1000, 0, &[200], &[2]),
        view(id, u64::MAX, 0, &[2, 2], &[u64::MAX, u64::MAX]),
    ];
    for view in cases {
        let error = streamed(&sources, &[(view.clone(), 8)]).unwrap_err();
        assert!(matches!(error, Error::OutOfRange { .. }), "{view:?}: {error}");
        assert_eq!(error.kind(), ErrorKind::BadInput);
    }
}

#[test]
fn sizes_that_overflow_are_refused_and_empty_ones_are_not() {
    let (_folder, sources, [id, _]) = two_sources(&[0; 4]);
    for (offset, sizes, strides) in [
        (0, [u64::MAX, 2], [2, 1]),
        (0, [1 << 62, 1], [1, 1]),
        (u64::MAX, [1, 1], [1, 1]),
        (u64::MAX, [2, 2], [1, 2]),
    ] {
        let error = streamed(&sources, &[(view(id, 4, offset, &sizes, &strides), 32)]).unwrap_err();
        assert!(matches!(error, Error::TooLarge), "{error}");
    }
    let (result, _) = streamed(&sources, &[(view(id, 4, 9, &[u64::MAX, 2, 0], &[0, 0, 1]), 32)]).unwrap();
    assert!(result.is_empty());
}

#[test]
fn ranks_that_differ_are_refused() {
    let (_folder, sources, [id, _]) = two_sources(&[0; 4]);
    let error = streamed(&sources, &[(view(id, 4, 0, &[2, 2], &[1]), 8)]).unwrap_err();
    assert!(matches!(error, Error::Ranks { sizes: 2, strides: 1 }), "{error}");
}

#[test]
fn an_unknown_source_is_refused() {
    let error = streamed(&Sources::new(), &[(view(SourceId(3), 4, 0, &[2], &[1]), 8)]).unwrap_err();
    assert!(matches!(error, Error::NoSource { id: 3 }), "{error}");
}

#[test]
fn a_file_that_shrinks_meanwhile_is_an_error_that_names_it() {
    for (sizes, strides) in [([100_000, 2], [2, 1]), ([1000, 2], [2, 1]), ([2, 100_000], [1, 2])] {
        let (folder, sources, [id, _]) = two_sources(&vec![0; 200_000]);
        let path = folder.path().join("weights");
        File::options().write(true).open(&path).unwrap().set_len(1500).unwrap();
        let error = streamed(&sources, &[(view(id, 200_000, 0, &sizes, &strides), 8)]).unwrap_err();
        assert!(
            matches!(&error, Error::Shrunk { place, .. } if *place == path.display().to_string()),
            "{error}"
        );
        assert_eq!(error.kind(), ErrorKind::Io);
    }
}

#[test]
fn files_of_another_file_system_are_copied_too() {
    let bytes = pattern(300_000);
    let Ok(folder) = tempfile::tempdir_in("/dev/shm") else { return };
    let path = folder.path().join("weights");
    fs::write(&path, &bytes).unwrap();
    let mut sources = Sources::new();
    let id = sources.add_file(&path).unwrap();
    let (result, _) = streamed(&sources, &[(view(id, 300_000, 7, &[299_993], &[1]), 8)]).unwrap();
    assert!(result == bytes[7..]);
}
