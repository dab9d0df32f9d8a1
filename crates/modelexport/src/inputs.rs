//! What an operation reads, so that nothing that it writes takes the place of it.

use std::path::{Path, PathBuf};

use modelexport_io::safetensors;
use modelexport_io::sidecar;
use modelexport_io::source::{FileIdentity, Sources};

use crate::Error;

/// The files that an operation reads, and those that these name.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    files: Vec<Input>,
    /// The model may be replaced by what is made of it, and then its sidecar and its data file, too.
    may_replace_model: bool,
}

#[derive(Debug)]
struct Input {
    path: PathBuf,
    role: Role,
    identity: FileIdentity,
}

/// What a file is to the operation.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Role {
    Program,
    Model,
    Data { model: PathBuf },
    Sidecar { model: PathBuf },
    Evidence,
    Rules,
    Weights,
    Live,
}

/// The files that an operation writes.
pub(crate) struct Outputs<'a> {
    pub(crate) model: &'a Path,
    pub(crate) sidecar: Option<&'a Path>,
    pub(crate) data: Option<&'a Path>,
    pub(crate) others: Vec<&'a Path>,
}

impl Inputs {
    /// For an operation whose result may replace the model that it is made of.
    pub(crate) fn in_place() -> Self {
        Inputs { may_replace_model: true, ..Inputs::default() }
    }

    /// A captured program.
    pub(crate) fn add_program(&mut self, path: &Path) {
        self.add(path, Role::Program);
    }

    /// An ONNX file, with its sidecar if there is one.
    pub(crate) fn add_model(&mut self, path: &Path) {
        self.add(path, Role::Model);
        self.add_sidecar(path);
    }

    /// The data files that an ONNX file names, whether they are there or not.
    pub(crate) fn add_data(&mut self, model: &Path, locations: &[String]) {
        for location in locations {
            self.add(&model.with_file_name(location), Role::Data { model: model.to_owned() });
        }
    }

    /// A file that tells the modules of a model. If it is an ONNX file, it has a sidecar and names data files.
    pub(crate) fn add_evidence(&mut self, path: &Path, locations: &[String]) {
        self.add(path, Role::Evidence);
        self.add_sidecar(path);
        self.add_data(path, locations);
    }

    /// A rules file, if one was given.
    pub(crate) fn add_rules(&mut self, path: Option<&Path>) {
        path.into_iter().for_each(|path| self.add(path, Role::Rules));
    }

    /// Safetensors files: `path` as the user gave it, and what was opened because of it.
    pub(crate) fn add_weights(&mut self, path: &Path, sources: &Sources) {
        self.add(path, Role::Weights);
        self.add(&path.join(safetensors::INDEX_NAME), Role::Weights);
        let opened = sources.iter().filter_map(|(_, source)| source.path());
        opened.for_each(|path| self.add(path, Role::Weights));
    }

    /// A file that a live model is made of.
    pub(crate) fn add_live(&mut self, path: &Path) {
        self.add(path, Role::Live);
    }

    fn add_sidecar(&mut self, model: &Path) {
        let path = sidecar::path_beside(model);
        if path.exists() {
            self.add(&path, Role::Sidecar { model: model.to_owned() });
        }
    }

    fn add(&mut self, path: &Path, role: Role) {
        if !self.files.iter().any(|input| input.path == path && input.role == role) {
            self.files.push(Input { path: path.to_owned(), role, identity: FileIdentity::of(path) });
        }
    }

    /// Refuses outputs that are one of these files, or that are one file, by whatever path or link.
    pub(crate) fn check(&self, outputs: &Outputs<'_>) -> Result<(), Error> {
        let model = FileIdentity::of(outputs.model);
        let is_model = |input: &Input| input.role == Role::Model && input.identity.is_same_entry(&model);
        let in_place = self.files.iter().find(|input| self.may_replace_model && is_model(input));
        let mut seen: Vec<(&Path, FileIdentity)> = Vec::new();
        for (kind, path) in outputs.iter() {
            let identity = FileIdentity::of(path);
            let hits = |input: &&Input| {
                input.identity.is_same_file(&identity)
                    && !in_place.is_some_and(|model| kind.may_replace(&input.role, &model.path))
            };
            if let Some(input) = self.files.iter().find(hits) {
                return Err(Error::OwnInput {
                    output: path.to_owned(),
                    input: input.path.clone(),
                    role: input.role.to_string(),
                });
            }
            if let Some((other, _)) = seen.iter().find(|(_, other)| other.is_same_entry(&identity)) {
                return Err(Error::SameOutput { output: path.to_owned(), other: other.to_path_buf() });
            }
            seen.push((path, identity));
        }
        Ok(())
    }
}

/// What an output is.
#[derive(Clone, Copy)]
enum Kind {
    Model,
    Sidecar,
    Data,
    Other,
}

impl Kind {
    /// Whether it is the new form of an input of this role, where `model` gets a new form itself.
    fn may_replace(self, role: &Role, model: &Path) -> bool {
        match (self, role) {
            (Kind::Model, Role::Model) => true,
            (Kind::Sidecar, Role::Sidecar { model: owner }) | (Kind::Data, Role::Data { model: owner }) => {
                owner == model
            }
            _ => false,
        }
    }
}

impl<'a> Outputs<'a> {
    /// A model and what is written beside it, as far as that is known before the work.
    pub(crate) fn of(model: &'a Path, sidecar: Option<&'a Path>) -> Self {
        Outputs { model, sidecar, data: None, others: Vec::new() }
    }

    fn iter(&self) -> impl Iterator<Item = (Kind, &'a Path)> {
        let beside = [(Kind::Sidecar, self.sidecar), (Kind::Data, self.data)];
        let beside = beside.into_iter().filter_map(|(kind, path)| Some((kind, path?)));
        let others = self.others.iter().map(|path| (Kind::Other, *path));
        std::iter::once((Kind::Model, self.model)).chain(beside).chain(others)
    }
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Role::Program => f.write_str("the program that is read"),
            Role::Model => f.write_str("the model that is read"),
            Role::Data { model } => write!(f, "a data file of {}", model.display()),
            Role::Sidecar { model } => write!(f, "the sidecar of {}", model.display()),
            Role::Evidence => f.write_str("the evidence that is read"),
            Role::Rules => f.write_str("the rules file that is read"),
            Role::Weights => f.write_str("a file that holds weights"),
            Role::Live => f.write_str("a file that the model is made of"),
        }
    }
}
