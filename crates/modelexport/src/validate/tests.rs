use std::path::PathBuf;

use modelexport_graph::DType;
use modelexport_graph::onnx::{
    Attribute, AttributeValue, DimensionValue, Function, Model, Node, Tensor, TensorData, Type, TypeKind,
    ValueInfo,
};
use modelexport_io::onnx::{self, Chunk};
use modelexport_io::sidecar as sidecar_file;

use super::*;
use crate::embedding;
use crate::test_export::{fixture, fixtures};

/// `(severity, check, place, repairable)` of each finding.
fn found(report: &Report) -> Vec<(Severity, &'static str, &str, bool)> {
    let row = |finding: &'static str, severity, place, repairable| (severity, finding, place, repairable);
    report.findings.iter().map(|f| row(f.check, f.severity, f.place.as_str(), f.repairable)).collect()
}

/// A fixture in a folder of its own, changed by `change` after the export.
fn changed(name: &str, keep_sidecar: bool, change: impl FnOnce(&mut Model)) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(folder.path(), name);
    let mut model = onnx::read(&path).unwrap().model;
    crate::tensors::for_each(&model, &mut |_, tensor| {
        assert!(!matches!(tensor.data, TensorData::TypedStored(_)))
    });
    // Larger weights would stay in the file that is about to be replaced.
    for tensor in &mut model.graph.initializers {
        if let TensorData::Stored(view) = &tensor.data {
            tensor.data = TensorData::Raw(vec![0; view.span.length as usize]);
        }
    }
    change(&mut model);
    let mut bytes = Vec::new();
    for chunk in onnx::encode(&model).unwrap() {
        match chunk {
            Chunk::Bytes(part) => bytes.extend_from_slice(&part),
            other => panic!("{other:?}"),
        }
    }
    std::fs::write(&path, bytes).unwrap();
    if !keep_sidecar {
        std::fs::remove_file(sidecar_file::path_beside(&path)).unwrap();
    }
    (folder, path)
}

fn node<'m>(model: &'m mut Model, name: &str) -> &'m mut modelexport_graph::onnx::Node {
    model.graph.nodes.iter_mut().find(|node| &*node.name == name).unwrap()
}

/// Two nodes of layer 0 of the fixture: one reads a parameter, one does not.
const READER: &str = "/encoder/layer.0/attention/self/query/MatMul";
const MIDDLE: &str = "/encoder/layer.0/attention/self/Softmax";

#[test]
fn every_export_is_valid() {
    for name in fixtures() {
        let folder = tempfile::tempdir().unwrap();
        let path = fixture(folder.path(), &name);
        let report = validate(&path).unwrap();
        assert_eq!(report.findings, [], "{name}");
        std::fs::remove_file(sidecar_file::path_beside(&path)).unwrap();
        assert_eq!(validate(&path).unwrap().findings, [], "{name} without its sidecar");
    }
}

#[test]
fn the_names_used_here_are_those_of_the_fixture() {
    let (_folder, path) = changed("bert_tiny", true, |model| {
        node(model, READER);
        node(model, MIDDLE);
    });
    assert!(validate(&path).unwrap().valid);
}

