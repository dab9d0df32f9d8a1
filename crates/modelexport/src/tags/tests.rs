use std::collections::HashSet;
use std::path::Path;

use modelexport_graph::check_tag;
use proptest::prelude::*;

use super::*;
use crate::policy::Preset;
use crate::rules::{self, Rules};

/// A tree from `(path, class)`; the root's path is empty.
fn tree(modules: &[(&str, &str)]) -> ModuleTree {
    let mut tree = ModuleTree::new();
    for (path, class) in modules {
        let id = if path.is_empty() { ModuleId::ROOT } else { tree.insert(path) };
        tree.get_mut(id).unwrap().class = (*class).into();
    }
    tree
}

fn tags_of(modules: &[(&str, &str)], policy: &Policy, format: TagFormat) -> Vec<String> {
    let tree = tree(modules);
    let tags = Tags::new(&tree, policy, format);
    modules.iter().map(|(path, _)| tags.tag(tree.find(path).unwrap()).to_string()).collect()
}

fn default_tags(modules: &[(&str, &str)]) -> Vec<String> {
    tags_of(modules, &Policy::default(), TagFormat::Instance)
}

const LINEAR: &str = "torch.nn.modules.linear.Linear";
const EMBEDDING: &str = "torch.nn.modules.sparse.Embedding";

#[test]
fn an_index_is_enough_for_layers() {
    let modules = [
        ("", "m.Model"),
        ("encoder", "m.Encoder"),
        ("encoder.layer.0", "m.Layer"),
        ("encoder.layer.0.attention", "m.Attention"),
        ("encoder.layer.0.attention.query", LINEAR),
        ("encoder.layer.1", "m.Layer"),
    ];
    assert_eq!(
        default_tags(&modules),
        [
            "/Model",
            "/Model/Encoder",
            "/Model/Encoder/Layer.0",
            "/Model/Encoder/Layer.0/Attention",
            "/Model/Encoder/Layer.0/Attention",
            "/Model/Encoder/Layer.1",
        ]
    );
    assert_eq!(
        tags_of(&modules, &Policy::default(), TagFormat::Class)[2..],
        [
            "/Model/Encoder/Layer",
            "/Model/Encoder/Layer/Attention",
            "/Model/Encoder/Layer/Attention",
            "/Model/Encoder/Layer",
        ]
    );
}

#[test]
fn the_path_below_the_visible_parent_tells_apart_what_an_index_cannot() {
    let stages = [
        ("", "m.Net"),
        ("layer1", "torch.nn.modules.container.Sequential"),
        ("layer1.0", "m.Block"),
        ("layer2.0", "m.Block"),
        ("layer2.1", "m.Block"),
    ];
    assert_eq!(
        default_tags(&stages)[2..],
        ["/Net/Block.layer1.0", "/Net/Block.layer2.0", "/Net/Block.layer2.1"]
    );
    let tables =
        [("", "m.Model"), ("emb", "m.Embeddings"), ("emb.words", EMBEDDING), ("emb.positions", EMBEDDING)];
    assert_eq!(
        default_tags(&tables)[2..],
        ["/Model/Embeddings/Embedding.words", "/Model/Embeddings/Embedding.positions"]
    );
}

#[test]
fn a_lone_module_shows_its_index_but_not_its_name() {
    let modules = [("", "m.Net"), ("blocks.0", "m.Block"), ("head", "m.Head")];
    assert_eq!(default_tags(&modules), ["/Net", "/Net/Block.0", "/Net/Head"]);
}

#[test]
fn indexed_and_named_modules_of_one_class_mix() {
    let modules = [("", "m.Net"), ("blocks.0", "m.Block"), ("blocks.1", "m.Block"), ("final", "m.Block")];
    assert_eq!(default_tags(&modules)[1..], ["/Net/Block.0", "/Net/Block.1", "/Net/Block.final"]);
}

#[test]
fn a_class_named_like_the_auxiliary_tag_yields() {
    let modules = [("", "m.Net"), ("aux", "m.AuxiliaryOperations")];
    let tree = tree(&modules);
    let tags = Tags::new(&tree, &Policy::default(), TagFormat::Instance);
    assert_eq!(&**tags.auxiliary(), "/Net/AuxiliaryOperations");
    assert_eq!(&**tags.tag(ModuleId(1)), "/Net/AuxiliaryOperations.aux");
}

#[test]
fn a_plain_model_has_no_chosen_module_under_the_hugging_face_preset() {
    let plain = tree(&[("", "__main__.Net"), ("linear", LINEAR), ("norm", EMBEDDING)]);
    let chosen = |preset| {
        let tags = Tags::new(&plain, &Policy::new(Some(preset), None, Rules::default()), TagFormat::Instance);
        plain.iter().map(|(id, _)| tags.is_chosen(id)).collect::<Vec<_>>()
    };
    assert_eq!(chosen(Preset::HuggingFace), [false, false, true]);
    assert_eq!(chosen(Preset::Model), [true, true, true]);
}

#[test]
fn rules_show_hide_and_rename() {
    let text = r#"
        include = ["class:Linear", "encoder.layer"]
        exclude = ["class:*Pooler", "class:Model"]
        [[rename]]
        class = "m.*Attention"
        name = "Attention"
    "#;
    let policy = Policy::new(None, None, rules::parse(text, Path::new("rules.toml")).unwrap());
    let modules = [
        ("", "m.Model"),
        ("pooler", "m.Pooler"),
        ("pooler.dense", LINEAR),
        ("encoder.layer", ""),
        ("encoder.layer.0", "m.SelfAttention"),
        ("encoder.layer.1", "m.CrossAttention"),
    ];
    assert_eq!(
        tags_of(&modules, &policy, TagFormat::Instance),
        [
            "/Model",
            "/Model",
            "/Model/Linear",
            "/Model/Module",
            "/Model/Module/Attention.0",
            "/Model/Module/Attention.1",
        ]
    );
}

