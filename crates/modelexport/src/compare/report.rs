//! The result of a comparison.

use modelexport_graph::Name;
use serde::Serialize;

use crate::tagged_file::TaggedFile;

/// What a difference is about; `--fail-on` names these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// Modules, nodes, attributes, wiring, types, shapes.
    Structure,
    /// Which module a node belongs to, and what is written about it.
    Tags,
    /// The numbers of weights.
    Weights,
}

impl Category {
    /// All categories.
    pub const ALL: [Category; 3] = [Category::Structure, Category::Tags, Category::Weights];

    /// The name in options and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Category::Structure => "structure",
            Category::Tags => "tags",
            Category::Weights => "weights",
        }
    }
}

/// One thing that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// What the difference concerns.
    pub category: Category,
    /// What happened: `node added`, `attribute changed`.
    pub kind: &'static str,
    /// The node, value or weight, by the name that it has now, or had.
    pub subject: String,
    /// What the first file has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// What the second file has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// How many nodes or weights it is about; left out if that is one.
    #[serde(skip_serializing_if = "is_one")]
    pub count: usize,
    /// What it is one of many of, if it is.
    #[serde(skip)]
    pub(super) repeated: Option<Repeated>,
}

fn is_one(count: &usize) -> bool {
    *count == 1
}

/// What may happen to most nodes of a file, and is then said once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Repeated {
    TagsRemoved,
    TagsAdded,
    /// The key of an entry.
    MetadataRemoved(String),
    MetadataAdded(String),
    MetadataChanged(String),
    Renamed,
    DocString,
}

impl Difference {
    /// A difference of `subject`, without values.
    pub fn new(category: Category, kind: &'static str, subject: impl Into<String>) -> Self {
        let subject = subject.into();
        Difference { category, kind, subject, before: None, after: None, count: 1, repeated: None }
    }

    pub(super) fn times(self, count: usize) -> Self {
        Difference { count, ..self }
    }

    /// One of many that are said once.
    pub(super) fn one_of(self, repeated: Option<Repeated>) -> Self {
        Difference { repeated, ..self }
    }

    /// A difference of structure.
    pub fn structure(kind: &'static str, subject: impl Into<String>) -> Self {
        Difference::new(Category::Structure, kind, subject)
    }

    pub(crate) fn from(self, before: impl Into<String>) -> Self {
        Difference { before: Some(before.into()), ..self }
    }

    pub(crate) fn to(self, after: impl Into<String>) -> Self {
        Difference { after: Some(after.into()), ..self }
    }
}

/// Whether a module is in both files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Only in the second file.
    Added,
    /// Only in the first file.
    Removed,
    /// In both files, with differences.
    Changed,
}

/// What differs about one module.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModuleChanges {
    /// The path of the module, empty for the root.
    pub path: Name,
    /// Its class.
    pub class: Name,
    /// Whether the module itself came, went or changed.
    pub status: Status,
    /// What differs in it.
    pub differences: Vec<Difference>,
}

/// How many differences there are of each category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Differences of [`Category::Structure`].
    pub structure: usize,
    /// Differences of [`Category::Tags`].
    pub tags: usize,
    /// Differences of [`Category::Weights`].
    pub weights: usize,
}

impl Summary {
    /// The number of differences of `category`.
    pub fn count(&self, category: Category) -> usize {
        match category {
            Category::Structure => self.structure,
            Category::Tags => self.tags,
            Category::Weights => self.weights,
        }
    }
}

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The first file.
    pub before: String,
    /// The second file.
    pub after: String,
    /// True if there are no differences.
    pub equal: bool,
    /// The number of differences by category.
    pub summary: Summary,
    /// Differences of the model as a whole: versions, inputs and outputs, functions.
    pub model: Vec<Difference>,
    /// In the order of the module tree.
    pub modules: Vec<ModuleChanges>,
}

impl Comparison {
    pub(super) fn new(
        before: &TaggedFile,
        after: &TaggedFile,
        model: Vec<Difference>,
        modules: Vec<ModuleChanges>,
    ) -> Self {
        let mut summary = Summary::default();
        let inner = modules.iter().flat_map(|module| &module.differences);
        for difference in model.iter().chain(inner) {
            match difference.category {
                Category::Structure => summary.structure += 1,
                Category::Tags => summary.tags += 1,
                Category::Weights => summary.weights += 1,
            }
        }
        summary.structure += modules.iter().filter(|module| module.status != Status::Changed).count();
        Comparison {
            before: before.path.display().to_string(),
            after: after.path.display().to_string(),
            equal: summary == Summary::default(),
            summary,
            model,
            modules,
        }
    }
}
