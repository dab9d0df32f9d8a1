//! The JSON of a large program, read by two threads that never hold it as a whole.
//!
//! Most of the text is one list, the nodes of the outermost graph, and the tables behind it. Some way into the text a
//! place is taken that looks like the start of a node. One thread reads from the front up to there; the other reads
//! from there to the end, as if that were the next node of the list. It is if the first thread comes to that very place
//! when it wants the next node of the list. Wherever something is not as expected the answer is `None`: then the text is
//! read in one piece from front to back, and what is wrong with it is found out there.
//!
//! Nodes are kept in the form that they have in the end, but for the numbers that they know values by. `join` gives them
//! the right ones, when the tables are known. The other members are few and are kept as they stand.
//!
//! Nesting is counted from each node on, and so is bounded as for the whole text, but for the four levels around it.

use std::collections::BTreeMap;

use modelexport_graph::aten::Node;
use rawzip::ReaderAt;
use serde::Deserialize;

use super::json::Text;
use super::name_ids::NameIds;
use super::node_name::known_name;
use super::quick_node::{self, Texts, Words};
use super::schema;
use super::window::{Window, joined_checksum};

/// Shorter texts are read in one go.
pub(super) const LONG: u64 = 4 << 20;

/// How torch begins a node.
const NODE_START: &[u8] = b"{\"target\":";

/// Where the second thread begins, of five parts: nodes give more to do than the tables behind them.
const MIDDLE: u64 = 2;

/// How far a node is looked for, and how many bytes at once.
const SEARCH: u64 = 4 << 20;
const SEARCH_STEP: usize = 16 << 10;

/// Members that are kept as they stand.
const OF_PROGRAM: &[&str] = &["range_constraints", "schema_version", "torch_version"];
const OF_MODULE: &[&str] = &["signature", "module_call_graph", "treespec_namedtuple_fields"];
const OF_GRAPH: &[&str] = &[
    "inputs",
    "outputs",
    "sym_int_values",
    "sym_bool_values",
    "is_single_tensor_return",
    "custom_obj_values",
    "sym_float_values",
];

/// After so many nodes it is known how long they are.
const SOME_NODES: usize = 1024;

/// Where the text of a program lies.
pub(super) struct Place<'r, R: ?Sized> {
    pub reader: &'r R,
    pub start: u64,
    pub length: u64,
    /// What the text must come to.
    pub checksum: Option<u32>,
}

/// What each of the threads read.
pub(super) struct Halves(pub [Half; 2]);

/// The part of a program that one thread met.
#[derive(Default)]
pub(super) struct Half {
    pub kept: Kept,
    pub nodes: Nodes,
}

/// What is looked at as it is.
#[derive(Default)]
pub(super) struct Kept {
    members: BTreeMap<&'static str, String>,
    /// Members that were entered.
    entered: Vec<&'static str>,
    /// JSON of tensors' metadata.
    pub metas: Texts,
    /// `nn_module_stack` and JSON of `stack_trace`, by the numbers that nodes have for them.
    pub stacks: Texts,
    pub traces: Texts,
    /// Nodes that are not understood yet: their place in the list, and their JSON.
    pub later: Vec<(usize, String)>,
}

/// What becomes the graph.
#[derive(Default)]
pub(super) struct Nodes {
    pub names: NameIds,
    pub list: Vec<Node>,
    /// The name of each node.
    pub node_names: Vec<u32>,
    /// Name and metadata of each tensor.
    pub tensors: Vec<(u32, u32)>,
}

