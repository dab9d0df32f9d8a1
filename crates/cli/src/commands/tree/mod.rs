//! `modelexport tree`: the modules of a model file.

mod json;
mod text;

use std::path::PathBuf;

use clap::Args;
use modelexport::hierarchy::{self, Loaded};
use modelexport::tags::Tags;
use modelexport::tree_view::{Row, TreeView};

use crate::arguments::{Format, PolicyArguments};
use crate::display::number::counted;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::session::Session;

/// Show the modules of a model with their tags, parameters and nodes
///
/// Reads a program that torch.export.save wrote (.pt2), or an ONNX file whose nodes record their modules: modelexport
/// tagged it, or torch.onnx.export(..., dynamo=True) wrote it.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The .pt2 or .onnx file
    file: PathBuf,

    /// Show modules down to this depth; the root is at 0
    #[arg(long, value_name = "N")]
    depth: Option<usize>,

    /// How to print the tree
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    #[command(flatten)]
    policy: PolicyArguments,
}

const EXAMPLES: &str = "\
Examples:
  modelexport tree model.pt2
  modelexport tree model.pt2 --depth 2
  modelexport tree model.pt2 --modules all              include torch.nn modules in tags
  modelexport tree model.pt2 --torch-nn-exceptions Linear,Conv2d
  modelexport tree model.pt2 --rules rules.toml         preview a rules file
  modelexport tree model.onnx --format json | jq '.modules[] | select(.calls > 1) | .path'";

/// What every format shows.
struct Report<'a> {
    file: &'a std::path::Path,
    loaded: &'a Loaded,
    tags: &'a Tags,
    view: &'a TreeView,
    /// The deepest level to show.
    depth: usize,
}

impl Report<'_> {
    fn shown_rows(&self) -> impl Iterator<Item = &Row> {
        self.view.rows.iter().filter(|row| row.depth <= self.depth)
    }
}

pub fn run(arguments: &Arguments, session: &mut Session) -> Result<ExitStatus, Failure> {
    let loaded = hierarchy::load(&arguments.file)?;
    session.warn_of_sidecar(loaded.sidecar_problem.as_ref());
    for (kind, nodes) in loaded.hierarchy.evidence.iter() {
        session.detail(&format!("{} placed by {}", counted(nodes, "node"), kind.description()));
    }
    let tags = tags(arguments, &loaded, session)?;
    let view = TreeView::new(&loaded.hierarchy, &tags);
    let depth = arguments.depth.unwrap_or(usize::MAX);
    let report = Report { file: &arguments.file, loaded: &loaded, tags: &tags, view: &view, depth };
    match arguments.format {
        Format::Json => json::write(&report, session.out())?,
        Format::Text => {
            let (style, width) = (session.out_style(), session.width());
            text::write(&report, session.out(), style, width)?;
        }
    }
    Ok(ExitStatus::Success)
}

fn tags(arguments: &Arguments, loaded: &Loaded, session: &mut Session) -> Result<Tags, Failure> {
    let (policy, format) = arguments.policy.choice().resolve(loaded.sidecar_policy.as_ref())?;
    match &loaded.hierarchy.tags_only {
        Some(tags) => {
            if arguments.policy.choice().is_given() {
                session.warn("the file has tags but no module paths; tags are shown unchanged");
            }
            Ok(tags.clone())
        }
        None => Ok(Tags::new(&loaded.hierarchy.tree, &policy, format)),
    }
}
