//! The JSON of a large program, read by two threads.
//!
//! Most of the text is one list, the nodes of the outermost graph, and the tables behind it. In the middle of the text
//! a place is taken that looks like the start of a node. One thread reads from the front up to there; the other reads
//! from there to the end, as if that were the next node of the list. It is if the first thread comes to that very place
//! when it wants the next node of the list. Wherever something is not as expected the answer is `None`: then the text is
//! read from front to back, and what is wrong with it is found out there.
//!
//! Nesting is counted from each node on, and so is bounded as for the whole text, but for the four levels around it.

use serde::de::{Deserialize, IgnoredAny};
use serde_json::value::RawValue;

use super::json::{Map, Pieces, Text};
use super::schema::{
    Argument, CustomObject, ExportedProgram, Graph, GraphModule, GraphSignature, ModuleCallEntry,
    NamedTupleDef, Node, RangeConstraint, SchemaVersion, SymBool, SymFloat, SymInt,
};

/// Shorter texts are read in one go.
pub(super) const LONG: usize = 4 << 20;

/// How torch begins a node.
const NODE_START: &str = "{\"target\":";

/// The program in `text`.
pub(super) fn read(text: &str) -> Option<ExportedProgram<'_>> {
    if text.len() < LONG {
        return None;
    }
    read_from(text, text.len() / 2)
}

/// The same with the second thread at the first place from `middle` on where a node may start.
fn read_from(text: &str, middle: usize) -> Option<ExportedProgram<'_>> {
    let middle = (middle..text.len()).find(|at| text.is_char_boundary(*at))?;
    let start = middle + text.get(middle..)?.find(NODE_START)?;
    std::thread::scope(|threads| {
        let behind = threads.spawn(move || Half::behind(text, start));
        let before = Half::before(text, start);
        let behind = behind.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        before?.join(behind?)
    })
}

/// The members of a program that one thread met.
#[derive(Default)]
struct Half<'a> {
    range_constraints: Option<Map<'a, RangeConstraint>>,
    schema_version: Option<SchemaVersion>,
    torch_version: Option<Text<'a>>,
    signature: Option<GraphSignature<'a>>,
    module_call_graph: Option<Vec<ModuleCallEntry<'a>>>,
    treespec_namedtuple_fields: Option<Map<'a, NamedTupleDef<'a>>>,
    inputs: Option<Vec<Argument<'a>>>,
    outputs: Option<Vec<Argument<'a>>>,
    nodes: Option<Pieces<Node<'a>>>,
    tensor_values: Option<Map<'a, &'a RawValue>>,
    sym_int_values: Option<Map<'a, SymInt<'a>>>,
    sym_bool_values: Option<Map<'a, SymBool<'a>>>,
    is_single_tensor_return: Option<bool>,
    custom_obj_values: Option<Map<'a, CustomObject<'a>>>,
    sym_float_values: Option<Map<'a, SymFloat<'a>>>,
}

/// How reading went on.
#[derive(PartialEq, Eq)]
enum Reached {
    /// The end of what was read.
    End,
    /// The place where the other thread began.
    Other,
}

impl<'a> Half<'a> {
    /// From the front to the node at `stop`.
    fn before(text: &'a str, stop: usize) -> Option<Self> {
        let mut half = Half::default();
        let mut cursor = Cursor { text, at: 0, stop: Some(stop) };
        cursor.take(b'{')?;
        let reached = cursor.members(true, &mut |key, cursor| half.of_program(key, cursor))?;
        (reached == Reached::Other).then_some(half)
    }

    /// From the node at `start` to the end.
    fn behind(text: &'a str, start: usize) -> Option<Self> {
        let mut half = Half::default();
        let mut cursor = Cursor { text, at: start, stop: None };
        half.read_nodes(&mut cursor)?;
        cursor.members(false, &mut |key, cursor| half.of_graph(key, cursor))?;
        cursor.members(false, &mut |key, cursor| half.of_module(key, cursor))?;
        cursor.members(false, &mut |key, cursor| half.of_program(key, cursor))?;
        cursor.peek().is_none().then_some(half)
    }

    fn of_program(&mut self, key: &str, cursor: &mut Cursor<'a>) -> Option<Reached> {
        match key {
            "graph_module" => {
                cursor.take(b'{')?;
                cursor.members(true, &mut |key, cursor| self.of_module(key, cursor))
            }
            "range_constraints" => cursor.put(&mut self.range_constraints),
            "schema_version" => cursor.put(&mut self.schema_version),
            "torch_version" => cursor.put(&mut self.torch_version),
            _ => cursor.skip(),
        }
    }

