//! The properties, a file each.

mod export;

pub mod documents_read_back;
pub mod external_data_stays_in_the_folder;
pub mod onnx_encode_reads_back;
pub mod onnx_strip_undoes_tag;
pub mod program_json_exports_or_is_refused;
pub mod pt2_container_exports_or_is_refused;
pub mod random_programs_are_valid;
pub mod rules_make_valid_tags;
pub mod safetensors_cover_the_file;
pub mod selectors_choose_or_explain;
pub mod symbolic_text_reads_back;

use crate::Target;

pub static ALL: [&Target; 11] = [
    &pt2_container_exports_or_is_refused::TARGET,
    &program_json_exports_or_is_refused::TARGET,
    &random_programs_are_valid::TARGET,
    &onnx_strip_undoes_tag::TARGET,
    &onnx_encode_reads_back::TARGET,
    &external_data_stays_in_the_folder::TARGET,
    &safetensors_cover_the_file::TARGET,
    &documents_read_back::TARGET,
    &rules_make_valid_tags::TARGET,
    &symbolic_text_reads_back::TARGET,
    &selectors_choose_or_explain::TARGET,
];
