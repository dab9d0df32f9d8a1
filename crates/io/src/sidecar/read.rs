//! Reads a sidecar and checks that its parts are consistent.

use std::collections::HashSet;
use std::path::Path;

use modelexport_graph::{Name, check_tag};

use super::{Node, SCHEMA_VERSION, Sidecar};
use crate::document::{self, Contradiction, Document};

pub use crate::document::Error;

/// Larger files are refused; ten million nodes stay below.
pub const MAX_BYTES: u64 = 4 << 30;

impl Document for Sidecar {
    const NAME: &'static str = "sidecar";
    const SCHEMA_VERSION: &'static str = SCHEMA_VERSION;
    const MAX_BYTES: u64 = MAX_BYTES;

    fn schema_version(&self) -> &str {
        &self.schema_version
    }

    fn check(&self) -> Result<(), Contradiction> {
        check(self)
    }
}

/// Reads and checks a sidecar file.
pub fn read(path: &Path) -> Result<Sidecar, Error> {
    document::read(path)
}

/// Reads a sidecar from memory; `file` is for messages.
pub fn parse(bytes: &[u8], file: &Path) -> Result<Sidecar, Error> {
    document::parse(bytes, file)
}

fn check(sidecar: &Sidecar) -> Result<(), Contradiction> {
    let mut paths: HashSet<&Name> = HashSet::with_capacity(sidecar.modules.len());
    for (i, module) in sidecar.modules.iter().enumerate() {
        let fault = |reason: String| Err((format!("modules[{i}]"), reason));
        match &module.parent {
            None if i > 0 => return fault("only the first module may be without a parent".into()),
            Some(_) if i == 0 => return fault("the first module is the root and has no parent".into()),
            Some(parent) if !paths.contains(parent) => {
                return fault(format!("its parent {parent:?} does not come before it"));
            }
            _ => {}
        }
        if (i == 0) != module.path.is_empty() {
            return fault("the root, and only the root, has an empty path".into());
        }
        if !paths.insert(&module.path) {
            return fault(format!("a second module with the path {:?}", module.path));
        }
        check_tag(&module.tag).or_else(|reason| fault(format!("tag {:?}: {reason}", module.tag)))?;
    }
    for (i, node) in sidecar.nodes.iter().enumerate() {
        check_node(node, &paths).map_err(|reason| (format!("nodes[{i}]"), reason))?;
    }
    Ok(())
}

