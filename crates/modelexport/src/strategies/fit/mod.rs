//! How well evidence and graph fit: whether the evidence is of the model that the graph was made from.
//!
//! Both directions count. What the evidence has must be in the graph: parameters that nothing folds or merges, the
//! model's outputs. What the graph has must be in the evidence: weights, modules that names and metadata tell, and
//! operators. What a tool may have done to a graph is no contradiction; one thing that no tool does is.

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

use super::parameters::LEAST_ELEMENTS;
use super::{Attributions, Context};
use accounts::{Accounts, Found, beginning};
pub(super) use census::is_product;
use expected::Expected;
use flow::Flow;
use held::held;
use modules::Claims;

/// Below this evidence is refused.
pub const THRESHOLD: f64 = 0.75;

/// Domain of onnxruntime's operators over channels in blocks, for which it pads filters.
const BLOCKED_CHANNELS: &str = "com.microsoft.nchwc";

/// Most contradictions that are told.
const MAX_TOLD: usize = 8;

/// Measures how well the evidence of `context` fits its graph, whose nodes were placed by it.
pub fn measure(context: &Context<'_>, placed: &Attributions) -> Fit {
    let Context { graph, evidence, anchors, .. } = *context;
    let expected = Expected::new(evidence);
    let flow = Flow::new(graph);
    let held = held(graph, &flow);
    let accounts = Accounts::new(graph, evidence, anchors, &expected, &held);
    let mut told = Contradictions::default();
    // A padded filter has no size by which a list of modules could tell it.
    let are_filters_blurred = evidence.run.is_none()
        && evidence.original.as_ref().is_none_or(|original| original.graph.is_none())
        && graph.nodes().any(|(_, entry)| graph.text(entry.domain) == BLOCKED_CHANNELS);
    // A file that is its own evidence need not account for its weights.
    let is_itself = evidence.run.is_none() && evidence.original.is_none() && evidence.policy.is_none();

    for (at, tensor) in &accounts.resized {
        let (Some(one), Some(known)) = (held.get(*at), expected.tensors.get(*tensor as usize)) else {
            continue;
        };
        told.add(format!(
            "the parameter {} has {} elements in the file and {} in the evidence",
            known.name, one.elements, known.elements
        ));
    }
    let used = expected.tensors.iter().zip(&accounts.found).filter(|(tensor, _)| tensor.is_used);
    let mut parameters = FitParameters::default();
    let (mut same_content, mut same_shape) = (0u64, 0u64);
    for (tensor, found) in used {
        parameters.total += 1;
        same_content += u64::from(tensor.is_firm && *found == Some(Found::Content));
        same_shape += u64::from(tensor.is_firm && *found == Some(Found::Shape));
        match found {
            Some(Found::Name) => parameters.by_name += 1,
            Some(Found::Content) => parameters.by_content += 1,
            Some(Found::Shape) => parameters.by_shape += 1,
            Some(Found::Piece) => parameters.by_piece += 1,
            None if tensor.is_firm && !are_filters_blurred => {
                parameters.missing += 1;
                told.add(format!(
                    "the file does not have the parameter {}{}",
                    tensor.name,
                    size_text(tensor.dims.as_deref())
                ));
            }
            None => parameters.folded += 1,
        }
    }
    parameters.found = parameters.by_name + parameters.by_content + parameters.by_shape + parameters.by_piece;
    // Another training has other contents, but its file has the names.
    if parameters.by_name == 0 && evidence.run.is_some() && same_shape > same_content {
        told.add(format!(
            "no parameter has its name in the file, and of {} weights only {same_content} have their content",
            same_content + same_shape
        ));
    }
    for (one, is_explained) in held.iter().zip(&accounts.is_explained) {
        let is_blurred = are_filters_blurred && one.rank > 2;
        if one.uses.is_weight()
            && !is_blurred
            && one.is_number()
            && !is_explained
            && one.elements >= LEAST_ELEMENTS
            && !is_itself
        {
            parameters.unexplained += 1;
            let size = size_text(Some(&one.dims));
            told.add(format!("the evidence does not have the weight {}{size}", graph.value_name(one.value)));
        }
    }
    for one in held.iter().filter(|one| one.is_initializer && one.is_number() && !is_itself) {
        let name = graph.value_name(one.value);
        let is_known =
            || expected.find(name, evidence).or_else(|| beginning(name, &expected, evidence)).is_some();
        if let Some(module) = modules::unknown_owner(name, evidence).filter(|_| !is_known()) {
            let known = evidence.modules.find(module);
            let lacks = known.map_or("has no module", |_| "has no parameters in the module");
            told.add(format!("the file has the parameter {name}, and the evidence {lacks} {module}"));
        }
    }
    for reason in uses::differing(&expected, &held, &accounts) {
        told.add(reason);
    }
    let (_, turned) = order::turned(graph, &expected, &held, &accounts);
    for (earlier, later) in &turned {
        let name = |number: u32| expected.tensors.get(number as usize).map_or("", |tensor| &*tensor.name);
        told.add(format!("the file uses {} before {}, and the model after it", name(*earlier), name(*later)));
    }
    let violations = expected.operators.violations(graph, &flow, parameters.by_piece > 0);
    violations.into_iter().for_each(|reason| told.add(reason));
    let claims = Claims::new(context);
    for path in &claims.unknown {
        told.add(format!("the file names the module {path}, which the evidence does not have"));
    }
    for (path, here, there) in &claims.reclassed {
        told.add(format!("the module {path:?} is a {here} in the file and a {there} in the evidence"));
    }
    let ranks: Vec<Option<usize>> =
        graph.main_outputs().map(|value| graph.fact(value?).map(|fact| fact.sizes.len())).collect();
    let mut interface = FitInterface { outputs: ranks.len() as u64, expected_outputs: None, agrees: true };
    if let Some(outputs) = &expected.outputs {
        interface.expected_outputs = Some(outputs.len() as u64);
        let differs = |(a, b): (&Option<usize>, &Option<usize>)| a.is_some() && b.is_some() && a != b;
        interface.agrees = outputs.len() == ranks.len() && !outputs.iter().zip(&ranks).any(differs);
        if !interface.agrees {
            let text = |ranks: &[Option<usize>]| -> String {
                let rank = |rank: &Option<usize>| rank.map_or("?".to_owned(), |rank| rank.to_string());
                ranks.iter().map(rank).collect::<Vec<_>>().join(", ")
            };
            told.add(format!(
                "the file has outputs of rank {}, and the model of {}",
                text(&ranks),
                text(outputs)
            ));
        }
    }
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