    fn of_module(&mut self, key: &str, cursor: &mut Cursor<'a>) -> Option<Reached> {
        match key {
            "graph" => {
                cursor.take(b'{')?;
                cursor.members(true, &mut |key, cursor| self.of_graph(key, cursor))
            }
            "signature" => cursor.put(&mut self.signature),
            "module_call_graph" => cursor.put(&mut self.module_call_graph),
            "treespec_namedtuple_fields" => cursor.put(&mut self.treespec_namedtuple_fields),
            _ => cursor.skip(),
        }
    }

    fn of_graph(&mut self, key: &str, cursor: &mut Cursor<'a>) -> Option<Reached> {
        match key {
            "inputs" => cursor.put(&mut self.inputs),
            "outputs" => cursor.put(&mut self.outputs),
            "nodes" => {
                cursor.take(b'[')?;
                self.read_nodes(cursor)
            }
            "tensor_values" => cursor.put(&mut self.tensor_values),
            "sym_int_values" => cursor.put(&mut self.sym_int_values),
            "sym_bool_values" => cursor.put(&mut self.sym_bool_values),
            "is_single_tensor_return" => cursor.put(&mut self.is_single_tensor_return),
            "custom_obj_values" => cursor.put(&mut self.custom_obj_values),
            "sym_float_values" => cursor.put(&mut self.sym_float_values),
            _ => cursor.skip(),
        }
    }

    /// Nodes from here to the end of their list, of which there is at least one.
    fn read_nodes(&mut self, cursor: &mut Cursor<'a>) -> Option<Reached> {
        if self.nodes.is_some() {
            return None;
        }
        let nodes = self.nodes.insert(Pieces::new());
        loop {
            cursor.peek()?;
            if cursor.stop == Some(cursor.at) {
                return Some(Reached::Other);
            }
            nodes.push(cursor.value()?);
            if cursor.take(b',').is_none() {
                return cursor.take(b']').map(|()| Reached::End);
            }
        }
    }

    /// The program, if each member that it must have was met once.
    fn join(self, behind: Half<'a>) -> Option<ExportedProgram<'a>> {
        let mut nodes = self.nodes?;
        nodes.append(behind.nodes?);
        let graph = Graph {
            inputs: one(self.inputs, behind.inputs)??,
            outputs: one(self.outputs, behind.outputs)??,
            nodes,
            tensor_values: one(self.tensor_values, behind.tensor_values)??,
            sym_int_values: one(self.sym_int_values, behind.sym_int_values)??,
            sym_bool_values: one(self.sym_bool_values, behind.sym_bool_values)??,
            is_single_tensor_return: one(self.is_single_tensor_return, behind.is_single_tensor_return)?
                .unwrap_or_default(),
            custom_obj_values: one(self.custom_obj_values, behind.custom_obj_values)?.unwrap_or_default(),
            sym_float_values: one(self.sym_float_values, behind.sym_float_values)?.unwrap_or_default(),
        };
        let fields = one(self.treespec_namedtuple_fields, behind.treespec_namedtuple_fields)?;
        let graph_module = GraphModule {
            graph,
            signature: one(self.signature, behind.signature)??,
            module_call_graph: one(self.module_call_graph, behind.module_call_graph)??,
            treespec_namedtuple_fields: fields.unwrap_or_default(),
        };
        Some(ExportedProgram {
            graph_module,
            range_constraints: one(self.range_constraints, behind.range_constraints)??,
            schema_version: one(self.schema_version, behind.schema_version)??,
            torch_version: one(self.torch_version, behind.torch_version)?.unwrap_or_default(),
        })
    }
}

/// What one of two has; `None` if both have it.
fn one<T>(a: Option<T>, b: Option<T>) -> Option<Option<T>> {
    match (a, b) {
        (Some(_), Some(_)) => None,
        (a, b) => Some(a.or(b)),
    }
}

/// A place in the text.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// Where a node ends the reading.
    stop: Option<usize>,
}

impl<'a> Cursor<'a> {
    /// The next byte that is not white space; the cursor stands before it then.
    fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.as_bytes().get(self.at)?;
            if !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Goes over `byte`, if that is next.
    fn take(&mut self, byte: u8) -> Option<()> {
        if self.peek()? != byte {
            return None;
        }
        self.at += 1;
        Some(())
    }

