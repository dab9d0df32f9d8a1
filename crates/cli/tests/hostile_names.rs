//! Names that a terminal, a browser or a spreadsheet would take for commands are harmless in all that is printed and
//! written for people, whatever the command and the format.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::Folder;
use modelexport_graph::Name;
use modelexport_graph::onnx::{
    Attribute, AttributeValue, Dimension, DimensionValue, Graph, Model, Node, OpsetImport, Tensor,
    TensorData, Type, TypeKind, ValueInfo,
};
use modelexport_io::onnx::{self, Chunk};

const HOSTILE: [&str; 5] = [
    "=cmd|' /C calc'!A0",
    "\u{1b}[2J\u{202e}\r\n+1",
    "<script>alert(1)</script>",
    "@SUM(1)\u{9b}31m\u{7f}",
    "`|[x](javascript:alert(1))<img src=x onerror=alert(1)>",
];

fn info(name: &str) -> ValueInfo {
    let size = Dimension { value: DimensionValue::Named(HOSTILE[0].into()), ..Dimension::default() };
    let kind = TypeKind::Tensor { elem_type: 1, shape: Some(vec![size]) };
    ValueInfo {
        name: name.into(),
        value_type: Some(Type { kind, ..Type::default() }.into()),
        ..ValueInfo::default()
    }
}

/// A chain of nodes, each in a module of its own, with such names wherever a name can stand.
fn model(last_operator: &str) -> Model {
    let value = |at: usize| -> Name {
        match at {
            0 => "x\u{1b}[2J<script>".into(),
            at => format!("{}{at}", HOSTILE[at - 1]).into(),
        }
    };
    let nodes = HOSTILE.iter().enumerate().map(|(at, name)| {
        let tag: String = name.chars().filter(|c| *c != '/' && !c.is_control() && *c != '\u{202e}').collect();
        let note = AttributeValue::String((*name).into());
        let metadata = [
            ("modelexport.tag", format!("/{tag}")),
            ("modelexport.module", (*name).to_owned()),
            ("note", (*name).to_owned()),
        ];
        Node {
            name: format!("{name}.node").into(),
            op_type: if at + 1 == HOSTILE.len() { last_operator.into() } else { (*name).into() },
            domain: (*name).into(),
            inputs: vec![value(at), (*name).into()],
            outputs: vec![value(at + 1)],
            attributes: vec![Attribute { name: (*name).into(), value: note, ..Attribute::default() }],
            metadata: metadata.map(|(key, value)| (key.to_owned(), value)).to_vec(),
            ..Node::default()
        }
    });
    let weights = HOSTILE.iter().map(|name| Tensor {
        name: (*name).into(),
        data_type: 1,
        dims: vec![2],
        data: TensorData::Raw(vec![0; 8]),
        ..Tensor::default()
    });
    let graph = Graph {
        name: HOSTILE[2].into(),
        nodes: nodes.collect(),
        initializers: weights.collect(),
        inputs: vec![info(&value(0))],
        outputs: vec![info(&value(HOSTILE.len()))],
        value_infos: (1..HOSTILE.len()).map(|at| info(&value(at))).collect(),
        ..Graph::default()
    };
    let import = |domain: &str| OpsetImport { domain: domain.into(), version: 20, ..OpsetImport::default() };
    let opset_imports = [""].iter().chain(&HOSTILE).map(|domain| import(domain)).collect();
    let producer_name = HOSTILE[1].into();
    Model { ir_version: 10, graph, opset_imports, producer_name, ..Model::default() }
}

/// A folder with two such models, which differ in an operator.
fn folder() -> Folder {
    let folder = Folder::with(&[]);
    for (file, operator) in [("m.onnx", HOSTILE[4]), ("other.onnx", HOSTILE[2])] {
        let mut model = model(operator);
        if file == "other.onnx" {
            let attribute = &mut model.graph.nodes[0].attributes[0];
            attribute.value = AttributeValue::String(HOSTILE[3].into());
            model.graph.nodes[1].metadata[2].1 = HOSTILE[0].into();
            model.graph.initializers[2].data = TensorData::Raw(vec![1; 8]);
        }
        let mut bytes = Vec::new();
        for chunk in onnx::encode(&model).unwrap() {
            let Chunk::Bytes(part) = chunk else { panic!("all weights are in memory") };
            bytes.extend_from_slice(&part);
        }
        std::fs::write(folder.path(file), bytes).unwrap();
    }
    folder
}

