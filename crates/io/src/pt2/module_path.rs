//! Module paths of captures, normalized to the form `layers.0.attention`.

use std::borrow::Cow;
use std::collections::HashMap;

use modelexport_graph::ModuleTree;

/// Number of children of modules whose children are numbered, for slices that count from the end.
pub(super) struct Containers {
    lengths: HashMap<Box<str>, i64>,
}

impl Containers {
    pub fn new(tree: &ModuleTree) -> Self {
        let mut lengths = HashMap::new();
        for (_, module) in tree.iter() {
            if let Some((container, index)) = module.path.rsplit_once('.')
                && let Ok(index) = index.parse::<u32>()
            {
                let length = lengths.entry(Box::from(container)).or_insert(0);
                *length = i64::from(index).saturating_add(1).max(*length);
            }
        }
        Containers { lengths }
    }

    fn length(&self, container: &str) -> i64 {
        self.lengths.get(container).copied().unwrap_or(0)
    }
}

/// `L['self'].layer[0]`, `L['self']._modules['layer'].0`, `getattr(L['self'].layer, '0')` and
/// `layer.slice(None, 2, None).0` are all `layer.0`.
pub(super) fn plain_path(path: &str, containers: &Containers) -> String {
    let path = without_getattr(path);
    let path = without_root(&path);
    let mut parts: Vec<String> = Vec::new();
    let mut slices: Vec<&str> = Vec::new();
    for part in split(path) {
        if part.starts_with("slice(") && part.ends_with(')') {
            slices.push(part);
            continue;
        }
        let container = parts.join(".");
        match part.parse::<i64>() {
            Ok(index) if !slices.is_empty() => {
                match resolve(&slices, index, containers.length(&container)) {
                    Some(index) => parts.push(index.to_string()),
                    None => {
                        parts.extend(slices.iter().map(|slice| (*slice).to_owned()));
                        parts.push(part.to_owned());
                    }
                }
                slices.clear();
            }
            _ => {
                parts.extend(slices.drain(..).map(str::to_owned));
                parts.push(part.to_owned());
            }
        }
    }
    parts.extend(slices.into_iter().map(str::to_owned));
    parts.join(".")
}

/// Deepest nesting of `getattr` in a path.
const MAX_GETATTR: usize = 64;

/// `getattr(a, '0').b` is `a.0.b`.
fn without_getattr(path: &str) -> Cow<'_, str> {
    let mut path = Cow::Borrowed(path);
    for _ in 0..MAX_GETATTR {
        let Some((object, name, rest)) = split_getattr(&path) else { break };
        path = Cow::Owned(format!("{object}.{name}{rest}"));
    }
    path
}

/// Object, attribute and what follows of a path that begins with `getattr(object, 'attribute')`.
fn split_getattr(path: &str) -> Option<(&str, &str, &str)> {
    let call = path.strip_prefix("getattr(")?;
    let mut depth = 0usize;
    let end = call.char_indices().find_map(|(at, character)| {
        match character {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
        None
    })?;
    let (object, name) = call.get(..end)?.rsplit_once(", ")?;
    Some((object, name.trim_matches(['\'', '"']), call.get(end + 1..)?))
}

/// `L['self']` is the root, whatever the model calls its `self`.
fn without_root(path: &str) -> &str {
    path.strip_prefix("L['").and_then(|rest| rest.split_once("']")).map_or(path, |(_, rest)| rest)
}

/// Parts between dots and in square brackets; `_modules` before a bracket says nothing. Dots in round brackets stay.
fn split(path: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut round) = (0, 0usize);
    let mut push = |from: usize, to: usize, bracketed: bool| {
        let part = path.get(from..to).unwrap_or("");
        let part = if bracketed { part.trim_matches(['\'', '"']) } else { part };
        if bracketed && parts.last() == Some(&"_modules") {
            parts.pop();
        }
        if !part.is_empty() {
            parts.push(part);
        }
    };
    for (at, character) in path.char_indices() {
        match character {
            '(' => round += 1,
            ')' => round = round.saturating_sub(1),
            '.' | '[' if round == 0 => {
                push(start, at, false);
                start = at + 1;
            }
            ']' if round == 0 => {
                push(start, at, true);
                start = at + 1;
            }
            _ => {}
        }
    }
    push(start, path.len(), false);
    parts
}

