//! The forms of all steps of a reference, one after the other, and the cost of skipping some of them.

use std::collections::HashMap;

use modelexport_lower::foreign_forms::{self, Trace};

use super::foreign::Foreign;
use super::prepared::Prepared;
use super::reference::TargetId;

/// What it costs if nothing stands for a step. A step that computes weighs more than the match of one node gains, so
/// that an alignment does not leave out a step to gain a node.
const SKIP_MOVE: f32 = 0.8;
const SKIP_COMPUTE: f32 = 4.0;
const SKIP_UNKNOWN: f32 = 1.0;
const SKIP_FOLDABLE: f32 = 0.1;
const SKIP_EQUAL: f32 = 0.3;
const SKIP_SLIGHT: f32 = 0.3;
/// Beyond this sum, one more step that is left out costs less: whole parts of a model go missing together.
const DEAR_SKIP: f32 = 16.0;
const CHEAPER: f32 = 0.1;
/// What it costs if a token is missing while others of its step are there.
pub(crate) const SKIP_TOKEN: f32 = 0.6;

/// Number of an ONNX operator in one alignment.
pub(crate) type Operator = u32;

/// All tokens, one step after the other.
#[derive(Debug)]
pub(crate) struct Tokens {
    pub tokens: Vec<Token>,
    /// By step: its first token; one more at the end.
    pub starts: Vec<u32>,
    /// By step and one more: what it costs to leave out all steps before.
    pub skipped: Vec<f64>,
    /// By operator: the tokens that it may stand for, in order.
    pub places: Vec<Vec<u32>>,
    /// The same without those of steps that easily vanish.
    pub firm_places: Vec<Vec<u32>>,
    /// By node of the foreign graph.
    pub operators: Vec<Operator>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub step: u32,
    pub is_optional: bool,
    /// No required token of the step comes after it.
    pub is_last: bool,
}

impl Tokens {
    pub(crate) fn new(prepared: &Prepared<'_>, foreign: &Foreign<'_>) -> Self {
        let mut numbers: HashMap<&str, Operator> = HashMap::new();
        let mut names: Vec<&str> = Vec::new();
        let mut operators = Vec::with_capacity(foreign.nodes.len());
        for node in &foreign.nodes {
            let name = foreign.operator(node);
            let number = *numbers.entry(name).or_insert_with(|| {
                names.push(name);
                names.len() as Operator - 1
            });
            operators.push(number);
        }
        let steps = prepared.reference.len();
        let mut found = Tokens {
            tokens: Vec::with_capacity(steps),
            starts: Vec::with_capacity(steps + 1),
            skipped: Vec::with_capacity(steps + 1),
            places: vec![Vec::new(); names.len()],
            firm_places: vec![Vec::new(); names.len()],
            operators,
        };
        found.skipped.push(0.0);
        let vocabulary = Vocabulary { numbers: &numbers, names: &names };
        let mut patterns: HashMap<(TargetId, usize), Pattern> = HashMap::new();
        for (step, i) in prepared.reference.steps().iter().zip(0..) {
            found.starts.push(found.tokens.len() as u32);
            let tensors = prepared.reference.sources(i).len();
            let pattern = patterns
                .entry((step.target, tensors))
                .or_insert_with(|| vocabulary.pattern(prepared, i, step.target, tensors));
            let cost = skip_cost(prepared, i);
            for (operators, is_optional) in pattern.iter() {
                let place = found.tokens.len() as u32;
                for operator in operators {
                    if let Some(places) = found.places.get_mut(*operator as usize) {
                        places.push(place);
                    }
                    if cost >= SKIP_MOVE
                        && !is_optional
                        && let Some(places) = found.firm_places.get_mut(*operator as usize)
                    {
                        places.push(place);
                    }
                }
                found.tokens.push(Token { step: i, is_optional: *is_optional, is_last: false });
            }
            found.mark_last(i);
            let before = found.skipped.last().copied().unwrap_or(0.0);
            found.skipped.push(before + f64::from(cost));
        }
        found.starts.push(found.tokens.len() as u32);
        found
    }

