//! Why a program cannot be lowered, always with the place.

use crate::report::Unsupported;

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Unsupported(Unsupported),

    #[error("opset {0} is not supported: choose one from 14 to 24")]
    Opset(i64),

    /// An argument is missing, of the wrong kind or has a value that cannot be expressed.
    #[error("{place}: argument `{argument}`: expected {expected}, found {found}")]
    Argument { place: Box<Location>, argument: String, expected: String, found: String },

    /// The node as a whole makes no sense or asks for something that ONNX cannot do.
    #[error("{place}: {reason}")]
    Node { place: Box<Location>, reason: String },

    /// The program contradicts itself outside any node.
    #[error("{0}")]
    Program(String),
}

/// Where in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// FX name.
    pub node: String,
    /// ATen overload.
    pub target: String,
    /// Path of the module; empty for the root.
    pub module: String,
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let module = if self.module.is_empty() { "(root)" } else { &self.module };
        write!(f, "node `{}` ({}) in module `{module}`", self.node, self.target)
    }
}

#[cfg(test)]
mod tests {
    use modelexport_graph::aten::Arg;

    use crate::Options;
    use crate::test_calls::refused;
    use crate::test_program::{TestProgram, tensor};

    #[test]
    fn an_argument_of_another_kind() {
        assert_eq!(
            refused("aten.transpose.int(self: f32[2, 3], dim0=[0, 1], dim1=0) -> f32[3, 2]"),
            "node `transpose` (aten.transpose.int) in module `(root)`: argument `dim0`: expected an integer, found the \
             integers [0, 1]"
        );
        assert_eq!(
            refused("aten.linear.default(input: f32[2, 3], weight=0.5) -> f32[2, 4]"),
            "node `linear` (aten.linear.default) in module `(root)`: argument `weight`: expected a tensor, found the \
             number 0.5"
        );
        assert_eq!(
            refused("aten.gelu.default(self: f32[3], approximate: f32[3]) -> f32[3]"),
            "node `gelu` (aten.gelu.default) in module `(root)`: argument `approximate`: expected a string, found the \
             tensor `approximate`"
        );
        assert_eq!(
            refused("aten.select.int(self: f32[2, 3], dim=0) -> f32[3]"),
            "node `select` (aten.select.int) in module `(root)`: argument `index`: expected an integer, found nothing"
        );
        assert_eq!(
            refused("aten.softmax.int(self: f32[2, 3], dim=5) -> f32[2, 3]"),
            "node `softmax` (aten.softmax.int) in module `(root)`: argument `dim`: expected an axis of a tensor with 2 \
             dimensions, found 5"
        );
    }

    #[test]
    fn shapes_that_contradict_each_other() {
        for (call, shapes) in [
            (
                "aten.linear.default(input: f32[4, 2], weight: param f32[3, 5]) -> f32[4, 3]",
                "argument `input` is float32[4, 2], argument `weight` is float32[3, 5], the result is float32[4, 3]",
            ),
            (
                "aten.add.Tensor(self: f32[2, 3], other: f32[4]) -> f32[2, 3]",
                "argument `self` is float32[2, 3], argument `other` is float32[4], the result is float32[2, 3]",
            ),
            (
                "aten.relu.default(self: f32[2, s0]) -> f32[3, s0]",
                "argument `self` is float32[2, s0], the result is float32[3, s0]",
            ),
            (
                "aten.view.default(self: f32[2, 3], size=[7]) -> f32[7]",
                "argument `self` is float32[2, 3], the result is float32[7]",
            ),
            (
                "aten.cat.default(tensors: [f32[2, 3], f32[2, 4]]) -> f32[4, 3]",
                "argument `tensors` is float32[2, 3] and float32[2, 4], the result is float32[4, 3]",
            ),
            (
                "aten.conv1d.default(input: f32[1, 3, 8], weight: param f32[4, 2, 3]) -> f32[1, 4, 6]",
                "argument `input` is float32[1, 3, 8], argument `weight` is float32[4, 2, 3], the result is \
                 float32[1, 4, 6]",
            ),
        ] {
            let target = call.split('(').next().unwrap_or_default();
            let node = target.split('.').nth(1).unwrap_or_default();
            let expected = format!(
                "node `{node}` ({target}) in module `(root)`: shapes that contradict each other: {shapes}"
            );
            assert_eq!(refused(call), expected);
        }
    }

    #[test]
    fn a_value_that_no_node_makes() {
        let mut program = TestProgram::new();
        let dangling = program.result(tensor(&[3]));
        let y = program.node("aten.relu.default", &[("self", Arg::Tensor(dangling))], tensor(&[3]));
        let error = crate::lower(program.outputs(&[y]), &Options::default(), &|_| None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "node `relu` (aten.relu.default) in module `(root)`: argument `self` reads `result`, which no node before it \
             makes"
        );
    }
}