/// What a command printed, after a look at it. `format` says who will read it.
fn assert_harmless(text: &str, format: &str, what: &str) {
    let harmful = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(!text.contains(harmful), "{what}: {text:?}");
    match format {
        "json" | "model-explorer" => {
            assert!(!text.contains('<'), "{what}: {text}");
            assert!(serde_json::from_str::<serde_json::Value>(text).is_ok(), "{what}: {text}");
        }
        "graphml" | "markdown" => {
            assert!(!text.contains("<script") && !text.contains("<img"), "{what}: {text}");
        }
        "csv" => text.lines().for_each(|line| assert_cells(line, what)),
        _ => {}
    }
    if format == "markdown" {
        assert!(!text.contains("](java"), "{what}: {text}");
        let columns = |line: &str| line.replace("\\|", "").matches('|').count();
        let rows = text.lines().filter(|line| line.starts_with('|'));
        rows.for_each(|line| assert_eq!(columns(line), 6, "{what}: {line}"));
    }
}

/// No cell begins as a formula does.
fn assert_cells(line: &str, what: &str) {
    let mut is_quoted = false;
    let mut starts_cell = true;
    for character in line.chars() {
        match character {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => starts_cell = true,
            other => {
                assert!(!(starts_cell && "=+-@\t\r|%".contains(other)), "{what}: {line}");
                starts_cell = false;
            }
        }
    }
}

/// Runs the command; what it says on both streams is harmless, and there is something.
fn check(folder: &Folder, arguments: &[&str], format: &str) {
    let output = folder.run(&[arguments, &["--format", format]].concat()).output().unwrap();
    let what = format!("{arguments:?} --format {format}");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    assert!(matches!(output.status.code(), Some(0 | 1)), "{what}: {error}");
    assert!(!out.is_empty(), "{what}: {error}");
    assert_harmless(&out, format, &what);
    assert_harmless(&error, "text", &what);
}

/// An error that repeats names is harmless, too.
fn check_failure(folder: &Folder, arguments: &[&str]) {
    let (status, message) = common::failure(folder, arguments);
    assert_eq!(status, 2, "{message}");
    assert_harmless(&message, "text", &format!("{arguments:?}"));
}

#[test]
fn tree() {
    let folder = folder();
    for format in ["text", "json"] {
        check(&folder, &["tree", "m.onnx"], format);
    }
}

#[test]
fn analyze() {
    let folder = folder();
    for format in ["summary", "text", "detailed", "json", "csv", "model-explorer", "graphml"] {
        check(&folder, &["analyze", "m.onnx"], format);
    }
    for (by, format) in [("class", "csv"), ("op", "csv"), ("op", "summary"), ("class", "json")] {
        check(&folder, &["analyze", "m.onnx", "--by", by], format);
    }
    check_failure(&folder, &["analyze", "m.onnx", "--module", "<script>alert(2)\u{1b}</script>"]);
}

#[test]
fn validate() {
    let folder = folder();
    for format in ["text", "json", "csv"] {
        check(&folder, &["validate", "m.onnx"], format);
    }
    check(&folder, &["validate", "m.onnx", "--repair", "-o", "mended.onnx"], "text");
    check(&folder, &["validate", "m.onnx", "--repair", "-o", "mended.onnx", "--overwrite"], "json");
}

#[test]
fn compare() {
    let folder = folder();
    for format in ["text", "json", "markdown", "csv"] {
        check(&folder, &["compare", "m.onnx", "other.onnx"], format);
        check(&folder, &["compare", "m.onnx", "other.onnx", "--fail-on", "structure,tags,weights"], format);
    }
}

#[test]
fn extract() {
    let folder = folder();
    for format in ["text", "json"] {
        check(
            &folder,
            &["extract", "m.onnx", HOSTILE[2], "-o", "part.onnx", "--manifest", "--overwrite"],
            format,
        );
    }
    let manifest = String::from_utf8(folder.bytes("part_manifest.json")).unwrap();
    assert_harmless(&manifest, "json", "the manifest");
    assert!(manifest.contains("\\u003cscript"), "{manifest}");
    check_failure(&folder, &["extract", "m.onnx", "<script>alert(2)\u{1b}</script>", "-o", "x.onnx"]);
}

#[test]
fn functions() {
    let folder = folder();
    for format in ["text", "json"] {
        check(&folder, &["functions", "m.onnx", "--all", "-o", "made.onnx", "--overwrite"], format);
        check(&folder, &["functions", "made.onnx", "--inline", "-o", "back.onnx", "--overwrite"], format);
    }
    assert_eq!(folder.bytes("back.onnx"), folder.bytes("m.onnx"));
    check_failure(&folder, &["functions", "m.onnx", "\u{1b}[3J", "-o", "x.onnx"]);
}

#[test]
fn weights() {
    let folder = folder();
    for format in ["text", "json"] {
        check(&folder, &["weights", "m.onnx"], format);
        check(&folder, &["weights", "m.onnx", "--embed", "-o", "\u{7f}.onnx", "--overwrite"], format);
    }
}

#[test]
fn strip() {
    let folder = folder();
    for format in ["text", "json"] {
        check(&folder, &["strip", "m.onnx", "-o", "plain<script>\u{1b}[2J.onnx", "--overwrite"], format);
    }
}
