//! Export PyTorch models to ONNX and keep, on every node, which `nn.Module` instance it came from.
//!
//! An operation is a struct: its fields are what a user can choose, `new` fills in the defaults, and `run` does the
//! work. Outputs appear complete or not at all.
//!
//! | Operation | What it does |
//! |---|---|
//! | [`Export`] | writes a captured program (`.pt2`) as a tagged ONNX file with its sidecar |
//! | [`Tag`] | adds tags to an ONNX file that another exporter wrote |
//! | [`Extract`] | writes a module as a model of its own |
//! | [`Functions`] | turns modules into ONNX local functions, and back |
//! | [`strip`](strip::strip) | removes the tags |
//!
//! A [`TaggedFile`] is a tagged model in memory, whoever tagged it. It tells the module, the call and the tag of every
//! node. Selectors such as `encoder.layer.*` choose modules ([`TaggedFile::select`]).
//!
//! ```
//! use modelexport::{Export, TaggedFile};
//!
//! # let folder = tempfile::tempdir()?;
//! # let output = folder.path().join("bert.onnx");
//! # let archive = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/bert_tiny/model.pt2");
//! Export::new(archive, &output).run(&mut ())?;
//! let file = TaggedFile::open(&output)?;
//! let layers = file.select("encoder.layer.*")?;
//! assert!(!layers.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Target`] says where to write, a [`TagChoice`] which modules show in tags, and an [`Observer`] follows the
//! progress. Everything fails with an [`Error`].
//!
//! | Module | Contents |
//! |---|---|
//! | [`analyze`], [`tree_view`] | nodes, weights and costs, module by module |
//! | [`compare`] | differences between two files, module by module |
//! | [`validate`] | checks of graph, tags and sidecar, and their repair |
//! | [`hierarchy`], [`tagged_file`] | the modules of a file and the nodes that belong to them |
//! | [`policy`], [`rules`], [`tags`] | which modules show in tags, and how tags look |
//! | [`embedding`], [`tagger`] | what is written into nodes and into the sidecar |
//! | [`strategies`], [`strategy_comparison`] | how the modules of untagged nodes are found |
//! | [`weight_places`] | where the weights of a file are |
//! | [`interface`] | names of inputs, outputs and dimensions |
//! | [`diagnosis`], [`summary`], [`json`], [`numbers`] | results as text and as JSON |

#![deny(missing_docs, unreachable_pub)]

pub mod analyze;
mod checksums;
pub mod compare;
mod cut;
mod derived;
pub mod diagnosis;
pub mod embedding;
mod error;
pub mod export;
pub mod extract;
mod folders;
pub mod functions;
pub mod hierarchy;
mod inputs;
pub mod interface;
pub mod json;
mod model_files;
mod node_lines;
pub mod numbers;
mod observer;
mod parameter_counts;
mod pattern;
pub mod policy;
mod python_repr;
pub mod rules;
mod selector;
mod sidecar_file;
pub mod strategies;
pub mod strategy_comparison;
pub mod strip;
pub mod summary;
pub mod tag;
mod tag_choice;
pub mod tagged_file;
pub mod tagger;
pub mod tags;
mod target;
mod tensors;
#[cfg(test)]
mod test_export;
mod torch_scopes;
pub mod tree_view;
pub mod validate;
pub mod weight_places;
mod weights_from;

pub use error::Error;
pub use export::Export;
pub use extract::Extract;
pub use functions::Functions;
pub use observer::{Observer, Step};
pub use tag::Tag;
pub use tag_choice::TagChoice;
pub use tagged_file::TaggedFile;
pub use target::Target;