    /// The tokens of a step, by place.
    pub(crate) fn of(&self, step: u32) -> std::ops::Range<u32> {
        let at = |i: usize| self.starts.get(i).copied().unwrap_or(self.tokens.len() as u32);
        at(step as usize)..at(step as usize + 1)
    }

    pub(crate) fn token(&self, place: u32) -> Option<&Token> {
        self.tokens.get(place as usize)
    }

    /// What it costs if the tokens of one step from `from` up to `to` are missing.
    pub(crate) fn missing(&self, from: u32, to: u32) -> f32 {
        let tokens = self.tokens.get(from as usize..to.max(from) as usize).unwrap_or_default();
        tokens.iter().filter(|token| !token.is_optional).count() as f32 * SKIP_TOKEN
    }

    /// What it costs if nothing stands for the steps from `from` up to `to`.
    pub(crate) fn skip(&self, from: u32, to: u32) -> f32 {
        let at = |i: u32| self.skipped.get(i as usize).copied().unwrap_or(0.0);
        let sum = (at(to) - at(from)).max(0.0) as f32;
        sum.min(DEAR_SKIP) + (sum - DEAR_SKIP).max(0.0) * CHEAPER
    }

    fn mark_last(&mut self, step: u32) {
        for token in self.tokens.iter_mut().rev().take_while(|token| token.step == step) {
            token.is_last = true;
            if !token.is_optional {
                break;
            }
        }
    }
}

/// The tokens of a step: the operators that may stand for each, and whether it may be missing.
type Pattern = Vec<(Vec<Operator>, bool)>;

/// The operators that occur in a graph.
struct Vocabulary<'a> {
    numbers: &'a HashMap<&'a str, Operator>,
    names: &'a [&'a str],
}

impl Vocabulary<'_> {
    /// What stands in this graph for a step of `target` that reads so many tensors.
    fn pattern(&self, prepared: &Prepared<'_>, step: u32, target: TargetId, tensors: usize) -> Pattern {
        let mut pattern: Pattern = match prepared.forms(step) {
            Some(forms) => self
                .chosen(&forms.forms, tensors)
                .iter()
                .filter(|token| tensors >= token.min_tensors)
                .map(|token| {
                    let numbers = token.operators.iter().filter_map(|name| self.numbers.get(name).copied());
                    (numbers.collect(), token.is_optional)
                })
                .collect(),
            None => {
                let target = prepared.reference.target(target).map_or("", |target| &**target);
                let all = self.names.iter().zip(0..);
                let sakes = all.filter(|(name, _)| foreign_forms::is_namesake(target, name));
                vec![(sakes.map(|(_, number)| number).collect(), true)]
            }
        };
        pattern.retain(|(operators, _)| !operators.is_empty());
        pattern
    }

    /// The first form whose required operators all occur, else the last.
    fn chosen<'f>(
        &self,
        forms: &'f [Vec<foreign_forms::Token>],
        tensors: usize,
    ) -> &'f [foreign_forms::Token] {
        let complete = |form: &&Vec<foreign_forms::Token>| {
            form.iter()
                .filter(|token| !token.is_optional && tensors >= token.min_tensors)
                .all(|token| token.operators.iter().any(|name| self.numbers.contains_key(name)))
        };
        forms.iter().find(complete).or(forms.last()).map(Vec::as_slice).unwrap_or_default()
    }
}

fn skip_cost(prepared: &Prepared<'_>, step: u32) -> f32 {
    let i = step as usize;
    let flag = |flags: &[bool]| flags.get(i).copied().unwrap_or(false);
    if prepared.forms(step).is_none() {
        return SKIP_UNKNOWN;
    }
    match prepared.trace(step) {
        Trace::None => 0.0,
        _ if flag(&prepared.is_foldable) || flag(&prepared.is_dead) => SKIP_FOLDABLE,
        _ if prepared.first_equal.get(i).is_some_and(|first| *first != step) => SKIP_EQUAL,
        _ if flag(&prepared.is_slight) => SKIP_SLIGHT,
        Trace::Move => SKIP_MOVE,
        Trace::Compute => SKIP_COMPUTE,
    }
}