#[test]
fn faults_of_the_graph_are_found() {
    type Change = fn(&mut Model);
    let cases: [(&str, &str, Change); 9] = [
        ("undefined-value", "node /encoder/layer.0/attention/self/Softmax", |model| {
            node(model, MIDDLE).inputs[0] = "nowhere".into();
        }),
        ("order", "node /encoder/layer.0/attention/self/Softmax", |model| {
            let at = model.graph.nodes.iter().position(|node| &*node.name == MIDDLE).unwrap();
            let moved = model.graph.nodes.remove(at);
            model.graph.nodes.insert(0, moved);
        }),
        ("duplicate-value", "value linear", |model| {
            node(model, MIDDLE).outputs.push("linear".into());
        }),
        ("duplicate-name", "node /encoder/layer.0/attention/self/Softmax", |model| {
            node(model, READER).name = MIDDLE.into();
        }),
        ("missing-opset", "node /encoder/layer.0/attention/self/Softmax", |model| {
            node(model, MIDDLE).domain = "my.ops".into();
        }),
        ("undefined-value", "value nowhere", |model| {
            model.graph.outputs[0].name = "nowhere".into();
        }),
        ("type", "node /encoder/layer.0/attention/self/Softmax", |model| {
            let name = node(model, MIDDLE).outputs[0].clone();
            let value = model.graph.value_infos.iter_mut().find(|value| value.name == name).unwrap();
            let Some(TypeKind::Tensor { shape: Some(dims), .. }) =
                value.value_type.as_mut().map(|t| &mut std::sync::Arc::make_mut(t).kind)
            else {
                panic!("no shape")
            };
            dims[0].value = DimensionValue::Static(77);
        }),
        ("type", "node /encoder/layer.0/attention/self/query/MatMul", |model| {
            node(model, READER).inputs.swap(0, 1);
        }),
        ("external-data", "weight encoder.layer.0.attention.self.query.bias", |model| {
            let bias = "encoder.layer.0.attention.self.query.bias";
            let tensor = model.graph.initializers.iter_mut().find(|tensor| &*tensor.name == bias).unwrap();
            tensor.data = TensorData::External(vec![("location".into(), "../w.bin".into())]);
        }),
    ];
    for (check, place, change) in cases {
        let (_folder, path) = changed("bert_tiny", false, change);
        let report = validate(&path).unwrap();
        assert!(!report.valid);
        let named: Vec<(&str, &str)> = report.findings.iter().map(|f| (f.check, f.place.as_str())).collect();
        assert!(named.contains(&(check, place)), "{check} {place}: {named:?}");
    }
}

/// The data file has the eight bytes `abcdefgh`.
#[test]
fn external_data_is_checked_wherever_a_tensor_is() {
    let external = |dims: &[i64], hash: Option<&str>| {
        let mut entries = vec![("location".to_owned(), "w.bin".to_owned())];
        entries.extend(hash.map(|hash| ("checksum".to_owned(), hash.to_owned())));
        let (data_type, data) = (DType::F32.onnx_code().unwrap(), TensorData::External(entries));
        let tensor = Tensor { data_type, dims: dims.into(), data, ..Tensor::default() };
        let value = AttributeValue::Tensor(Box::new(tensor));
        Attribute { name: "table".into(), value, ..Attribute::default() }
    };
    // By Python's `hashlib`: of the file, and of its first four bytes.
    let (whole, half) =
        ("425af12a0743502b322e93a015bcf868e324d56a", "81fe8bfe87576c3ecb22426f8e57847382917acf");
    let too_long = "external data \"w.bin\": bytes 0 to 12 are beyond the end of the file, which has 8 bytes";
    let wrong =
        format!("external data \"w.bin\": the data file has the hash {whole}, the model says {}", &half[1..]);
    let cases = [
        (external(&[2], None), None),
        (external(&[2], Some(whole)), None),
        (external(&[1], Some(&whole.to_uppercase())), None),
        (external(&[1], Some(half)), None),
        (external(&[3], None), Some(too_long.to_owned())),
        (external(&[2], Some(&half[1..])), Some(wrong)),
    ];
    for (attribute, expected) in cases {
        let (folder, path) = changed("plain_linear_relu", true, |model| {
            let first = &mut model.graph.nodes[0];
            first.name = "first".into();
            first.attributes.push(attribute.clone());
            let node = Node {
                name: "inner".into(),
                op_type: "Relu".into(),
                attributes: vec![attribute.clone()],
                ..Node::default()
            };
            let defaults = vec![attribute.clone()];
            let body = Function {
                name: "F".into(),
                nodes: vec![node],
                attribute_defaults: defaults,
                ..Function::default()
            };
            model.functions.push(body);
        });
        std::fs::write(folder.path().join("w.bin"), "abcdefgh").unwrap();
        let report = validate(&path).unwrap();
        let found: Vec<(&str, &str)> = (report.findings.iter())
            .filter(|finding| finding.check == "external-data")
            .map(|finding| (finding.place.as_str(), finding.message.as_str()))
            .collect();
        let places = [
            "attribute table of node first",
            "attribute table of node inner",
            "attribute table of function F",
        ];
        let wanted: Vec<(&str, &str)> =
            places.iter().filter_map(|place| Some((*place, expected.as_deref()?))).collect();
        assert_eq!(found, wanted);
        let listed = crate::weight_places::list(&path, false).unwrap();
        let listed: Vec<_> = listed.iter().filter(|place| place.external.is_some()).collect();
        assert_eq!(listed.iter().map(|place| place.name.as_str()).collect::<Vec<_>>(), places);
        assert!(listed.iter().all(|place| place.problem.is_some() == expected.is_some()));
    }
}

