use modelexport_inference::walk;

use super::*;
use crate::test_export::{self, fixture, fixtures};

fn analysis(name: &str, options: &Options) -> Analysis {
    let folder = tempfile::tempdir().unwrap();
    analyze(&fixture(folder.path(), name), options).unwrap()
}

fn modules(analysis: &Analysis) -> &[ModuleRow] {
    match &analysis.rows {
        Rows::Modules(rows) => rows,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_node_and_weight_counts_for_one_module() {
    for name in fixtures() {
        let folder = tempfile::tempdir().unwrap();
        let path = fixture(folder.path(), &name);
        let file = TaggedFile::open(&path).unwrap();
        let analysis = analyze_file(&file, &Options::default()).unwrap();
        let root = &modules(&analysis)[0].total;
        assert_eq!(*root, analysis.totals.figures, "{name}");
        let mut nodes = 0;
        file.model.for_each_node(&mut |_| nodes += 1);
        assert_eq!(root.nodes, nodes, "{name}");
        assert_eq!(root.operators.values().sum::<u64>(), nodes, "{name}");
        assert_eq!(root.methods.values().sum::<u64>(), nodes, "{name}");
        let mut own = Figures::default();
        modules(&analysis).iter().for_each(|row| own.add(&row.own));
        own.count(&file.hierarchy.tree, file.hierarchy.tree.iter().map(|(id, _)| id));
        assert_eq!(own, *root, "{name}");
        let mut bytes = 0;
        crate::tensors::for_each(&file.model, &mut |_, tensor| bytes += crate::tensors::bytes(tensor));
        assert_eq!(root.parameters.bytes + root.constants.bytes, bytes, "{name}");
        assert_eq!(analysis.totals.coverage, 1.0, "{name}");
    }
}

/// 22,496 parameters is what `sum(p.numel() for p in model.parameters())` gives for the fixture. Of the 32 rows of its
/// position embedding the file holds the 12 that are looked up, as a constant.
#[test]
fn parameters_are_those_of_the_model() {
    let whole = analysis("bert_tiny", &Options::default());
    let parameters = whole.totals.figures.parameters;
    assert_eq!((parameters.count, parameters.elements), (39, 22_496));
    assert_eq!(parameters.bytes, 4 * (22_496 - 20 * 32));
}

/// The same in a captured program, in the tree of the exported file, in its analysis and in its sidecar, module by
/// module where there are modules.
#[test]
fn parameters_are_counted_alike_everywhere() {
    for name in fixtures() {
        let folder = tempfile::tempdir().unwrap();
        let path = fixture(folder.path(), &name);
        let captured = crate::test_export::captured(&name);
        let program = tree_counts(&crate::hierarchy::load(&captured).unwrap().hierarchy);
        let whole = program.first().unwrap().1;
        assert_eq!(tree_counts(&crate::hierarchy::load(&path).unwrap().hierarchy), program, "{name}");
        let file = TaggedFile::open(&path).unwrap();
        assert_eq!(file.sidecar.as_ref().unwrap().statistics.parameters, whole, "{name}");
        let analysis = analyze_file(&file, &Options::default()).unwrap();
        let rows = modules(&analysis).iter();
        let counts: Vec<_> = rows.map(|row| (row.path.clone(), row.total.parameters.elements)).collect();
        assert_eq!(counts, program, "{name}");
        assert_eq!(analysis.totals.figures.parameters.elements, whole, "{name}");
        let root = Options { module: Some(".".into()), by: By::Class, ..Options::default() };
        match analyze_file(&file, &root).unwrap().rows {
            Rows::Classes(rows) => {
                let most = rows.iter().map(|row| row.total.parameters.elements).max();
                assert_eq!(most, Some(whole), "{name}");
            }
            other => panic!("{other:?}"),
        }
        // Without a sidecar only the file tells, but tells it to all alike.
        std::fs::remove_file(modelexport_io::sidecar::path_beside(&path)).unwrap();
        let told = tree_counts(&crate::hierarchy::load(&path).unwrap().hierarchy)[0].1;
        let analysis = analyze(&path, &Options::default()).unwrap();
        assert_eq!(analysis.totals.figures.parameters.elements, told, "{name}");
    }
}

/// Paths and parameters with those below, in the order of the tree.
fn tree_counts(hierarchy: &crate::hierarchy::Hierarchy) -> Vec<(Name, u64)> {
    let tags = crate::tags::Tags::new(&hierarchy.tree, &Default::default(), Default::default());
    let view = crate::tree_view::TreeView::new(hierarchy, &tags);
    view.rows.iter().map(|row| (row.path.clone(), row.parameters.total)).collect()
}

#[test]
fn a_selector_chooses_rows_and_totals() {
    let select = |module: &str, depth| Options { module: Some(module.into()), depth, ..Options::default() };
    let layers = analysis("bert_tiny", &select("class:BertLayer", None));
    let paths: Vec<&str> = modules(&layers).iter().map(|row| &*row.path).collect();
    assert_eq!(paths, ["encoder.layer.0", "encoder.layer.1"]);
    let nodes: u64 = modules(&layers).iter().map(|row| row.total.nodes).sum();
    assert_eq!(layers.totals.figures.nodes, nodes);
    let below = analysis("bert_tiny", &select("encoder.layer.0", Some(1)));
    assert!(modules(&below).len() > 1);
    assert!(modules(&below).iter().all(|row| row.path.starts_with("encoder.layer.0")));
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(folder.path(), "bert_tiny");
    let error = analyze(&path, &select("class:BertLayr", None)).unwrap_err();
    let expected = format!(
        "{}: selector \"class:BertLayr\": no module matches; near matches: class:BertLayer, class:BertPooler",
        path.display()
    );
    assert_eq!(error.to_string(), expected);
}

#[test]
fn depth_and_top_choose_rows() {
    let flat = analysis("bert_tiny", &Options { depth: Some(1), ..Options::default() });
    assert_eq!(modules(&flat).iter().map(|row| row.depth).max(), Some(1));
    let top = analysis("bert_tiny", &Options { top: Some(3), ..Options::default() });
    let sizes: Vec<u64> = modules(&top).iter().map(|row| row.total.multiply_adds).collect();
    assert_eq!(sizes.len(), 3);
    assert!(sizes.is_sorted_by(|a, b| a >= b) && sizes[0] > 0, "{sizes:?}");
}

#[test]
fn classes_and_operators_sum_up_to_the_file() {
    for name in fixtures() {
        let by = |by| analysis(&name, &Options { by, ..Options::default() });
        let whole = by(By::Module).totals.figures;
        let Rows::Classes(classes) = by(By::Class).rows else { panic!("no classes") };
        assert_eq!(classes.iter().map(|row| row.own.nodes).sum::<u64>(), whole.nodes, "{name}");
        assert!(classes.iter().all(|row| row.total.nodes <= whole.nodes), "{name}");
        let Rows::Operators(operators) = by(By::Op).rows else { panic!("no operators") };
        assert_eq!(operators.iter().map(|row| row.nodes).sum::<u64>(), whole.nodes, "{name}");
        let multiply_adds: u64 = operators.iter().map(|row| row.multiply_adds).sum();
        assert_eq!(multiply_adds, whole.multiply_adds, "{name}");
    }
}

#[test]
fn sizes_of_named_dimensions_scale_the_estimate() {
    let with = |size: u64| {
        let plain = analysis("dynamic_batch_seq", &Options::default());
        let sizes = plain.sizes.keys().map(|name| (name.clone(), size)).collect();
        let scaled = analysis("dynamic_batch_seq", &Options { sizes, ..Options::default() });
        (scaled.sizes.len(), scaled.totals.figures.multiply_adds, scaled.totals.figures.unknown_multiply_adds)
    };
    let (names, one, unknown) = with(1);
    assert!(names > 0 && one > 0);
    assert_eq!(unknown, 0);
    assert!(with(4).1 >= 4 * one, "{one} {:?}", with(4));
}

#[test]
fn a_file_without_tags_is_analysed_as_one_module() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(folder.path(), "bert_tiny");
    let plain = folder.path().join("plain.onnx");
    crate::strip::strip(&path, &plain, &crate::strip::Options { all_metadata: true, overwrite: false })
        .unwrap();
    let analysis = analyze(&plain, &Options::default()).unwrap();
    assert_eq!((analysis.totals.coverage, modules(&analysis).len()), (0.0, 1));
    assert!(analysis.totals.figures.multiply_adds > 0);
    assert!(analysis.diagnosis.text.starts_with("no node records its module"), "{}", analysis.diagnosis.text);
}

/// What every fixture declares is what the operators give: a contradiction would be a fault of the inference.
#[test]
fn the_inference_never_contradicts_an_export() {
    let mut known = (0u64, 0u64);
    for name in test_export::fixtures() {
        let model = test_export::model(&test_export::captured(&name));
        walk(&model, &Sizes::Given(BTreeMap::new()), &mut |node| {
            assert_eq!(node.contradictions, [], "{name} {}", node.node.name);
            known.0 += 1;
            known.1 += u64::from(node.cost.unknown_activations == 0 && node.cost.unknown_multiply_adds == 0);
        });
    }
    assert!(known.1 * 100 >= known.0 * 97, "{known:?}");
}
