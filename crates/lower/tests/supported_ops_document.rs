//! `docs/supported-ops.md` is made from the registry.

use std::collections::BTreeMap;

use modelexport_lower::registry;
use modelexport_lower::wrappers::WRAPPERS;

const HEADER: &str = "\
# Operators that can be exported

This page is generated from the registry: `BLESS=1 cargo test -p modelexport_lower supported_ops` writes it anew.
In-place variants (`add_`) are exported as the operators that they are variants of, and are not listed; `modelexport
operators aten.add_.Tensor` shows which one that is. An archive has no node for `_operator.getitem`. `Opset` says from
which opset on there is a lowering; where several are given, each begins a better one. `modelexport operators` shows the
same operators with their schemas, without the graphs at the end of this page, which are no operators of their own.

";

fn document() -> String {
    let mut namespaces: BTreeMap<&str, BTreeMap<&str, Vec<i64>>> = BTreeMap::new();
    for row in registry::rows() {
        let namespace = row.target.split('.').next().unwrap_or_default();
        namespaces.entry(namespace).or_default().entry(row.target).or_default().push(row.floor);
    }
    let mut text = HEADER.to_owned();
    let count: usize = namespaces.values().map(BTreeMap::len).sum();
    text += &format!("{count} operators.\n");
    for (namespace, targets) in namespaces {
        text += &format!("\n## `{namespace}`\n\n| operator | opset |\n|---|---|\n");
        for (target, mut floors) in targets {
            floors.sort_unstable();
            let floors: Vec<String> = floors.iter().map(i64::to_string).collect();
            text += &format!("| `{target}` | {} |\n", floors.join(", "));
        }
    }
    text += "\n## Graphs that take the place of their node\n\n";
    for wrapper in WRAPPERS {
        text += &format!("- `{wrapper}`\n");
    }
    text
}

#[test]
fn supported_ops_document_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/supported-ops.md");
    let expected = document();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &expected).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(
        found, expected,
        "docs/supported-ops.md is stale: run `BLESS=1 cargo test -p modelexport_lower supported_ops`"
    );
}