fn set_tag(model: &mut Model, name: &str, tag: &str) {
    let node = node(model, name);
    let path = node.doc_string.split('"').find(|text| text.starts_with('/')).unwrap().to_owned();
    node.doc_string = node.doc_string.replace(&path, tag);
    for (key, value) in &mut node.metadata {
        if key == embedding::TAG {
            *value = tag.to_owned();
        }
    }
}

#[test]
fn faults_of_tags_are_found_and_mended() {
    type Change = fn(&mut Model);
    let cases: [(&str, Change); 7] = [
        ("wrong-tag", |model| set_tag(model, MIDDLE, "/BertModel/BertEncoder")),
        ("unknown-tag", |model| set_tag(model, MIDDLE, "/BertModel/Nobody")),
        ("missing-parent", |model| set_tag(model, MIDDLE, "/BertModel/Nobody/Nothing")),
        ("tag-format", |model| set_tag(model, MIDDLE, "/BertModel//BertEncoder")),
        ("tag-disagreement", |model| {
            let node = node(model, MIDDLE);
            node.metadata.iter_mut().filter(|(key, _)| key == embedding::TAG).for_each(|entry| {
                entry.1 = "/BertModel/BertEncoder".into();
            });
        }),
        ("doc-string", |model| {
            let node = node(model, MIDDLE);
            node.doc_string = node.doc_string.replace("\"hierarchy_count\":1", "\"hierarchy_count\":2");
        }),
        ("doc-string", |model| {
            let node = node(model, MIDDLE);
            node.doc_string =
                node.doc_string.replacen("\"hierarchy_path\":\"", "\"hierarchy_path\":\"/Else", 1);
        }),
    ];
    let (_whole_folder, whole) = changed("bert_tiny", false, |_| ());
    let whole = std::fs::read(whole).unwrap();
    for keep_sidecar in [true, false] {
        for (check, change) in cases {
            let (folder, path) = changed("bert_tiny", keep_sidecar, change);
            let report = validate(&path).unwrap();
            let place = format!("node {MIDDLE}");
            let expected = (Severity::Error, check, place.as_str(), true);
            assert!(found(&report).contains(&expected), "{check}: {:?}", found(&report));
            assert!(report.findings.iter().all(|finding| finding.place == place), "{:?}", found(&report));
            let mended = folder.path().join("mended.onnx");
            let repaired = repair(&path, &mended, false).unwrap();
            assert_eq!(repaired.nodes, [place], "{check}");
            assert_eq!(repaired.after.findings, [], "{check}");
            assert_eq!(std::fs::read(&mended).unwrap(), whole, "{check}");
        }
    }
}

