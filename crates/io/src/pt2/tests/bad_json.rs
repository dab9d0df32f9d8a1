//! Text that is not the JSON of a program is rejected.

use modelexport_graph::aten::Program;
use serde_json::json;

use super::super::error::Problem;
use super::super::json::MAX_JSON_DEPTH;
use super::sample::{Sample, argument, branch, node, read_bytes, tensor, tensor_meta, with_argument};
use super::zip::{stored, zip};

fn read_text(text: Vec<u8>) -> Result<Program, Problem> {
    let mut entries = Sample::default().entries();
    let model = entries.iter_mut().find(|entry| entry.name == b"m/models/model.json").unwrap();
    *model = stored("m/models/model.json", text);
    read_bytes(&zip(&entries))
}

/// The problem of a program whose JSON text was changed.
fn problem_of_text(change: impl FnOnce(String) -> Vec<u8>) -> Problem {
    read_text(change(Sample::default().program.to_string())).expect_err("the program is bad")
}

#[test]
fn deep_nesting() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        let problem = problem_of_text(|_| deep.clone().into());
        assert!(
            matches!(problem, Problem::JsonTooDeep { limit: MAX_JSON_DEPTH, offset, .. }
            if offset == MAX_JSON_DEPTH * open.len()),
            "{problem}"
        );
        let problem =
            problem_of_text(|text| text.replacen("\"sizes\":[", &format!("\"sizes\":[{deep},"), 1).into());
        assert!(matches!(problem, Problem::JsonTooDeep { .. }), "{problem}");
        let mut sample = Sample::default();
        sample.program["guards_code"] = json!("here");
        let text = sample.program.to_string().replacen("\"here\"", &deep, 1);
        read_text(text.into()).expect("what is skipped may be deep");
    }
}

#[test]
fn deep_subgraphs() {
    const LEVELS: usize = 5000;
    let marker = "\"inner\"";
    let level = branch(vec![node("n", "torch.ops.higher_order.cond", vec![json!("inner")], vec![])]);
    let level = argument("", level).to_string();
    let (before, after) = level.split_once(marker).unwrap();
    let deep = format!("{}{}{}", before.repeat(LEVELS), argument("", tensor("a")), after.repeat(LEVELS));
    let text = with_argument(json!("inner")).program.to_string();
    let text = text.replacen(&argument("extra", json!("inner")).to_string(), &deep, 1);
    let problem = read_text(text.into()).unwrap_err();
    assert!(matches!(problem, Problem::JsonTooDeep { .. }), "{problem}");
}

#[test]
fn keys_that_occur_twice() {
    let twice = |from: &str, to: &str| problem_of_text(|text| text.replacen(from, to, 1).into());
    let problem =
        twice("\"torch_version\":\"2.15.0\"", "\"torch_version\":\"2.15.0\",\"torch_version\":\"2.9.0\"");
    assert!(
        matches!(&problem, Problem::JsonDuplicateKey { message, .. } if message.contains("torch_version")),
        "{problem}"
    );
    let meta = tensor_meta(&[4, 2], &[2, 1]).to_string();
    let problem = twice("\"tensor_values\":{", &format!("\"tensor_values\":{{\"x\":{meta},"));
    assert!(matches!(&problem, Problem::DuplicateDefinition { name, .. } if name == "x"), "{problem}");
    let problem = twice("{\"as_tensor\":{", "{\"as_none\":true,\"as_tensor\":{");
    assert!(
        matches!(&problem, Problem::Json { message, .. } if message.contains("second member")),
        "{problem}"
    );
}

#[test]
fn text_that_is_not_json() {
    let problem = problem_of_text(|text| text.replacen(':', ";", 1).into());
    assert!(
        matches!(&problem, Problem::Json { entry, message } if entry == "m/models/model.json" && message.contains("line 1")),
        "{problem}"
    );
    let problem = problem_of_text(|_| b"{\"a\": \"\xff\"}".to_vec());
    assert!(matches!(problem, Problem::JsonNotUtf8 { offset: 7, .. }), "{problem}");
    let problem = problem_of_text(|_| Vec::new());
    assert!(matches!(problem, Problem::Json { .. }), "{problem}");
}

#[test]
fn numbers_that_do_not_fit() {
    for number in ["9223372036854775808", "1e400", "1.5", "\"7\""] {
        let problem =
            problem_of_text(|text| text.replacen("\"dtype\":7", &format!("\"dtype\":{number}"), 1).into());
        assert!(matches!(problem, Problem::Json { .. }), "{number}: {problem}");
    }
}
