//! Whether the operators of a graph can come from those of the evidence, by their counts.
//!
//! Tools fold, fuse and share operators, so a graph may have fewer than the model. It cannot have more of those that no tool
//! adds: products, activations, recurrent layers.

use std::collections::{BTreeMap, HashMap};

use modelexport_graph::Name;
use modelexport_lower::foreign_forms::{self, Forms, Token, Trace, is_namesake};

use super::super::align::prepared::Prepared;
use super::super::align::reference::Source;
use super::super::graph::GraphView;
use super::flow::Flow;

/// Operators of one kind: each of `made` in a graph stands for one of `makers` in the model it was made from.
struct Kind {
    made: &'static [&'static str],
    makers: &'static [&'static str],
}

const KINDS: &[Kind] = &[
    Kind { made: PRODUCTS, makers: PRODUCTS },
    Kind { made: &["Relu"], makers: &["Relu", "Clip", "Max", "LeakyRelu", "PRelu"] },
    Kind { made: &["Erf"], makers: &["Erf", "Gelu"] },
    Kind {
        made: &["Gelu", "BiasGelu", "FastGelu"],
        makers: &["Gelu", "BiasGelu", "FastGelu", "Erf", "Tanh"],
    },
    Kind { made: &["Tanh"], makers: &["Tanh", "Gelu", "FastGelu", "Mish"] },
    Kind {
        made: &["Sigmoid", "QuickGelu", "Swish"],
        makers: &["Sigmoid", "QuickGelu", "Swish", "HardSigmoid"],
    },
    Kind { made: &["LeakyRelu"], makers: &["LeakyRelu", "PRelu", "Where"] },
    Kind { made: &["LSTM", "GRU", "RNN", "DynamicQuantizeLSTM"], makers: &["LSTM", "GRU", "RNN"] },
];

const PRODUCTS: &[&str] = &[
    "Conv",
    "ConvInteger",
    "ConvTranspose",
    "DynamicQuantizeMatMul",
    "Einsum",
    "FusedConv",
    "FusedGemm",
    "FusedMatMul",
    "Gemm",
    "MatMul",
    "MatMulInteger",
    "MatMulIntegerToFloat",
    "MatMulNBits",
    "NhwcFusedConv",
    "QGemm",
    "QLinearConv",
    "QLinearMatMul",
    "TransposeMatMul",
];

/// Whether an operator multiplies data by a weight.
pub(crate) fn is_product(operator: &str) -> bool {
    PRODUCTS.contains(&operator)
}

/// What the evidence allows.
#[derive(Debug, Default)]
pub(super) struct Allowed {
    /// By place in [`KINDS`].
    counts: Vec<u64>,
    /// Operators of the model that a graph has to show, with ONNX operators that stand for them.
    required: BTreeMap<Name, Vec<&'static str>>,
    /// Products that a graph has to show.
    products: u64,
    /// Some operator that reads weights may become anything.
    is_unbounded: bool,
    /// Nothing is known of the operators.
    is_open: bool,
}

impl Allowed {
    /// Evidence that tells nothing of operators.
    pub(super) fn anything() -> Self {
        Allowed { is_open: true, ..Allowed::default() }
    }

    /// From ONNX operators and how often they occur.
    pub(super) fn from_operators(operators: &HashMap<Name, u64>) -> Self {
        let count = |names: &[&str]| names.iter().filter_map(|name| operators.get(*name)).sum();
        let counts = KINDS.iter().map(|kind| count(kind.makers)).collect();
        Allowed { counts, products: count(PRODUCTS), ..Allowed::default() }
    }

    /// From the operators of a forward pass.
    pub(super) fn from_run(prepared: &Prepared<'_>) -> Self {
        let mut allowed = Allowed { counts: vec![0; KINDS.len()], ..Allowed::default() };
        let run = prepared.reference;
        let mut most_of: HashMap<u32, Vec<u64>> = HashMap::new();
        for (step, i) in run.steps().iter().zip(0..) {
            let flag = |flags: &[bool]| flags.get(i as usize).copied().unwrap_or(false);
            let Some(forms) = prepared.forms(i) else {
                let target = run.target(step.target).map_or("", |target| target);
                for (count, kind) in allowed.counts.iter_mut().zip(KINDS) {
                    *count += u64::from(kind.makers.iter().any(|maker| is_namesake(target, maker)));
                }
                // A cell of a recurrent layer becomes products and activations.
                allowed.is_unbounded |=
                    run.sources(i).iter().any(|source| matches!(source, Source::Weight(_)));
                continue;
            };
            let target = run.target(step.target).map_or("", |target| target);
            allowed.is_unbounded |= foreign_forms::is_repeated(target);
            let most = most_of
                .entry(step.target.0)
                .or_insert_with(|| KINDS.iter().map(|kind| most(kind, forms)).collect());
            allowed.counts.iter_mut().zip(most).for_each(|(count, most)| *count += *most);
            let may_be_gone = flag(&prepared.is_foldable)
                || flag(&prepared.is_dead)
                || flag(&prepared.is_slight)
                || forms.trace != Trace::Compute;
            if !may_be_gone && prepared.first(i) == i {
                allowed.products += least_products(forms);
            }
            if let Some(target) = run.target(step.target).filter(|_| !may_be_gone) {
                allowed.required.entry(target.clone()).or_insert_with(|| stand_ins(forms));
            }
        }
        allowed
    }

