//! Runs all strategies that the evidence allows on one model, and measures how far each agrees with the ground truth.
//!
//! The ground truth is the file's own metadata, or the origin by construction if the file was exported here from a captured
//! program. It is removed before a strategy runs, together with all names inside the graph, except for the strategy that
//! reads them.

mod blind;
mod subject;

use std::collections::BTreeMap;
use std::time::Instant;

use modelexport_graph::Name;
use serde::Serialize;

use crate::Error;
use crate::policy::Policy;
use crate::strategies::{Attributions, Evidence, GraphView, Strategy};
use crate::tag::{Choice, attributions, candidates, chosen};
use crate::tags::{TagFormat, Tags};

pub use blind::blind;
pub use subject::{Subject, Truth};

/// What one strategy did.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The name of the strategy.
    pub strategy: &'static str,
    pub(crate) nodes: u64,
    /// Share of nodes that have a module, from 0 to 1.
    pub coverage: f64,
    /// Nodes by method.
    pub by_method: BTreeMap<&'static str, u64>,
    /// How far it agrees with the truth; absent if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agreement: Option<Agreement>,
    /// The time that it took.
    pub seconds: f64,
}

/// Tags against those of the true modules.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Agreement {
    /// Nodes whose module is known for certain.
    pub known: u64,
    /// Nodes with the true tag.
    pub exact: u64,
    /// Nodes whose tag is the true one or that of a module above.
    pub in_chain: u64,
    /// Nodes that the reference places elsewhere.
    pub differing: Vec<Difference>,
}

/// A node with another tag than the true one.
#[derive(Clone, Debug, Serialize)]
pub struct Difference {
    /// The name of the node.
    pub node: Name,
    /// Its operator.
    pub op_type: Name,
    /// The tag that the strategy found.
    pub found: Name,
    /// The tag of the reference.
    pub expected: Name,
    /// How the strategy placed the node.
    pub method: &'static str,
}

/// Runs every strategy that the evidence allows, in the order of [`Strategy::ALL`].
pub fn compare(
    subject: &Subject,
    evidence: &Evidence,
    policy: &Policy,
    format: TagFormat,
) -> Result<Vec<Row>, Error> {
    let tags = match &evidence.tags_only {
        Some(tags) => tags.clone(),
        None => Tags::new(&evidence.modules, policy, format),
    };
    let (whole, blinded) = (GraphView::new(&subject.model), GraphView::new(&blind(&subject.model)));
    let allowed = Strategy::ALL.into_iter().filter(|strategy| strategy.is_allowed_by(evidence));
    let rows = allowed.map(|strategy| {
        let graph = if strategy.reads_names() { &whole } else { &blinded };
        let began = Instant::now();
        let found = attributions(graph, &subject.sources, evidence, strategy, policy)?;
        let seconds = began.elapsed().as_secs_f64();
        Ok(row(strategy, &found, (&whole, subject.truth.as_ref()), evidence, &tags, seconds))
    });
    rows.collect()
}

/// What `tag` takes for the model as it is, with its names.
pub fn recommend(subject: &Subject, evidence: &Evidence, policy: &Policy) -> Result<Choice, Error> {
    let graph = GraphView::new(&subject.model);
    chosen(&graph, &subject.sources, evidence, &candidates(evidence), policy).map(|(_, choice)| choice)
}

fn row(
    strategy: Strategy,
    found: &Attributions,
    (graph, truth): (&GraphView, Option<&Truth>),
    evidence: &Evidence,
    tags: &Tags,
    seconds: f64,
) -> Row {
    let mut by_method = BTreeMap::new();
    for attribution in found {
        *by_method.entry(attribution.method.name()).or_default() += 1;
    }
    let agreement = truth.map(|truth| agreement(found, graph, truth, evidence, tags));
    let nodes = found.len() as u64;
    Row { strategy: strategy.name(), nodes, coverage: 1.0, by_method, agreement, seconds }
}

fn agreement(
    found: &Attributions,
    graph: &GraphView,
    truth: &Truth,
    evidence: &Evidence,
    tags: &Tags,
) -> Agreement {
    let mut agreement = Agreement::default();
    for ((_, entry), (found, path)) in graph.nodes().zip(found.iter().zip(truth)) {
        let module = path.as_ref().and_then(|path| evidence.modules.find(path));
        let Some(expected) = module.map(|module| tags.tag(module)) else { continue };
        let tag = match found.method {
            modelexport_graph::Method::Fallback => tags.auxiliary(),
            _ => tags.tag(evidence.calls().module(found.call)),
        };
        agreement.known += 1;
        let is_above = |tag: &str| expected.strip_prefix(tag).is_some_and(|rest| rest.starts_with('/'));
        agreement.exact += u64::from(tag == expected);
        agreement.in_chain += u64::from(tag == expected || is_above(tag));
        if tag != expected {
            agreement.differing.push(Difference {
                node: graph.text(entry.name).into(),
                op_type: graph.text(entry.op_type).into(),
                found: tag.clone(),
                expected: expected.clone(),
                method: found.method.name(),
            });
        }
    }
    agreement
}