impl Halves {
    /// A member that is there, or `Some(None)` if none of the halves has it.
    pub fn member<'a, T: Deserialize<'a>>(kept: [&'a Kept; 2], key: &str) -> Option<Option<T>> {
        match kept.map(|kept| kept.members.get(key)) {
            [Some(_), Some(_)] => None,
            [a, b] => a.or(b).map_or(Some(None), |text| serde_json::from_str(text).ok().map(Some)),
        }
    }
}

/// The program at `place`.
pub(super) fn read<R: ReaderAt + Sync + ?Sized>(place: &Place<'_, R>) -> Option<Halves> {
    if place.length < LONG {
        return None;
    }
    read_from(place, place.length / 5 * MIDDLE)
}

/// The same with the second thread at the first place from `middle` on where a node may start.
pub(super) fn read_from<R: ReaderAt + Sync + ?Sized>(place: &Place<'_, R>, middle: u64) -> Option<Halves> {
    let end = place.start.checked_add(place.length)?;
    let middle = find_node(place.reader, place.start.checked_add(middle)?, end)?;
    let ((before, first), (behind, second)) = std::thread::scope(|threads| {
        let behind = threads.spawn(|| Half::behind(Window::new(place.reader, middle, end)));
        let before = Half::before(Window::new(place.reader, place.start, middle), end - middle);
        let behind = behind.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Some((before?, behind?))
    })?;
    let checksum = joined_checksum(first, second, end - middle);
    let is_twice = before.kept.entered.contains(&TENSORS) && behind.kept.entered.contains(&TENSORS);
    let is_right = !is_twice && place.checksum.is_none_or(|expected| expected == checksum);
    is_right.then_some(Halves([before, behind]))
}

/// Where a node may start, from `from` on.
fn find_node<R: ReaderAt + ?Sized>(reader: &R, from: u64, end: u64) -> Option<u64> {
    let mut bytes = vec![0; SEARCH_STEP];
    let mut at = from;
    while at < end && at - from < SEARCH {
        let length = usize::try_from(end - at).map_or(SEARCH_STEP, |left| left.min(SEARCH_STEP));
        let bytes = bytes.get_mut(..length)?;
        reader.read_exact_at(bytes, at).ok()?;
        if let Some(found) = bytes.windows(NODE_START.len()).position(|window| window == NODE_START) {
            return Some(at + found as u64);
        }
        // A start may be cut in two.
        at += (length + 1).saturating_sub(NODE_START.len()).max(1) as u64;
    }
    None
}

const MODULE: &str = "graph_module";
const GRAPH: &str = "graph";
const NODES: &str = "nodes";
const TENSORS: &str = "tensor_values";

/// How reading went on.
#[derive(PartialEq, Eq)]
enum Reached {
    /// The end of what was read.
    End,
    /// The place where the other thread began.
    Other,
}

/// A half that is read, with its checksum.
type Read = (Half, u32);

impl Half {
    /// From the front to the node where the window ends.
    ///
    /// `behind`: how long the other half is, whose nodes come into the same list in the end.
    fn before<R: ReaderAt + ?Sized>(mut window: Window<'_, R>, behind: u64) -> Option<Read> {
        let mut reading = Reading { behind, ..Reading::default() };
        window.take(b'{')?;
        let reached = members(&mut window, true, &mut |key, window| reading.of_program(key, window))?;
        (reached == Reached::Other).then(|| (reading.finish(), window.checksum()))
    }

    /// From a node to the end.
    fn behind<R: ReaderAt + ?Sized>(mut window: Window<'_, R>) -> Option<Read> {
        let mut reading = Reading::default();
        for member in [MODULE, GRAPH, NODES] {
            reading.enter(member)?;
        }
        let mut reached = vec![reading.read_nodes(&mut window)?];
        reached.push(members(&mut window, false, &mut |key, window| reading.of_graph(key, window))?);
        reached.push(members(&mut window, false, &mut |key, window| reading.of_module(key, window))?);
        reached.push(members(&mut window, false, &mut |key, window| reading.of_program(key, window))?);
        let is_whole = window.peek().is_none() && window.is_at_end() && !reached.contains(&Reached::Other);
        is_whole.then(|| (reading.finish(), window.checksum()))
    }
}

/// A half that is being read.
#[derive(Default)]
struct Reading {
    half: Half,
    words: Words,
    /// Bytes of the other half, if it comes behind this one.
    behind: u64,
}

impl Reading {
    fn finish(self) -> Half {
        let Reading { mut half, words, .. } = self;
        half.nodes.names = words.names;
        half.kept.stacks = words.stacks;
        half.kept.traces = words.traces;
        half
    }

    /// Notes a member that may be there only once.
    fn enter(&mut self, member: &'static str) -> Option<()> {
        let entered = &mut self.half.kept.entered;
        if entered.contains(&member) {
            return None;
        }
        entered.push(member);
        Some(())
    }

    fn of_program<R: ReaderAt + ?Sized>(&mut self, key: &str, window: &mut Window<'_, R>) -> Option<Reached> {
        if key != MODULE {
            return self.keep(key, OF_PROGRAM, window);
        }
        self.enter(MODULE)?;
        window.take(b'{')?;
        members(window, true, &mut |key, window| self.of_module(key, window))
    }

    fn of_module<R: ReaderAt + ?Sized>(&mut self, key: &str, window: &mut Window<'_, R>) -> Option<Reached> {
        if key != GRAPH {
            return self.keep(key, OF_MODULE, window);
        }
        self.enter(GRAPH)?;
        window.take(b'{')?;
        members(window, true, &mut |key, window| self.of_graph(key, window))
    }

    fn of_graph<R: ReaderAt + ?Sized>(&mut self, key: &str, window: &mut Window<'_, R>) -> Option<Reached> {
        match key {
            NODES => {
                self.enter(NODES)?;
                window.take(b'[')?;
                self.read_nodes(window)
            }
            TENSORS => {
                self.enter(TENSORS)?;
                window.take(b'{')?;
                members(window, true, &mut |name, window| self.read_tensor(name, window))
            }
            _ => self.keep(key, OF_GRAPH, window),
        }
    }

