//! The forms of all steps of a reference, one after the other, and what it costs to leave some out.

use std::collections::{HashMap, HashSet};

use modelexport_lower::foreign_forms::{self, Trace};

use super::foreign::Foreign;
use super::reference::Prepared;

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
pub const SKIP_TOKEN: f32 = 0.6;

/// Number of an ONNX operator in one alignment.
pub type Operator = u32;

/// All tokens, one step after the other.
#[derive(Debug)]
pub struct Tokens {
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

#[derive(Clone, Debug)]
pub struct Token {
    pub step: u32,
    pub operators: Vec<Operator>,
    pub is_optional: bool,
    /// No required token of the step comes after it.
    pub is_last: bool,
}

impl Tokens {
    pub fn new(prepared: &Prepared<'_>, foreign: &Foreign<'_, '_>) -> Self {
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
        let present: HashSet<&str> = names.iter().copied().collect();
        let mut found = Tokens {
            tokens: Vec::new(),
            starts: Vec::new(),
            skipped: vec![0.0],
            places: vec![Vec::new(); names.len()],
            firm_places: vec![Vec::new(); names.len()],
            operators,
        };
        for (i, step) in prepared.reference.steps.iter().enumerate() {
            found.starts.push(found.tokens.len() as u32);
            let form = match prepared.forms.get(i).copied().flatten() {
                Some(forms) => {
                    let tensors = step.sources.len();
                    chosen(&forms.forms, &present, tensors)
                        .filter(|token| tensors >= token.min_tensors)
                        .map(|token| {
                            let numbers =
                                token.operators.iter().filter_map(|name| numbers.get(name).copied());
                            (numbers.collect::<Vec<_>>(), token.is_optional)
                        })
                        .collect::<Vec<_>>()
                }
                None => {
                    let sakes = names
                        .iter()
                        .zip(0..)
                        .filter(|(name, _)| foreign_forms::is_namesake(&step.target, name));
                    vec![(sakes.map(|(_, number)| number).collect(), true)]
                }
            };
            let cost = skip_cost(prepared, i as u32);
            for (operators, is_optional) in form {
                if operators.is_empty() {
                    continue;
                }
                let place = found.tokens.len() as u32;
                for operator in &operators {
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
                found.tokens.push(Token { step: i as u32, operators, is_optional, is_last: false });
            }
            found.mark_last(i as u32);
            let before = found.skipped.last().copied().unwrap_or(0.0);
            found.skipped.push(before + f64::from(cost));
        }
        found.starts.push(found.tokens.len() as u32);
        found
    }

    /// The tokens of a step, by place.
    pub fn of(&self, step: u32) -> std::ops::Range<u32> {
        let at = |i: usize| self.starts.get(i).copied().unwrap_or(self.tokens.len() as u32);
        at(step as usize)..at(step as usize + 1)
    }

    pub fn token(&self, place: u32) -> Option<&Token> {
        self.tokens.get(place as usize)
    }

    /// What it costs if the tokens of one step from `from` up to `to` are missing.
    pub fn missing(&self, from: u32, to: u32) -> f32 {
        let tokens = self.tokens.get(from as usize..to.max(from) as usize).unwrap_or_default();
        tokens.iter().filter(|token| !token.is_optional).count() as f32 * SKIP_TOKEN
    }

    /// What it costs if nothing stands for the steps from `from` up to `to`.
    pub fn skip(&self, from: u32, to: u32) -> f32 {
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

/// The first form whose required operators all occur, else the last.
fn chosen<'f>(
    forms: &'f [Vec<foreign_forms::Token>],
    present: &HashSet<&str>,
    tensors: usize,
) -> std::slice::Iter<'f, foreign_forms::Token> {
    let complete = |form: &&Vec<foreign_forms::Token>| {
        form.iter()
            .filter(|token| !token.is_optional && tensors >= token.min_tensors)
            .all(|token| token.operators.iter().any(|name| present.contains(name)))
    };
    forms.iter().find(complete).or(forms.last()).map(Vec::as_slice).unwrap_or_default().iter()
}

fn skip_cost(prepared: &Prepared<'_>, step: u32) -> f32 {
    let i = step as usize;
    let flag = |flags: &[bool]| flags.get(i).copied().unwrap_or(false);
    if prepared.forms.get(i).copied().flatten().is_none() {
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
