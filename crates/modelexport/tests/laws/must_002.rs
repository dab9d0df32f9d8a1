//! MUST-002: classes of `torch.nn` stay out of tags, but for a list that the user can change.

use modelexport::hierarchy::Hierarchy;
use modelexport::policy::{DEFAULT_TORCH_NN_EXCEPTIONS, Policy, Preset};
use modelexport::rules::Rules;
use modelexport::tags::{TagFormat, Tags};
use modelexport_graph::{Module, ModuleId};

use crate::fixtures;

fn tags(hierarchy: &Hierarchy, preset: Preset, exceptions: Option<&[&str]>) -> Tags {
    let exceptions = exceptions.map(|list| list.iter().map(|&class| class.to_owned()).collect());
    Tags::new(&hierarchy.tree, &Policy::new(Some(preset), exceptions, Rules::default()), TagFormat::Instance)
}

fn is_torch_nn(module: &Module) -> bool {
    module.class.starts_with("torch.nn.")
}

/// Nodes of the captured graph whose tag ends in a module that the policy chose.
fn tagged_operations(hierarchy: &Hierarchy, tags: &Tags) -> u64 {
    let chosen = |(id, _): &(ModuleId, &Module)| tags.is_chosen(tags.owner(*id));
    hierarchy.tree.iter().filter(chosen).map(|(id, _)| hierarchy.own_nodes[id.0 as usize]).sum()
}

#[test]
fn torch_nn_classes_show_only_as_exceptions() {
    for (name, hierarchy) in fixtures::all() {
        for preset in [Preset::Model, Preset::HuggingFace] {
            let tags = tags(&hierarchy, preset, None);
            for (id, module) in hierarchy.tree.iter().filter(|(_, module)| is_torch_nn(module)) {
                let is_exception = DEFAULT_TORCH_NN_EXCEPTIONS.contains(&module.class_name());
                let is_root = id == ModuleId::ROOT;
                assert_eq!(
                    tags.is_visible(id),
                    is_exception || is_root,
                    "{name}, {}: {} ({})",
                    preset.name(),
                    module.path,
                    module.class
                );
            }
        }
    }
}

#[test]
fn every_class_shows_under_the_preset_for_all() {
    for (name, hierarchy) in fixtures::all() {
        let tags = tags(&hierarchy, Preset::All, None);
        for (id, module) in hierarchy.tree.iter().filter(|(_, module)| is_torch_nn(module)) {
            assert!(tags.is_visible(id), "{name}: {} ({})", module.path, module.class);
        }
    }
}

#[test]
fn a_given_list_replaces_the_exceptions() {
    for (name, hierarchy) in fixtures::all() {
        let tags = tags(&hierarchy, Preset::Model, Some(&["Linear"]));
        for (id, module) in hierarchy.tree.iter().filter(|(id, _)| *id != ModuleId::ROOT) {
            if is_torch_nn(module) {
                assert_eq!(tags.is_visible(id), module.class_name() == "Linear", "{name}: {}", module.path);
            }
        }
    }
}

#[test]
fn a_plain_model_has_no_tagged_operation_when_only_hugging_face_shows() {
    let hierarchy = fixtures::hierarchy("plain_linear_relu");
    assert_eq!(tagged_operations(&hierarchy, &tags(&hierarchy, Preset::HuggingFace, None)), 0);
    assert_eq!(tagged_operations(&hierarchy, &tags(&hierarchy, Preset::Model, None)), 0);
    let all = tags(&hierarchy, Preset::All, None);
    assert_eq!(tagged_operations(&hierarchy, &all), hierarchy.attributed_nodes());
}

#[test]
fn norms_and_embeddings_of_a_plain_model_are_tagged_and_its_linear_is_not() {
    let hierarchy = fixtures::hierarchy("norm_embedding");
    let tags = tags(&hierarchy, Preset::HuggingFace, None);
    // Two embeddings and a layer norm, each one operation; the linear layer and the root's own work are not counted.
    assert_eq!(tagged_operations(&hierarchy, &tags), 3);
    let shown: Vec<&str> = hierarchy
        .tree
        .iter()
        .filter(|(id, _)| tags.is_chosen(*id))
        .map(|(_, module)| module.class_name())
        .collect();
    assert_eq!(shown, ["Embedding", "Embedding", "LayerNorm"]);
}

#[test]
fn every_operation_of_a_hugging_face_model_is_tagged() {
    for name in ["bert_tiny", "llama_tiny", "moe_tiny"] {
        let hierarchy = fixtures::hierarchy(name);
        for preset in Preset::ALL {
            let tagged = tagged_operations(&hierarchy, &tags(&hierarchy, preset, None));
            assert_eq!(tagged, hierarchy.attributed_nodes(), "{name}, {}", preset.name());
            assert!(tagged > 50, "{name}: only {tagged} operations");
        }
    }
}
