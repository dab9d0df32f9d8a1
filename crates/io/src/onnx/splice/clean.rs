//! Removes what exporters store beside the graph: all metadata, and stack traces in texts.

use super::item::{Item, Meaning};
use super::walk::{Holder, Walk};
use crate::onnx::error::Error;
use crate::onnx::names;
use crate::onnx::reader::{Extent, Field, Message, Step, Value};
use crate::onnx::schema::{entry, function, graph, model, sparse_tensor, tensor, value_info};

/// Entries of the model itself that begin so are an exporter's notes about its run; others may be the user's own.
const EXPORTER_PREFIX: &str = "pkg.";

/// A message inside a graph that can carry metadata.
#[derive(Clone, Copy)]
enum Kind {
    ValueInfo,
    Tensor,
    SparseTensor,
}

/// What becomes of a field.
enum FieldAction {
    Goes,
    GoesIfTrace,
    Inside(Kind),
    Stays,
}

/// Whether a field of a node is metadata, or text that names a place in somebody's files.
pub(super) fn is_metadata(item: &Item) -> bool {
    match &item.meaning {
        Meaning::Entry(..) => true,
        Meaning::DocString(text) => names_python_line(&names::from_bytes(text)),
        Meaning::Other => false,
    }
}

impl Walk<'_, '_> {
    /// A field of the model that is neither graph nor function.
    pub(super) fn clean_field_of_model(&mut self, field: &Field) -> Result<(), Error> {
        match (field.number, field.value) {
            (model::METADATA_PROPS, Value::Bytes(payload)) => {
                if !self.key_of(payload)?.starts_with(EXPORTER_PREFIX) {
                    self.copy(field.whole)?;
                }
                Ok(())
            }
            (model::DOC_STRING, Value::Bytes(_)) => self.clean_field(field, FieldAction::GoesIfTrace),
            _ => self.clean_field(field, FieldAction::Stays),
        }
    }

    /// A field of a graph or a function that is no node.
    pub(super) fn clean_field_of(&mut self, holder: Holder, field: &Field) -> Result<(), Error> {
        let fate = match (holder, field.number) {
            (Holder::Graph, graph::METADATA_PROPS) | (Holder::Function, function::METADATA_PROPS) => {
                FieldAction::Goes
            }
            (Holder::Graph, graph::DOC_STRING) | (Holder::Function, function::DOC_STRING) => {
                FieldAction::GoesIfTrace
            }
            (Holder::Graph, graph::INPUT | graph::OUTPUT | graph::VALUE_INFO)
            | (Holder::Function, function::VALUE_INFO) => FieldAction::Inside(Kind::ValueInfo),
            (Holder::Graph, graph::INITIALIZER) => FieldAction::Inside(Kind::Tensor),
            (Holder::Graph, graph::SPARSE_INITIALIZER) => FieldAction::Inside(Kind::SparseTensor),
            _ => FieldAction::Stays,
        };
        self.clean_field(field, fate)
    }

    fn clean_field(&mut self, field: &Field, fate: FieldAction) -> Result<(), Error> {
        let goes = match (fate, field.value) {
            (FieldAction::Inside(kind), Value::Bytes(payload)) => {
                let step = Step::Field(kind.name());
                return self.message(field, payload, step, |walk| walk.clean_message(kind, payload));
            }
            (FieldAction::Goes, Value::Bytes(_)) => true,
            (FieldAction::GoesIfTrace, Value::Bytes(payload)) => {
                names_python_line(&names::from_bytes(&self.reader.bytes(payload)?))
            }
            _ => false,
        };
        match goes {
            true => self.mark_changed(true),
            false => self.copy(field.whole)?,
        }
        Ok(())
    }

    fn clean_message(&mut self, kind: Kind, payload: Extent) -> Result<(), Error> {
        let mut message = Message::new(payload);
        while let Some(field) = self.reader.next(&mut message)? {
            self.clean_field(&field, kind.fate(field.number))?;
        }
        Ok(())
    }

    /// The key of an entry; empty if it has none.
    fn key_of(&mut self, payload: Extent) -> Result<String, Error> {
        let mut message = Message::new(payload);
        let mut key = String::new();
        while let Some(field) = self.reader.next(&mut message)? {
            if let (entry::KEY, Value::Bytes(text)) = (field.number, field.value) {
                key = names::from_bytes(&self.reader.bytes(text)?).into_owned();
            }
        }
        Ok(key)
    }
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::ValueInfo => "value_info",
            Kind::Tensor => "tensor",
            Kind::SparseTensor => "sparse_tensor",
        }
    }

    fn fate(self, number: u32) -> FieldAction {
        match (self, number) {
            (Kind::ValueInfo, value_info::METADATA_PROPS) | (Kind::Tensor, tensor::METADATA_PROPS) => {
                FieldAction::Goes
            }
            (Kind::ValueInfo, value_info::DOC_STRING) | (Kind::Tensor, tensor::DOC_STRING) => {
                FieldAction::GoesIfTrace
            }
            (Kind::SparseTensor, sparse_tensor::VALUES | sparse_tensor::INDICES) => {
                FieldAction::Inside(Kind::Tensor)
            }
            _ => FieldAction::Stays,
        }
    }
}