    /// Reads a value.
    fn value<T: Deserialize<'a>>(&mut self) -> Option<T> {
        let mut values = serde_json::Deserializer::from_str(self.text.get(self.at..)?).into_iter();
        let value = values.next()?.ok()?;
        self.at += values.byte_offset();
        Some(value)
    }

    /// Reads a member that was not read before.
    fn put<T: Deserialize<'a>>(&mut self, slot: &mut Option<T>) -> Option<Reached> {
        if slot.is_some() {
            return None;
        }
        *slot = Some(self.value()?);
        Some(Reached::End)
    }

    fn skip(&mut self) -> Option<Reached> {
        self.value::<IgnoredAny>().map(|_| Reached::End)
    }

    /// The members of an object, to its end: from the first on, or from behind one that was read.
    fn members(
        &mut self,
        mut is_first: bool,
        member: &mut dyn FnMut(&str, &mut Self) -> Option<Reached>,
    ) -> Option<Reached> {
        loop {
            if self.peek()? == b'}' {
                self.at += 1;
                return Some(Reached::End);
            }
            if !is_first {
                self.take(b',')?;
            }
            is_first = false;
            let key: Text<'a> = self.value()?;
            self.take(b':')?;
            if member(&key, self)? == Reached::Other {
                return Some(Reached::Other);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, argument: &str) -> String {
        let argument = format!(r#"{{"name": "é", "arg": {argument}, "kind": 1}}"#);
        let start = r#"{"target": "torch.ops.aten.add.Tensor", "inputs": ["#;
        format!(r#"{start}{argument}], "outputs": [], "metadata": {{}}, "name": "{name}"}}"#)
    }

    fn graph(nodes: &[String]) -> String {
        let tables = r#""tensor_values": {"x": {}, "y": {}}, "sym_int_values": {}, "sym_bool_values": {}"#;
        let nodes = nodes.join(", ");
        format!(r#"{{"inputs": [], "outputs": [{{"as_int": 1}}], "nodes": [{nodes}], {tables}}}"#)
    }

    fn program(graph: &str) -> String {
        let module = format!(
            r#""graph": {graph}, "signature": {{"input_specs": [], "output_specs": []}}, "module_call_graph": [{{"fqn": ""}}]"#
        );
        format!(
            r#"{{"graph_module": {{{module}}}, "opset_version": {{}}, "range_constraints": {{}}, "schema_version": {{"major": 8, "minor": 20}}, "torch_version": "2.15"}} "#
        )
    }

    fn plain() -> Vec<String> {
        (0..4).map(|i| node(&format!("add_{i}"), r#"{"as_int": 1}"#)).collect()
    }

    /// What is told of a program by its parts.
    fn shown(program: &ExportedProgram<'_>) -> (Vec<String>, Vec<String>, usize, i64, String) {
        let graph = &program.graph_module.graph;
        (
            graph.nodes.iter().filter_map(|node| node.name.as_deref()).map(str::to_owned).collect(),
            graph.tensor_values.0.iter().map(|(name, meta)| format!("{} {}", &**name, meta.get())).collect(),
            graph.outputs.len() + program.graph_module.module_call_graph.len(),
            program.schema_version.minor,
            program.torch_version.to_string(),
        )
    }

    #[test]
    fn two_halves_are_the_whole_wherever_they_meet() {
        let text = program(&graph(&plain()));
        let whole = shown(&serde_json::from_str(&text).unwrap());
        let nodes = text.rfind(NODE_START).unwrap();
        for middle in 0..=nodes {
            let halves = read_from(&text, middle);
            assert_eq!(halves.map(|program| shown(&program)), Some(whole.clone()), "from {middle} on");
        }
        assert!(read_from(&text, nodes + 1).is_none(), "no node starts there");
    }

    #[test]
    fn a_node_inside_another_is_no_place_to_meet() {
        let inner = format!(r#"{{"as_graph": {{"name": "g", "graph": {}}}}}"#, graph(&plain()));
        let text = program(&graph(&[node("before", r#"{"as_int": 1}"#), node("cond", &inner)]));
        let whole = shown(&serde_json::from_str(&text).unwrap());
        let outer = text.match_indices(NODE_START).nth(1).unwrap().0;
        let at = |middle| read_from(&text, middle).map(|program| shown(&program));
        assert_eq!(at(outer), Some(whole));
        assert_eq!(at(outer + 1), None);
    }

    #[test]
    fn what_is_wrong_is_left_to_others() {
        let text = program(&graph(&plain()));
        let tables = r#""sym_int_values": {}, "#;
        for (from, to) in [
            (r#""nodes": ["#, r#""outputs": [], "nodes": ["#),
            (tables, &*tables.repeat(2)),
            (tables, r#""nodes": [], "#),
            (tables, ""),
            (r#""minor": 20}"#, r#""minor": 20},"#),
            (r#""2.15"} "#, r#""2.15"}}"#),
            (r#""2.15"} "#, r#""2.15","#),
        ] {
            let bad = text.replacen(from, to, 1);
            assert_ne!(bad, text);
            assert!(serde_json::from_str::<ExportedProgram<'_>>(&bad).is_err(), "{bad}");
            assert!(read_from(&bad, bad.len() / 4).is_none(), "{bad}");
        }
    }
}