    /// What in `graph` is not allowed, in words. `has_packed`: a tool made one weight of several.
    pub(super) fn violations(&self, graph: &GraphView, flow: &Flow, has_packed: bool) -> Vec<String> {
        let mut found = Vec::new();
        if self.is_open {
            return found;
        }
        let mut counts: HashMap<&str, u64> = HashMap::new();
        let mut is_plain = true;
        for (id, entry) in graph.nodes() {
            is_plain &= graph.text(entry.domain).is_empty() && !HIDING.contains(&graph.text(entry.op_type));
            if !flow.is_fixed(id) {
                *counts.entry(graph.text(entry.op_type)).or_default() += 1;
            }
        }
        for (kind, allowed) in KINDS.iter().zip(&self.counts) {
            let there: u64 = kind.made.iter().filter_map(|operator| counts.get(operator)).sum();
            if there > *allowed && !self.is_unbounded {
                let names: Vec<&str> =
                    kind.made.iter().copied().filter(|operator| counts.contains_key(operator)).collect();
                found.push(format!(
                    "the file has {there} nodes of {}, for which the model has {allowed} operators",
                    names.join(", ")
                ));
            }
        }
        if is_plain {
            let there: u64 = PRODUCTS.iter().filter_map(|operator| counts.get(operator)).sum();
            if there < self.products && !has_packed {
                found.push(format!("the file has {there} products, and the model has {}", self.products));
            }
            for (target, stand_ins) in &self.required {
                if !stand_ins.is_empty() && !stand_ins.iter().any(|operator| counts.contains_key(operator)) {
                    found.push(format!("the file has no counterpart of {target} in the model"));
                }
            }
        }
        found
    }
}

/// Operators that hide others: activations disappear in the ranges of quantised tensors.
const HIDING: &[&str] = &["QuantizeLinear", "Attention"];

/// Most nodes of a kind that one operator becomes.
fn most(kind: &Kind, forms: &Forms) -> u64 {
    let in_form = |form: &Vec<Token>| {
        let stands = |token: &&Token| token.operators.iter().any(|operator| kind.makers.contains(operator));
        form.iter().filter(stands).count() as u64
    };
    forms.forms.iter().map(in_form).max().unwrap_or(0)
}

/// Fewest products that one operator becomes.
fn least_products(forms: &Forms) -> u64 {
    let in_form = |form: &Vec<Token>| {
        let is_one = |token: &&Token| {
            !token.is_optional
                && token.min_tensors <= 2
                && token.operators.iter().all(|name| is_product(name))
        };
        form.iter().filter(is_one).count() as u64
    };
    forms.forms.iter().map(in_form).min().unwrap_or(0)
}

/// Operators that do not vanish by being done on one element, and that nothing else stands for.
const TELLING: &[&str] = &[
    "Attention",
    "CumSum",
    "Elu",
    "Erf",
    "GRU",
    "Gelu",
    "HardSigmoid",
    "HardSwish",
    "LSTM",
    "LeakyRelu",
    "RNN",
    "Relu",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Swish",
    "Tanh",
    "TopK",
];

/// The ONNX operators one of which shows an operator; none if it has a form without such operators.
fn stand_ins(forms: &Forms) -> Vec<&'static str> {
    let telling = |form: &Vec<Token>| -> Vec<&'static str> {
        let required = form.iter().filter(|token| !token.is_optional && token.min_tensors == 0);
        let all = required.filter(|token| token.operators.iter().all(|name| TELLING.contains(name)));
        all.flat_map(|token| token.operators.iter().copied()).collect()
    };
    let found: Vec<Vec<&'static str>> = forms.forms.iter().map(telling).collect();
    match found.iter().any(Vec::is_empty) {
        true => Vec::new(),
        false => found.concat(),
    }
}