fn check_node(node: &Node, paths: &HashSet<&Name>) -> Result<(), String> {
    if !paths.contains(&node.module) {
        return Err(format!("its module {:?} is not among the modules", node.module));
    }
    if !(0.0..=1.0).contains(&node.confidence) {
        return Err(format!("confidence {} is not between 0 and 1", node.confidence));
    }
    for tag in node.tags.iter().chain([&node.path]) {
        check_tag(tag).map_err(|reason| format!("tag {tag:?}: {reason}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use modelexport_graph::Method;

    use super::super::*;
    use super::*;
    use crate::{ErrorKind, source};

    fn sample() -> Sidecar {
        let module = |path: &str, parent: Option<&str>| Module {
            path: path.into(),
            aliases: Vec::new(),
            class: "pkg.Model".into(),
            tag: "/Model".into(),
            visible: parent.is_none(),
            parent: parent.map(Into::into),
            executed: true,
            order: Some(0),
            calls: 1,
            parameters: Vec::new(),
            nodes: NodeCount { own: 1, total: 1 },
        };
        Sidecar {
            schema_version: SCHEMA_VERSION.into(),
            generator: Generator { name: "modelexport".into(), version: "0.1.0".into() },
            source: Source { kind: "pt2".into(), file: Some("model.pt2".into()), torch_version: None },
            strategy: "native".into(),
            policy: Policy {
                modules: "model".into(),
                torch_nn_exceptions: vec!["LayerNorm".into()],
                rules: None,
                tag_format: "instance".into(),
            },
            modules: vec![module("", None), module("act", Some(""))],
            nodes: vec![Node {
                name: "relu".into(),
                op_type: "Relu".into(),
                module: "act".into(),
                calls: Vec::new(),
                path: "/Model".into(),
                tags: vec!["/Model".into()],
                method: Method::Direct,
                confidence: 1.0,
                source: Some("relu".into()),
            }],
            statistics: Statistics::default(),
        }
    }

    fn bytes(sidecar: &Sidecar) -> Vec<u8> {
        sidecar.to_bytes().expect("writes to memory")
    }

    fn parse_text(text: &str) -> Result<Sidecar, Error> {
        parse(text.as_bytes(), Path::new("m_hierarchy.json"))
    }

    #[test]
    fn what_is_written_is_read_again() {
        let sidecar = sample();
        assert_eq!(parse(&bytes(&sidecar), Path::new("m_hierarchy.json")).expect("is valid"), sidecar);
        let empty = Sidecar { modules: Vec::new(), nodes: Vec::new(), ..sidecar };
        assert_eq!(parse(&bytes(&empty), Path::new("m_hierarchy.json")).expect("is valid"), empty);
    }

    #[test]
    fn each_node_is_one_line() {
        let text = String::from_utf8(bytes(&sample())).expect("UTF-8");
        let line = r#"    {"name":"relu","op_type":"Relu","module":"act","path":"/Model","tags":["/Model"],"method":"direct","confidence":1.0,"source":"relu"}"#;
        assert!(text.lines().any(|found| found == line), "{text}");
    }

    #[test]
    fn bad_json_is_located() {
        let text = String::from_utf8(bytes(&sample())).expect("UTF-8");
        let bad = text.replace("\"calls\":1", "\"calls\":-1");
        match parse_text(&bad) {
            Err(Error::Json { line: 8, reason, .. }) => {
                assert_eq!(reason, "invalid value: integer `-1`, expected u32");
            }
            other => panic!("{other:?}"),
        }
        for end in [0, 1, text.len() / 2, text.len() - 3] {
            assert!(matches!(parse_text(&text[..end]), Err(Error::Json { .. })), "prefix of {end} bytes");
        }
        let twice = text.replace("\"calls\":1", "\"calls\":1,\"calls\":1");
        assert!(
            matches!(parse_text(&twice), Err(Error::Json { reason, .. }) if reason == "duplicate field `calls`")
        );
        let deep = "[".repeat(100_000);
        assert!(matches!(parse_text(&deep), Err(Error::Json { .. })));
    }

    #[test]
    fn another_major_version_is_named_even_if_its_body_differs() {
        match parse_text(r#"{"schema_version":"2.0","layers":[]}"#) {
            Err(Error::Version { found, .. }) => assert_eq!(found, "2.0"),
            other => panic!("{other:?}"),
        }
        let newer_minor = Sidecar { schema_version: "1.7".into(), ..sample() };
        assert!(parse(&bytes(&newer_minor), Path::new("m.json")).is_ok());
    }

    #[test]
    fn contradictions_are_located() {
        let contradiction = |change: &dyn Fn(&mut Sidecar)| {
            let mut sidecar = sample();
            change(&mut sidecar);
            match parse(&bytes(&sidecar), Path::new("m.json")) {
                Err(Error::Contradiction { place, reason, .. }) => format!("{place}: {reason}"),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(
            contradiction(&|s| s.modules[1].parent = Some("lost".into())),
            r#"modules[1]: its parent "lost" does not come before it"#
        );
        assert_eq!(
            contradiction(&|s| s.modules[1].parent = None),
            "modules[1]: only the first module may be without a parent"
        );
        assert_eq!(
            contradiction(&|s| s.modules[0].parent = Some("".into())),
            "modules[0]: the first module is the root and has no parent"
        );
        assert_eq!(
            contradiction(&|s| s.modules[1].path = "".into()),
            "modules[1]: the root, and only the root, has an empty path"
        );
        assert_eq!(
            contradiction(&|s| s.modules.push(s.modules[1].clone())),
            r#"modules[2]: a second module with the path "act""#
        );
        assert_eq!(
            contradiction(&|s| s.nodes[0].module = "lost".into()),
            r#"nodes[0]: its module "lost" is not among the modules"#
        );
        assert_eq!(
            contradiction(&|s| s.nodes[0].confidence = 1.5),
            "nodes[0]: confidence 1.5 is not between 0 and 1"
        );
        assert_eq!(
            contradiction(&|s| s.nodes[0].tags.push("x".into())),
            r#"nodes[0]: tag "x": does not start with /"#
        );
        assert_eq!(
            contradiction(&|s| s.modules[0].tag = "/a//b".into()),
            r#"modules[0]: tag "/a//b": has an empty segment"#
        );
        assert_eq!(
            contradiction(&|s| s.nodes[0].path = "/a\n".into()),
            r#"nodes[0]: tag "/a\n": has a control character"#
        );
    }

    #[test]
    fn files_that_cannot_be_read_are_named() {
        let missing = read(Path::new("/nonexistent/m_hierarchy.json")).expect_err("does not exist");
        assert_eq!(missing.kind(), ErrorKind::Io);
        assert!(missing.is_not_found());
        let folder = tempfile::tempdir().expect("temporary folder");
        assert!(matches!(read(folder.path()), Err(Error::Open(source::Error::NotRegular { .. }))));
    }
}