/// Whether a text holds `file.py:12`, `file.py(12)` or `file.py", line 12`, as stack traces do.
fn names_python_line(text: &str) -> bool {
    text.match_indices(".py").any(|(at, suffix)| {
        let rest = text.get(at + suffix.len()..).unwrap_or_default();
        let number = [":", "(", "\", line "].into_iter().find_map(|before| rest.strip_prefix(before));
        number.is_some_and(|number| number.starts_with(|first: char| first.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use crate::onnx::schema::node;
    use crate::onnx::splice::clean;
    use crate::onnx::test_bytes::*;

    use super::*;

    fn cleaned(bytes: &[u8]) -> Vec<u8> {
        let (sources, id) = source_of(bytes);
        clean(&sources, id).unwrap().to_vec().unwrap()
    }

    fn metadata(number: u32, key: &str) -> Vec<u8> {
        field(number, [field(entry::KEY, key), field(entry::VALUE, "/home/me/net.py")].concat())
    }

    #[test]
    fn places_in_python_files_are_recognised() {
        for text in ["File \"/home/me/net.py\", line 3, in forward", "/a/b.py:12:0", "net.py(7): call"] {
            assert!(names_python_line(text), "{text}");
        }
        for text in ["", "see net.py", "a.py:x", "copy: 3"] {
            assert!(!names_python_line(text), "{text}");
        }
    }

    #[test]
    fn metadata_goes_from_everywhere_and_the_rest_stays() {
        let with = |metadata_of: &dyn Fn(u32, &str) -> Vec<u8>, trace: &str| {
            let text = |number: u32| if trace.is_empty() { Vec::new() } else { field(number, trace) };
            let inner = [field(graph::NODE, node_of("Mul", metadata_of(node::METADATA_PROPS, "namespace")))];
            let weight = [
                field(tensor::NAME, "w"),
                metadata_of(tensor::METADATA_PROPS, "pkg.torch.x"),
                text(tensor::DOC_STRING),
                field(tensor::RAW_DATA, [0; 2000]),
            ];
            let sparse = field(sparse_tensor::VALUES, metadata_of(tensor::METADATA_PROPS, "k"));
            let value =
                [field(value_info::NAME, "x"), metadata_of(value_info::METADATA_PROPS, "pkg.torch.y")];
            let main = [
                field(
                    graph::NODE,
                    node_of(
                        "If",
                        [
                            text(node::DOC_STRING),
                            metadata_of(node::METADATA_PROPS, "mine"),
                            graph_attribute(inner.concat()),
                        ]
                        .concat(),
                    ),
                ),
                field(graph::INITIALIZER, weight.concat()),
                field(graph::SPARSE_INITIALIZER, sparse),
                field(graph::INPUT, value.concat()),
                field(graph::DOC_STRING, "kept"),
                metadata_of(graph::METADATA_PROPS, "pkg.torch.z"),
            ];
            let called = [
                field(function::NAME, "f"),
                metadata_of(function::METADATA_PROPS, "k"),
                field(function::NODE, node_of("Add", metadata_of(node::METADATA_PROPS, "k"))),
            ];
            [
                model_of(main.concat()),
                metadata_of(model::METADATA_PROPS, "pkg.torch.export"),
                metadata(model::METADATA_PROPS, "labels"),
                field(model::FUNCTIONS, called.concat()),
            ]
            .concat()
        };
        let noted = with(&metadata, "/home/me/net.py:12");
        let plain = with(&|_, _| Vec::new(), "");
        assert_ne!(noted, plain);
        assert_eq!(cleaned(&noted), plain);
        assert_eq!(cleaned(&plain), plain);
    }

    #[test]
    fn tags_go_too_and_text_from_before_comes_back() {
        let ours = r#"{"hierarchy_tags":["/M"],"doc_string":"note"}"#;
        let node = |text: &str| model_of(graph_of(&[node_of("Add", field(node::DOC_STRING, text))]));
        assert_eq!(cleaned(&node(ours)), node("note"));
        let trace = r#"{"hierarchy_tags":["/M"],"doc_string":"/x.py:1"}"#;
        assert_eq!(cleaned(&node(trace)), model_of(graph_of(&[node_of("Add", [])])));
    }
}
