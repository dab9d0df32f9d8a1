//! `strip`: removes the tags of an ONNX file; every other byte stays the same.

use std::path::Path;

use modelexport_graph::onnx::{Attribute, AttributeValue, Node, ValueInfo};
use modelexport_io::onnx::{DocString, GraphVisitor};
use modelexport_io::output::Transaction;
use modelexport_io::source::Sources;
use modelexport_io::{ErrorKind, onnx, sidecar, spliced_file};
use serde::Serialize;

use crate::Error;
use crate::folders::is_beside;
use crate::inputs::{Inputs, Outputs};
use crate::target::Target;
use crate::tensors::external_locations;

/// What a user can choose.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Also take out what other tools noted: torch's entries with their stack traces, and all other metadata.
    pub all_metadata: bool,
    /// Replace the output if it exists.
    pub overwrite: bool,
}

/// What [`strip()`] did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stripped {
    /// The file that was read.
    pub file: String,
    /// The file that was written.
    pub output: String,
    /// Nodes of the file.
    pub nodes: u64,
    /// Nodes that carried tags of modelexport.
    pub tagged_nodes: u64,
    /// Size of the file that was read.
    pub bytes_before: u64,
    /// Size of the file that was written.
    pub bytes_after: u64,
    /// The sidecar that lay beside the output and is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed_sidecar: Option<String>,
    /// Files with weights that the output names but that were not copied, as the output lies in another folder.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weights_elsewhere: Vec<String>,
}

/// Writes `output`: `path` without tags, and without its other metadata if that is wanted. A sidecar beside the output
/// goes too. Weights in other files stay where they are.
///
/// ```
/// use modelexport::Export;
/// use modelexport::strip::{Options, strip};
///
/// # let folder = tempfile::tempdir()?;
/// # let archive = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/bert_tiny/model.pt2");
/// # let (model, plain) = (folder.path().join("bert.onnx"), folder.path().join("plain.onnx"));
/// Export::new(archive, &model).run(&mut ())?;
/// let stripped = strip(&model, &plain, &Options::default())?;
/// assert_eq!(stripped.tagged_nodes, stripped.nodes);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn strip(path: &Path, output: &Path, options: &Options) -> Result<Stripped, Error> {
    let mut inputs = Inputs::in_place();
    inputs.add_model(path);
    let mut transaction = Target::new(output).overwrite(options.overwrite).begin(&inputs)?;
    let mut sources = Sources::new();
    let source = sources.add_file(path)?;
    let bytes_before = sources.len(source).unwrap_or_default();
    let mut counts = Counts::default();
    let model = onnx::read_visiting(&sources, source, &mut counts)?;
    model.functions.iter().for_each(|function| function.for_each_node(&mut |node| counts.add(node)));
    let Counts { nodes, tagged_nodes } = counts;
    let locations = external_locations(&model);
    inputs.add_data(path, &locations);
    inputs.check(&Outputs::of(output, None))?;
    // That of the file that is read stays, unless this file is replaced itself.
    let beside = sidecar::path_beside(output);
    let is_stale = inputs.check(&Outputs::of(output, Some(&beside))).is_ok();
    let mut spliced =
        if options.all_metadata { onnx::clean(&sources, source)? } else { onnx::strip(&sources, source)? };
    let bytes_after = spliced_file::stage(&mut transaction, &mut spliced, source, &sources, &mut |_| ())?;
    let removed_sidecar = if is_stale { remove_sidecar(&mut transaction, &beside)? } else { None };
    transaction.commit()?;
    Ok(Stripped {
        file: path.display().to_string(),
        output: output.display().to_string(),
        nodes,
        tagged_nodes,
        bytes_before,
        bytes_after,
        removed_sidecar,
        weights_elsewhere: if is_beside(path, output) { Vec::new() } else { locations },
    })
}

#[derive(Default)]
struct Counts {
    nodes: u64,
    tagged_nodes: u64,
}

impl Counts {
    fn add(&mut self, node: &Node) {
        self.nodes += 1;
        self.tagged_nodes += u64::from(is_tagged(node));
    }
}

impl GraphVisitor for Counts {
    /// Only nodes that hold tensors are needed once they are counted: these may name files.
    fn node(&mut self, node: &mut Node) -> bool {
        self.add(node);
        node.subgraphs().for_each(|graph| graph.for_each_node(&mut |node| self.add(node)));
        let may_hold_tensors = |attribute: &Attribute| {
            let is_plain = matches!(
                attribute.value,
                AttributeValue::Int(_) | AttributeValue::Ints(_) | AttributeValue::Float(_)
            );
            !is_plain
        };
        node.attributes.iter().any(may_hold_tensors)
    }

    fn value_info(&mut self, _: &ValueInfo) -> bool {
        false
    }
}

/// Whether a node carries our tags.
fn is_tagged(node: &Node) -> bool {
    let has_entry = node.metadata.iter().any(|(key, _)| key.starts_with(onnx::OWN_PREFIX));
    has_entry || DocString::parse(&node.doc_string).is_some()
}

/// A sidecar that tells the tags of what stands at `output` would tell those of the new file. What is not a sidecar stays.
fn remove_sidecar(transaction: &mut Transaction, beside: &Path) -> Result<Option<String>, Error> {
    let removed = match sidecar::read(beside) {
        Ok(_) => Some(beside.display().to_string()),
        Err(error) if error.is_not_found() => None,
        Err(error) if error.kind() == ErrorKind::Io => return Err(error.into()),
        Err(_) => return Ok(None),
    };
    transaction.remove(beside)?;
    Ok(removed)
}
