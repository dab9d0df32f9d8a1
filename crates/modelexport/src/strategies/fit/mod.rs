//! How well the evidence fits the graph: whether it belongs to the model that the graph was made from.
//!
//! Both directions are checked. The contents of the evidence must be in the graph: parameters that no tool folds or merges,
//! and the model's outputs. The contents of the graph must be in the evidence: weights, modules in names and metadata, and
//! operators. A difference that a tool can cause is not a contradiction; any other difference is.

mod accounts;
mod census;
mod expected;
mod flow;
mod held;
mod modules;
mod order;
mod pieces;
mod uses;

use modelexport_io::sidecar::{Fit, FitInterface, FitOperators, FitParameters};

use super::graph::{GraphView, ValueId};
use super::parameters::LEAST_ELEMENTS;
use super::{Attributions, Context, Evidence};
use accounts::{MatchKind, TensorMatches, beginning};
pub(super) use census::is_product;
use expected::Expected;
use flow::Flow;
use held::{GraphConstant, held};
use modules::Claims;

/// Below this evidence is refused.
pub(crate) const THRESHOLD: f64 = 0.75;

/// Domain of onnxruntime's operators over channels in blocks, for which it pads filters.
const BLOCKED_CHANNELS: &str = "com.microsoft.nchwc";

/// Most contradictions that are told.
const MAX_TOLD: usize = 8;

/// Measures how well the evidence of `context` fits its graph, whose nodes were placed by it.
pub(crate) fn measure(context: &Context<'_>, placed: &Attributions) -> Fit {
    let Context { graph, evidence, anchors, .. } = *context;
    let (expected, flow) = (Expected::new(evidence), Flow::new(graph));
    let held = held(graph, &flow);
    let accounts = TensorMatches::new(graph, evidence, anchors, &expected, &held);
    let comparison = Comparison { graph, evidence, expected: &expected, held: &held, accounts: &accounts };
    let mut told = Contradictions::default();
    let parameters = comparison.parameters(&mut told);
    comparison.names(&mut told);
    uses::differing(&expected, &held, &accounts).into_iter().for_each(|reason| told.add(reason));
    comparison.order(&mut told);
    let violations = expected.operators.violations(graph, &flow, parameters.by_piece > 0);
    violations.into_iter().for_each(|reason| told.add(reason));
    Claims::new(context).contradictions().for_each(|reason| told.add(reason));
    let interface = comparison.interface(&mut told);
    let operators = FitOperators {
        aligned: placed.iter().filter(|place| place.method.is_evidence()).count() as u64,
        total: placed.len() as u64,
    };
    let share = |found: u64, total: u64| if total == 0 { 1.0 } else { found as f64 / total as f64 };
    let score = share(parameters.found + parameters.folded, parameters.total) / (1.0 + told.count as f64);
    Fit {
        score,
        threshold: THRESHOLD,
        forced: false,
        parameters,
        operators,
        interface,
        contradictions: told.count,
        reasons: told.reasons,
    }
}

/// What the evidence expects, and what the graph holds.
struct Comparison<'a> {
    graph: &'a GraphView,
    evidence: &'a Evidence,
    expected: &'a Expected,
    held: &'a [GraphConstant],
    accounts: &'a TensorMatches,
}