/// The index in the list of `length` that element `index` of its slices has.
fn resolve(slices: &[&str], index: i64, length: i64) -> Option<i64> {
    let mut length = length;
    let mut ranges = Vec::with_capacity(slices.len());
    for slice in slices {
        let (start, step, count) = slice_range(slice, length)?;
        length = count;
        ranges.push((start, step));
    }
    let in_slice = (0..length).contains(&index).then_some(index)?;
    ranges
        .into_iter()
        .rev()
        .try_fold(in_slice, |index, (start, step)| start.checked_add(index.checked_mul(step)?))
}

/// First index, step and number of elements of `slice(start, stop, step)` of a list, as Python has it.
fn slice_range(slice: &str, length: i64) -> Option<(i64, i64, i64)> {
    let inner = slice.strip_prefix("slice(")?.strip_suffix(')')?;
    let mut bounds = inner.split(',').map(|bound| match bound.trim() {
        "None" => Some(None),
        number => number.parse::<i64>().ok().map(Some),
    });
    let (start, stop, step) = (bounds.next()??, bounds.next()??, bounds.next()??);
    let step = step.unwrap_or(1);
    let (lowest, highest) = if step > 0 { (0, length) } else { (-1, length - 1) };
    let clamp = |bound: i64| {
        let from_start = if bound < 0 { bound.saturating_add(length) } else { bound };
        from_start.clamp(lowest, highest.max(lowest))
    };
    let (first, end) = match step {
        0 => return None,
        1.. => (start.map_or(0, clamp), stop.map_or(length, clamp)),
        _ => (start.map_or(length - 1, clamp), stop.map_or(-1, clamp)),
    };
    let span = if step > 0 { end - first } else { first - end };
    let stride = step.checked_abs()?;
    Some((first, step, if span > 0 { (span - 1) / stride + 1 } else { 0 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(path: &str) -> String {
        let mut tree = ModuleTree::new();
        (0..6).for_each(|index| {
            tree.insert(&format!("a.layers.{index}"));
        });
        plain_path(path, &Containers::new(&tree))
    }

    #[test]
    fn spellings_of_captures() {
        for (path, expected) in [
            ("", ""),
            ("L['self']", ""),
            ("a.layers.0.b", "a.layers.0.b"),
            ("L['self'].a.layers[3].b", "a.layers.3.b"),
            ("L['self']._modules['a']._modules['x y'].b", "a.x y.b"),
            ("d.x,y", "d.x,y"),
            ("L['s'].d['x,y'].l", "d.x,y.l"),
            ("getattr(getattr(L['self'].a, '0').b, '1').l", "a.0.b.1.l"),
            ("L['s'].a.layers[slice(1, 3, None)]._modules['0'].l", "a.layers.1.l"),
        ] {
            assert_eq!(plain(path), expected, "{path}");
        }
    }

    /// Expected indices are those of Python's `list(range(6))[...]`.
    #[test]
    fn slices_count_as_in_python() {
        for (path, expected) in [
            ("a.layers.slice(1, 3, None).0.b", "a.layers.1.b"),
            ("a.layers.slice(None, 2, None).1", "a.layers.1"),
            ("a.layers.slice(None, None, 2).2", "a.layers.4"),
            ("a.layers.slice(-2, None, None).1", "a.layers.5"),
            ("a.layers.slice(None, None, -1).0", "a.layers.5"),
            ("a.layers.slice(-1, 2, -2).1", "a.layers.3"),
            ("a.layers.slice(1, None, None).slice(None, None, 2).1", "a.layers.3"),
            ("a.layers.slice(None, 99, None).5", "a.layers.5"),
        ] {
            assert_eq!(plain(path), expected, "{path}");
        }
    }

    #[test]
    fn a_slice_that_does_not_fit_keeps_its_text() {
        for path in [
            "a.layers.slice(1, 3, None).2",
            "a.layers.slice(1, 3, 0).0",
            "a.layers.slice(x).0",
            "b.slice(1, 3, None).0",
        ] {
            assert_eq!(plain(path), path);
        }
    }
}