    /// Keeps a member as it stands if it is one of those that are wanted.
    fn keep<R: ReaderAt + ?Sized>(
        &mut self,
        key: &str,
        wanted: &[&'static str],
        window: &mut Window<'_, R>,
    ) -> Option<Reached> {
        match wanted.iter().find(|wanted| **wanted == key) {
            None => window.ignore()?,
            Some(key) => {
                let text = window.pass(str::to_owned)?;
                if self.half.kept.members.insert(key, text).is_some() {
                    return None;
                }
            }
        }
        Some(Reached::End)
    }

    /// Nodes from here to the end of their list, of which there is at least one.
    fn read_nodes<R: ReaderAt + ?Sized>(&mut self, window: &mut Window<'_, R>) -> Option<Reached> {
        let begin = window.left();
        loop {
            if window.peek().is_none() {
                return window.is_at_end().then_some(Reached::Other);
            }
            self.read_node(window)?;
            if self.half.nodes.list.len() == SOME_NODES {
                // What is too much is room that is never touched.
                let length = begin.saturating_sub(window.left()) / SOME_NODES as u64;
                let left = window.left().saturating_add(self.behind);
                let more = usize::try_from(left / length.max(1)).ok()?;
                self.half.nodes.list.reserve(more);
                self.half.nodes.node_names.reserve(more);
            }
            if window.take(b',').is_none() {
                return window.take(b']').map(|()| Reached::End);
            }
        }
    }

    fn read_node<R: ReaderAt + ?Sized>(&mut self, window: &mut Window<'_, R>) -> Option<()> {
        let Reading { half, words, .. } = self;
        loop {
            let read = window.value::<schema::Node<'_>>()?.map(|(raw, text)| {
                let name = known_name(&raw)?.to_owned();
                let (node, name) = match quick_node::read(raw, &name, words) {
                    Some(read) => read,
                    None => {
                        half.kept.later.push((half.nodes.list.len(), text.to_owned()));
                        (quick_node::unknown(), words.name(&name))
                    }
                };
                half.nodes.list.push(node);
                half.nodes.node_names.push(name);
                Some(text.len())
            });
            match read {
                Some(length) => {
                    window.skip(length?);
                    return Some(());
                }
                None => window.grow()?,
            }
        }
    }

    fn read_tensor<R: ReaderAt + ?Sized>(
        &mut self,
        name: &str,
        window: &mut Window<'_, R>,
    ) -> Option<Reached> {
        let name = self.words.name(name);
        window.peek()?;
        let metas = &mut self.half.kept.metas;
        let meta = match metas.last() {
            // An object ends where it ends, whatever follows: this is the same value.
            Some((last, id)) if last.starts_with('{') && window.starts_with(last) => {
                window.skip(last.len());
                id
            }
            _ => window.pass(|text| metas.id(text))?,
        };
        self.half.nodes.tensors.push((name, meta));
        Some(Reached::End)
    }
}

/// The members of an object, to its end: from the first on, or from behind one that was read.
fn members<R: ReaderAt + ?Sized>(
    window: &mut Window<'_, R>,
    mut is_first: bool,
    member: &mut dyn FnMut(&str, &mut Window<'_, R>) -> Option<Reached>,
) -> Option<Reached> {
    let mut key = String::new();
    loop {
        if window.peek()? == b'}' {
            window.skip(1);
            return Some(Reached::End);
        }
        if !is_first {
            window.take(b',')?;
            window.peek()?;
        }
        is_first = false;
        loop {
            let length = window.value::<Text<'_>>()?.map(|(text, raw)| {
                key.clear();
                key.push_str(&text);
                raw.len()
            });
            match length {
                Some(length) => {
                    window.skip(length);
                    break;
                }
                None => window.grow()?,
            }
        }
        window.take(b':')?;
        if member(&key, window)? == Reached::Other {
            return Some(Reached::Other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_found_wherever_it_starts() {
        for at in [0, 1, SEARCH_STEP - 10, SEARCH_STEP - 9, SEARCH_STEP - 1, SEARCH_STEP, 3 * SEARCH_STEP + 5]
        {
            let text = [&vec![b' '; at], NODE_START, b"1}"].concat();
            let found = find_node(text.as_slice(), 0, text.len() as u64);
            assert_eq!(found, Some(at as u64));
            assert_eq!(find_node(text.as_slice(), at as u64 + 1, text.len() as u64), None);
        }
        let far = [&vec![b' '; SEARCH as usize + SEARCH_STEP], NODE_START].concat();
        assert_eq!(find_node(far.as_slice(), 0, far.len() as u64), None);
    }
}