#[test]
fn a_node_in_the_wrong_module_is_found() {
    let into_layer_1 = |model: &mut Model, name: &str| {
        let node = node(model, name);
        node.doc_string = node.doc_string.replace("BertLayer.0", "BertLayer.1");
        for (_, value) in &mut node.metadata {
            *value = value.replace("layer.0", "layer.1").replace("BertLayer.0", "BertLayer.1");
        }
    };
    let (_folder, path) = changed("bert_tiny", false, |model| into_layer_1(model, READER));
    let report = validate(&path).unwrap();
    let place = format!("node {READER}");
    assert!(
        found(&report).contains(&(Severity::Warning, "parameter-owner", place.as_str(), false)),
        "{report:?}"
    );
    let (_folder, path) = changed("bert_tiny", false, |model| into_layer_1(model, MIDDLE));
    let report = validate(&path).unwrap();
    let place = format!("node {MIDDLE}");
    assert!(
        found(&report).contains(&(Severity::Warning, "broken-call", place.as_str(), false)),
        "{report:?}"
    );
}

#[test]
fn a_sidecar_of_another_file_is_found_and_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(folder.path(), "bert_tiny");
    let beside = sidecar_file::path_beside(&path);
    let right = std::fs::read(&beside).unwrap();
    let other = tempfile::tempdir().unwrap();
    let wrong = sidecar_file::path_beside(&fixture(other.path(), "resnet_tiny"));
    std::fs::copy(wrong, &beside).unwrap();
    let report = validate(&path).unwrap();
    assert!(report.findings.iter().any(|finding| finding.check == "sidecar"), "{report:?}");
    std::fs::write(&beside, "{").unwrap();
    let report = validate(&path).unwrap();
    assert_eq!(found(&report), [(Severity::Error, "sidecar", beside.to_str().unwrap(), true)]);
    let before = std::fs::read(&path).unwrap();
    let repaired = repair(&path, &path, false).unwrap();
    assert_eq!((repaired.nodes.len(), repaired.after.findings), (0, vec![]));
    assert_eq!(std::fs::read(&path).unwrap(), before, "the model itself was fine");
    std::fs::write(&beside, right).unwrap();
    let mut edited: serde_json::Value = serde_json::from_slice(&std::fs::read(&beside).unwrap()).unwrap();
    edited["nodes"].as_array_mut().unwrap().remove(3);
    edited["nodes"][5]["op_type"] = "Else".into();
    std::fs::write(&beside, edited.to_string()).unwrap();
    let report = validate(&path).unwrap();
    assert_eq!(report.findings.iter().filter(|f| f.check == "sidecar-node").count(), 2, "{report:?}");
    assert!(repair(&path, &path, false).unwrap().after.valid);
}

#[test]
fn a_file_without_tags_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(folder.path(), "bert_tiny");
    let plain = folder.path().join("plain.onnx");
    crate::strip::strip(&path, &plain, &crate::strip::Options { all_metadata: true, overwrite: false })
        .unwrap();
    let report = validate(&plain).unwrap();
    assert_eq!(found(&report), [(Severity::Warning, "no-tags", plain.to_str().unwrap(), false)]);
}

/// Opset 21: `QuantizeLinear` without a zero point gives what its `output_dtype` states.
#[test]
fn a_stated_quantised_type_is_no_contradiction() {
    let with_declared = |declared: DType| {
        let (_folder, path) = changed("bert_tiny", true, |model| {
            let x = node(model, MIDDLE).outputs[0].clone();
            let code = |dtype: DType| dtype.onnx_code().unwrap();
            model.graph.nodes.push(Node {
                name: "quantize".into(),
                op_type: "QuantizeLinear".into(),
                inputs: vec![x, model.graph.initializers[0].name.clone()],
                outputs: vec!["quantized".into()],
                attributes: vec![Attribute {
                    name: "output_dtype".into(),
                    value: AttributeValue::Int(code(DType::I4).into()),
                    ..Attribute::default()
                }],
                ..Node::default()
            });
            let kind = TypeKind::Tensor { elem_type: code(declared), shape: None };
            let value_type = Some(Type { kind, ..Type::default() }.into());
            let name = "quantized".into();
            model.graph.value_infos.push(ValueInfo { name, value_type, ..ValueInfo::default() });
        });
        let report = validate(&path).unwrap();
        report.findings.iter().filter(|finding| finding.check == "type").count()
    };
    assert_eq!(with_declared(DType::I4), 0);
    assert_eq!(with_declared(DType::U8), 1);
}
