//! Metadata entries that make it possible to inline the functions of a file again.

use modelexport_graph::onnx::{Metadata, Model};

use super::Error;
use crate::embedding::{self, MODULE, TAG};
use crate::python_repr;
use crate::torch_scopes::{CLASS_HIERARCHY, NAME_SCOPES, NAMESPACE};

/// Of a function: the name of the first call. Marks functions that modelexport made.
pub(super) const FUNCTION: &str = "modelexport.function";
/// Of a function: which numbers in its texts follow which shift, as `numbers that do not:shift`.
pub(super) const SLOTS: &str = "modelexport.slots";
/// Of a call: its shifts.
pub(super) const SHIFTS: &str = "modelexport.shifts";
/// Of a call: texts that shifts do not give.
pub(super) const TEXTS: &str = "modelexport.texts";
/// Of the model: its `ir_version` before.
pub(super) const IR_VERSION: &str = "modelexport.ir_version";
/// Of the model: how many opset imports it had before.
pub(super) const IMPORTS: &str = "modelexport.imports";
/// Of the model: the places of the nodes before, if they differ from those after inlining.
pub(super) const ORDER: &str = "modelexport.order";

/// The texts that name a call: its name, module, tag and stacks. What a call and a function say in the same order.
pub(super) fn patterns(name: &str, operator: &str, metadata: &Metadata) -> Vec<String> {
    let entry = |key: &str| embedding::get(metadata, key).unwrap_or_default();
    let module = entry(MODULE);
    let without = |key: &str, last: String| entry(key).strip_suffix(&last).unwrap_or_default().to_owned();
    let quoted = |text: &str| {
        let mut quoted = String::new();
        python_repr::push_str(&mut quoted, text);
        quoted + "]"
    };
    vec![
        name.to_owned(),
        module.to_owned(),
        entry(TAG).to_owned(),
        without(NAMESPACE, format!("{module}: {operator}")),
        without(CLASS_HIERARCHY, quoted(operator)),
        without(NAME_SCOPES, quoted(module)),
    ]
}

/// `3:1 0:2`: three numbers that never move, one that follows shift 1, one that follows shift 2.
pub(super) fn slots_to_text(followed: &[u32]) -> String {
    let mut entries = Vec::new();
    let mut still = 0;
    for &shift in followed {
        match shift {
            0 => still += 1,
            shift => {
                entries.push(format!("{still}:{shift}"));
                still = 0;
            }
        }
    }
    entries.join(" ")
}

/// The numbers of the templates that follow a shift, `count` numbers in all.
pub(super) fn slots_from_text(text: &str, count: usize, function: &str) -> Result<Vec<u32>, Error> {
    let bad = |reason: &str| Error::BadRecord {
        function: function.to_owned(),
        key: SLOTS,
        reason: reason.to_owned(),
    };
    let mut followed = Vec::new();
    for entry in text.split_ascii_whitespace() {
        let (still, shift) = entry.split_once(':').ok_or_else(|| bad("an entry has no `:`"))?;
        let still: usize = still.parse().map_err(|_| bad("an entry is no number"))?;
        let shift = shift.parse().map_err(|_| bad("an entry is no number"))?;
        if followed.len().saturating_add(still) >= count {
            return Err(bad("there are more entries than numbers"));
        }
        followed.resize(followed.len() + still, 0);
        followed.push(shift);
    }
    followed.resize(count, 0);
    Ok(followed)
}

/// A text that differs from what shifts give: its number, how many bytes at both ends agree, and what stands between.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Correction(pub usize, pub usize, pub usize, pub String);

impl Correction {
    pub(crate) fn new(index: usize, predicted: &str, actual: &str) -> Correction {
        let mut start = 0;
        for ((at, a), b) in predicted.char_indices().zip(actual.chars()) {
            if a != b {
                break;
            }
            start = at + a.len_utf8();
        }
        let (mut predicted, mut between) =
            (predicted.get(start..).unwrap_or_default(), actual.get(start..).unwrap_or_default());
        let mut end = 0;
        while let (Some(a), Some(b)) = (predicted.chars().next_back(), between.chars().next_back()) {
            if a != b {
                break;
            }
            end += a.len_utf8();
            predicted = predicted.get(..predicted.len() - a.len_utf8()).unwrap_or_default();
            between = between.get(..between.len() - a.len_utf8()).unwrap_or_default();
        }
        Correction(index, start, end, between.to_owned())
    }

    /// The right text; `None` if the correction is not one of this text.
    pub(crate) fn apply(&self, predicted: &str) -> Option<String> {
        let Correction(_, start, end, between) = self;
        let tail = predicted.len().checked_sub(*end).filter(|tail| tail >= start)?;
        Some([predicted.get(..*start)?, between, predicted.get(tail..)?].concat())
    }
}

/// `0-5,9,6-8`.
pub(super) fn order_to_text(order: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &at in order {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == at => *last = at,
            _ => ranges.push((at, at)),
        }
    }
    let range = |(first, last): &(usize, usize)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    ranges.iter().map(range).collect::<Vec<_>>().join(",")
}

/// `None` if the text is not an order of `count` things.
pub(super) fn order_from_text(text: &str, count: usize) -> Option<Vec<usize>> {
    let mut order = Vec::with_capacity(count);
    let mut is_seen = vec![false; count];
    for range in text.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        for at in first..=last {
            let seen = is_seen.get_mut(at).filter(|seen| !**seen)?;
            *seen = true;
            order.push(at);
        }
    }
    (order.len() == count).then_some(order)
}

/// Takes an entry out of the model's metadata.
pub(super) fn take(model: &mut Model, key: &str) -> Option<String> {
    let at = model.metadata.iter().position(|(found, _)| found == key)?;
    Some(model.metadata.remove(at).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_read_back() {
        for followed in [vec![], vec![0, 0], vec![1], vec![0, 0, 2, 1, 0, 0, 3, 0]] {
            let text = slots_to_text(&followed);
            assert_eq!(slots_from_text(&text, followed.len(), "f").unwrap(), followed, "{text}");
        }
        for (text, reason) in [
            ("1", "an entry has no `:`"),
            ("x:1", "an entry is no number"),
            ("7:1", "there are more entries than numbers"),
        ] {
            let error = slots_from_text(text, 3, "f").unwrap_err().to_string();
            assert_eq!(
                error,
                format!("function `f`: the entry `modelexport.slots` cannot be read: {reason}")
            );
        }
    }

    #[test]
    fn corrections_keep_what_agrees() {
        for (predicted, actual, between) in
            [("layer.1.x", "layer.12.x", "2"), ("aé", "aè", "è"), ("", "new", "new"), ("aaa", "aa", "")]
        {
            let correction = Correction::new(3, predicted, actual);
            assert_eq!(correction.3, between);
            assert_eq!(correction.apply(predicted).as_deref(), Some(actual));
        }
        assert_eq!(Correction(0, 5, 5, "x".into()).apply("short"), None);
    }

    #[test]
    fn orders_are_read_back() {
        let order = [0, 1, 2, 7, 3, 4, 5, 6];
        assert_eq!(order_to_text(&order), "0-2,7,3-6");
        assert_eq!(order_from_text("0-2,7,3-6", 8).as_deref(), Some(&order[..]));
        for bad in ["0-2", "0-8", "0,0,1-7", "x", "0-99999999999999999999"] {
            assert_eq!(order_from_text(bad, 8), None, "{bad}");
        }
    }
}
