//! The model that strategies are compared on.

use modelexport_graph::Name;
use modelexport_graph::onnx::Model;
use modelexport_io::pt2::Archive;
use modelexport_io::source::Sources;

use crate::Error;
use crate::hierarchy;
use crate::tag::ForeignFile;

/// The path of the module that each node comes from, in the order of the nodes; `None` where nobody says.
pub type Truth = Vec<Option<Name>>;

/// A model, and what is known for certain.
#[derive(Debug)]
pub struct Subject {
    pub(crate) model: Model,
    pub(crate) sources: Sources,
    /// `None` if nothing tells where any node comes from.
    pub truth: Option<Truth>,
}

impl Subject {
    /// A file of another exporter. What its nodes say of themselves is the truth.
    pub fn from_file(file: ForeignFile, mut model: Model) -> Self {
        let ForeignFile { sources, .. } = file;
        let found = hierarchy::from_onnx(&mut model, None);
        let truth = (!found.evidence.is_empty() && found.tags_only.is_none()).then(|| {
            let path = |scope| found.tree.get(found.scopes.module(scope)).map(|module| module.path.clone());
            truth_of(&model, &path)
        });
        Subject { model, sources, truth }
    }

    /// A captured program, exported here. The origins of the export are the truth.
    pub fn from_program(archive: Archive, path: &std::path::Path) -> Result<Self, Error> {
        let Archive { program, sources } = archive;
        let options = modelexport_lower::Options::default();
        let (model, program) = modelexport_lower::lower(program, &options, &|_| None)
            .map_err(|error| Error::Export { path: path.to_owned(), error })?;
        let path =
            |scope| program.modules.get(program.scopes.module(scope)).map(|module| module.path.clone());
        let truth = truth_of(&model, &path);
        Ok(Subject { model, sources, truth: Some(truth) })
    }
}

fn truth_of(model: &Model, path: &dyn Fn(modelexport_graph::ScopeId) -> Option<Name>) -> Truth {
    let mut truth = Vec::new();
    model.for_each_node(&mut |node| truth.push(node.origin.as_ref().and_then(|origin| path(origin.scope))));
    truth
}
