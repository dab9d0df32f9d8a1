//! `docs/supported-ops.md` is made from the registry.

use std::collections::BTreeMap;

use modelexport_lower::registry;
use modelexport_lower::wrappers::WRAPPERS;

const HEADER: &str = "\
# Supported operators

This page is generated from the registry. To regenerate it, run `BLESS=1 cargo test -p modelexport_lower supported_ops`.

`modelexport operators` prints the same operators with their schemas, without the graphs at the end of this page.

- The `opset` column gives the lowest opset at which the operator is supported. Further opsets in the column have a better
  lowering.
- In-place variants (`add_`) are supported but not listed. `modelexport operators aten.add_.Tensor` shows the functional
  operator that replaces one.
- `_operator.getitem` is not listed because an archive has no node for it.

";

fn document() -> String {
    let mut namespaces: BTreeMap<String, BTreeMap<String, Vec<i64>>> = BTreeMap::new();
    for row in registry::rows() {
        let target = row.target();
        let namespace = target.split('.').next().unwrap_or_default().to_owned();
        namespaces.entry(namespace).or_default().entry(target).or_default().push(row.floor);
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
    text += "\n## Inlined graphs\n\n";
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