#[test]
fn domain_rules_add_tags_below_their_class() {
    let text = r#"
        [[domain]]
        class = "Attention"
        operator = "MatMul"
        tag = "/domain/attention"
        [[domain]]
        class = "torch.nn.*"
        operator = "aten.linear.*"
        tag = "/domain/linear"
    "#;
    let policy = Policy::new(None, None, rules::parse(text, Path::new("rules.toml")).unwrap());
    let tree = tree(&[("", "m.Model"), ("a", "m.Attention"), ("a.q", LINEAR)]);
    let tags = Tags::new(&tree, &policy, TagFormat::Instance);
    let of = |id, operators: &[&str]| {
        tags.domain_tags(ModuleId(id), operators).map(|tag| tag.to_string()).collect::<Vec<_>>()
    };
    assert!(of(0, &["MatMul"]).is_empty());
    assert_eq!(of(1, &["MatMul"]), ["/domain/attention"]);
    assert_eq!(of(2, &["MatMul", "aten.linear.default"]), ["/domain/attention", "/domain/linear"]);
    assert!(of(2, &["Add"]).is_empty());
}

/// Attribute names, some of which look like indices, suffixes, separators or nothing at all.
fn attribute() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec!["0", "1", "00", "a", "layer", "", "A", "A.0", "a/b", "%2F", "é", "\n", "x y"])
            .prop_map(str::to_owned),
        1 => any_text(),
    ]
}

fn any_text() -> impl Strategy<Value = String> {
    prop::collection::vec(any::<char>(), 0..3).prop_map(|chars| chars.into_iter().collect())
}

/// Classes: visible, hidden and shown by exception, equal to suffixes of others, empty, with separators.
fn class() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec![
            "m.A", "n.A", "m.B", "", "A.0", "m.", ".", "Module", "m.AuxiliaryOperations", "m.A%2E0", "m.A/0",
            "m.x\u{1b}[0m", LINEAR, EMBEDDING, "torch.nn.modules.container.Sequential",
        ])
        .prop_map(str::to_owned),
        1 => any_text(),
    ]
}

/// Modules as `(parent, attribute, class)`; the parent is an index among the modules so far.
fn random_tree() -> impl Strategy<Value = ModuleTree> {
    (class(), prop::collection::vec((any::<prop::sample::Index>(), attribute(), class()), 0..24)).prop_map(
        |(root_class, modules)| {
            let mut tree = ModuleTree::new();
            tree.get_mut(ModuleId::ROOT).unwrap().class = root_class.into();
            for (parent, attribute, class) in modules {
                let parent = tree.get(ModuleId(parent.index(tree.len()) as u32)).unwrap();
                let path = match &*parent.path {
                    "" => attribute,
                    path => format!("{path}.{attribute}"),
                };
                let id = tree.insert(&path);
                if id != ModuleId::ROOT {
                    tree.get_mut(id).unwrap().class = class.into();
                }
            }
            tree
        },
    )
}

fn random_policy() -> impl Strategy<Value = Policy> {
    let rules = prop::sample::select(vec![
        "",
        "include = ['class:Linear']\nexclude = ['class:B']",
        "include = ['**']",
        "[[rename]]\nclass = '*'\nname = 'A'",
        "[[rename]]\nclass = '*.A'\nname = 'A%2E0'",
    ]);
    (prop::sample::select(Preset::ALL.to_vec()), rules).prop_map(|(preset, rules)| {
        Policy::new(Some(preset), None, rules::parse(rules, Path::new("rules.toml")).unwrap())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn tags_are_injective_valid_prefixed_and_deterministic(tree in random_tree(), policy in random_policy()) {
        let tags = Tags::new(&tree, &policy, TagFormat::Instance);
        let again = Tags::new(&tree, &policy, TagFormat::Instance);
        let mut seen: HashSet<&str> = HashSet::from([&**tags.auxiliary()]);
        for (id, module) in tree.iter() {
            let tag = tags.tag(id);
            prop_assert_eq!(check_tag(tag), Ok(()), "{:?}", tag);
            prop_assert_eq!(tag, again.tag(id));
            if tags.is_visible(id) {
                prop_assert!(seen.insert(tag), "{:?} twice, again at {:?}", tag, module.path);
            } else {
                prop_assert_eq!(tag, tags.tag(tags.owner(id)));
            }
            if let Some(parent) = module.parent {
                let above = tags.tag(tags.owner(parent));
                let rest = tag.strip_prefix(&**above).expect("starts with the tag above");
                prop_assert_eq!(rest.is_empty(), !tags.is_visible(id));
                prop_assert!(rest.is_empty() || (rest.starts_with('/') && rest.matches('/').count() == 1));
            }
        }
    }

    #[test]
    fn the_bare_form_is_valid_and_has_the_same_depth(tree in random_tree(), policy in random_policy()) {
        let instance = Tags::new(&tree, &policy, TagFormat::Instance);
        let class = Tags::new(&tree, &policy, TagFormat::Class);
        for (id, _) in tree.iter() {
            prop_assert_eq!(check_tag(class.tag(id)), Ok(()));
            prop_assert_eq!(class.tag(id).matches('/').count(), instance.tag(id).matches('/').count());
        }
    }
}