impl Comparison<'_> {
    /// A file that is its own evidence need not account for its weights.
    fn is_itself(&self) -> bool {
        let Evidence { run, original, policy, .. } = self.evidence;
        run.is_none() && original.is_none() && policy.is_none()
    }

    /// A padded filter has no size by which a list of modules could tell it.
    fn are_filters_blurred(&self) -> bool {
        let original = self.evidence.original.as_ref();
        self.evidence.run.is_none()
            && original.is_none_or(|original| original.graph.is_none())
            && self.graph.nodes().any(|(_, entry)| self.graph.text(entry.domain) == BLOCKED_CHANNELS)
    }

    /// Parameters of the evidence in the graph, and weights of the graph in the evidence.
    fn parameters(&self, told: &mut Contradictions) -> FitParameters {
        let Comparison { graph, expected, held, accounts, .. } = self;
        for (at, tensor) in &accounts.resized {
            if let (Some(one), Some(known)) = (held.get(*at), expected.tensors.get(*tensor as usize)) {
                let (here, there) = (one.elements, known.elements);
                let name = &known.name;
                told.add(format!(
                    "the parameter {name} has {here} elements in the file and {there} in the evidence"
                ));
            }
        }
        let are_filters_blurred = self.are_filters_blurred();
        let mut parameters = FitParameters::default();
        let used = expected.tensors.iter().zip(&accounts.found).filter(|(tensor, _)| tensor.is_used);
        let (mut same_content, mut same_shape) = (0u64, 0u64);
        for (tensor, found) in used {
            parameters.total += 1;
            same_content += u64::from(tensor.is_firm && *found == Some(MatchKind::Content));
            same_shape += u64::from(tensor.is_firm && *found == Some(MatchKind::Shape));
            match found {
                Some(MatchKind::Name) => parameters.by_name += 1,
                Some(MatchKind::Content) => parameters.by_content += 1,
                Some(MatchKind::Shape) => parameters.by_shape += 1,
                Some(MatchKind::Piece) => parameters.by_piece += 1,
                None if tensor.is_firm && !are_filters_blurred => {
                    parameters.missing += 1;
                    let size = size_text(tensor.dims.as_deref());
                    told.add(format!("the file does not have the parameter {}{size}", tensor.name));
                }
                None => parameters.folded += 1,
            }
        }
        parameters.found =
            parameters.by_name + parameters.by_content + parameters.by_shape + parameters.by_piece;
        // Another training has other contents, but its file has the names; a weight has another content where others
        // were folded into it.
        let is_nameless = parameters.by_name == 0 && self.evidence.run.is_some();
        if is_nameless && same_shape > same_content && same_shape > parameters.folded {
            let weights = same_content + same_shape;
            told.add(format!(
                "no parameter is found by name, and only {same_content} of {weights} weights by content"
            ));
        }
        let unexplained = held.iter().zip(&accounts.is_explained).filter(|(_, explained)| !**explained);
        for (one, _) in unexplained.filter(|_| !self.is_itself()) {
            let is_blurred = are_filters_blurred && one.rank > 2;
            let is_weight = one.uses.is_weight() && one.is_number() && one.elements >= LEAST_ELEMENTS;
            if is_weight && !is_blurred {
                parameters.unexplained += 1;
                let size = size_text(Some(&one.dims));
                told.add(format!(
                    "the evidence does not have the weight {}{size}",
                    graph.value_name(one.value)
                ));
            }
        }
        parameters
    }

    /// Parameters of the graph whose names are below modules that the evidence does not have.
    fn names(&self, told: &mut Contradictions) {
        let Comparison { graph, evidence, expected, held, .. } = self;
        for one in held.iter().filter(|one| one.is_initializer && one.is_number() && !self.is_itself()) {
            let name = graph.value_name(one.value);
            let is_known =
                || expected.find(name, evidence).or_else(|| beginning(name, expected, evidence)).is_some();
            if let Some(module) = modules::unknown_owner(name, evidence).filter(|_| !is_known()) {
                let is_there = evidence.modules.find(module).is_some();
                let lacks = if is_there { "has no parameters in the module" } else { "has no module" };
                told.add(format!("the file has the parameter {name}, and the evidence {lacks} {module}"));
            }
        }
    }

    fn order(&self, told: &mut Contradictions) {
        let Comparison { graph, expected, held, accounts, .. } = self;
        let name = |number: u32| expected.tensors.get(number as usize).map_or("", |tensor| &*tensor.name);
        for (earlier, later) in order::turned(graph, expected, held, accounts) {
            told.add(format!(
                "the file uses {} before {}, and the model after it",
                name(earlier),
                name(later)
            ));
        }
    }

    fn interface(&self, told: &mut Contradictions) -> FitInterface {
        let graph = self.graph;
        let rank = |value: Option<ValueId>| graph.fact(value?).map(|fact| fact.sizes.len());
        let ranks: Vec<Option<usize>> = graph.main_outputs().map(rank).collect();
        let mut interface =
            FitInterface { outputs: ranks.len() as u64, expected_outputs: None, agrees: true };
        let Some(outputs) = &self.expected.outputs else { return interface };
        interface.expected_outputs = Some(outputs.len() as u64);
        let differs = |(a, b): (&Option<usize>, &Option<usize>)| a.is_some() && b.is_some() && a != b;
        interface.agrees = outputs.len() == ranks.len() && !outputs.iter().zip(&ranks).any(differs);
        if !interface.agrees {
            let text = |ranks: &[Option<usize>]| -> String {
                let rank = |rank: &Option<usize>| rank.map_or("?".to_owned(), |rank| rank.to_string());
                ranks.iter().map(rank).collect::<Vec<_>>().join(", ")
            };
            let (here, there) = (text(&ranks), text(outputs));
            told.add(format!("the file has outputs of rank {here}, and the model of {there}"));
        }
        interface
    }
}

/// ` of 32 × 64`, the smallest first.
fn size_text(dims: Option<&[u64]>) -> String {
    let sizes: Vec<String> = dims.unwrap_or_default().iter().map(u64::to_string).collect();
    if sizes.is_empty() { String::new() } else { format!(" of {}", sizes.join(" × ")) }
}

#[derive(Default)]
struct Contradictions {
    count: u64,
    reasons: Vec<String>,
}

impl Contradictions {
    fn add(&mut self, reason: String) {
        self.count += 1;
        if self.reasons.len() < MAX_TOLD {
            self.reasons.push(reason);
        }
    }
}

#[cfg(test)]
mod tests;
