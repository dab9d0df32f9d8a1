use modelexport_graph::{ModuleId, ModuleTree};
use proptest::prelude::*;

use super::*;
use crate::policy::Policy;
use crate::tags::TagFormat;

fn tree() -> ModuleTree {
    let mut tree = ModuleTree::new();
    let classes = [
        ("", "pkg.Net"),
        ("embeddings", "pkg.Embeddings"),
        ("encoder", "pkg.Encoder"),
        ("encoder.layer", "torch.nn.modules.container.ModuleList"),
        ("encoder.layer.0", "pkg.Layer"),
        ("encoder.layer.0.attention", "pkg.Attention"),
        ("encoder.layer.0.attention.query", "torch.nn.modules.linear.Linear"),
        ("encoder.layer.1", "pkg.Layer"),
        ("encoder.layer.1.attention", "pkg.Attention"),
        ("encoder.layer.1.attention.query", "torch.nn.modules.linear.Linear"),
    ];
    for (path, class) in classes {
        let id = if path.is_empty() { ModuleId::ROOT } else { tree.insert(path) };
        tree.get_mut(id).unwrap().class = class.into();
    }
    tree
}

fn select(text: &str) -> Result<Vec<String>, Error> {
    let tree = tree();
    let tags = Tags::new(&tree, &Policy::default(), TagFormat::Instance);
    let found = Selector::parse(text)?.resolve(&tree, &tags)?;
    Ok(found.into_iter().map(|id| tree.get(id).unwrap().path.to_string()).collect())
}

const LAYERS: [&str; 2] = ["encoder.layer.0", "encoder.layer.1"];

#[test]
fn each_form_chooses_its_modules() {
    let cases: [(&str, &[&str]); 14] = [
        (".", &[""]),
        ("encoder.layer.*", &LAYERS),
        ("encoder.layer.*.attention", &["encoder.layer.0.attention", "encoder.layer.1.attention"]),
        ("encoder.layer.1.**", &["encoder.layer.1.attention", "encoder.layer.1.attention.query"]),
        ("class:Layer", &LAYERS),
        ("class:pkg.E*", &["embeddings", "encoder"]),
        ("/Net", &[""]),
        ("/Net/Encoder", &["encoder"]),
        ("/Net/Encoder/Layer.1", &["encoder.layer.1"]),
        ("/Net/Encoder/Layer", &LAYERS),
        ("/Net/*/Layer.0/*", &["encoder.layer.0.attention"]),
        ("depth:0", &[""]),
        ("depth:1", &["embeddings", "encoder"]),
        ("encoder.layer.1, depth:1,class:Layer", &["embeddings", "encoder", LAYERS[0], LAYERS[1]]),
    ];
    for (text, expected) in cases {
        assert_eq!(select(text).unwrap(), expected, "{text}");
    }
}

#[test]
fn a_tag_without_suffix_stays_below_the_instance_that_it_names() {
    assert_eq!(select("/Net/Encoder/Layer.1/Attention").unwrap(), ["encoder.layer.1.attention"]);
    assert_eq!(
        select("/Net/Encoder/Layer/Attention").unwrap(),
        ["encoder.layer.0.attention", "encoder.layer.1.attention"]
    );
}

#[test]
fn what_chooses_nothing_lists_what_is_near() {
    let error = |text: &str| select(text).unwrap_err().to_string();
    assert_eq!(error("encodr"), "selector \"encodr\": no module matches; near matches: encoder");
    assert_eq!(
        error("attention"),
        "selector \"attention\": no module matches; near matches: encoder.layer.*.attention, \
         encoder.layer.*.attention.query"
    );
    assert_eq!(error("class:Layr"), "selector \"class:Layr\": no module matches; near matches: class:Layer");
    assert_eq!(error("Layer"), "selector \"Layer\": no module matches; near matches: class:Layer");
    assert_eq!(
        error("/Net/Encodr"),
        "selector \"/Net/Encodr\": no module matches; near matches: /Net/Encoder, /Net/Encoder/Layer.*"
    );
    assert_eq!(error("depth:9"), "selector \"depth:9\": no module is that deep; the deepest is at depth 5");
    assert_eq!(error("encoder,zzzzzzz"), "selector \"zzzzzzz\": no module matches");
    // A hidden module has no tag of its own.
    assert!(select("/Net/Encoder/Layer.0/Attention/Linear").is_err());
}

proptest! {
    #[test]
    fn any_text_is_answered(text in ".{0,40}") {
        let _ = select(&text);
    }

    #[test]
    fn every_path_chooses_its_module(index in 1usize..10) {
        let tree = tree();
        let path = tree.get(ModuleId(index as u32)).unwrap().path.to_string();
        prop_assert_eq!(select(&path).unwrap(), [path]);
    }
}
