//! Graphs among the arguments, and what they are called with.

use modelexport_graph::aten::{self, Arg, SymOr};

use super::Context;
use crate::driver::Lowering;
use crate::error::Result;
use crate::ir::ValueId;

impl<'p> Context<'_, 'p> {
    /// The graph argument number `index` among the graphs.
    pub fn graph(&self, index: usize) -> Result<&'p aten::Graph> {
        let graph = self.args().filter_map(|arg| match arg {
            Arg::Graph(subgraph) => Some(&subgraph.graph),
            _ => None,
        });
        match graph.into_iter().nth(index) {
            Some(graph) => Ok(graph),
            None => self.refuse(format!("has no graph number {index} among its arguments")),
        }
    }

    /// What a graph is called with: tensors, and numbers as tensors of one element.
    pub fn operands(&mut self, arg: &'p Arg) -> Result<Vec<ValueId>> {
        match arg {
            Arg::Tensors(ids) => ids.iter().map(|&id| self.operand(id)).collect(),
            Arg::Tensor(id) | Arg::SymInt(id) | Arg::SymFloat(id) | Arg::SymBool(id) => {
                Ok(vec![self.operand(*id)?])
            }
            Arg::SymInts(values) => {
                let values = values.iter().map(|value| match value {
                    SymOr::Value(id) => self.operand(*id),
                    SymOr::Const(value) => Ok(self.const_ints(&[*value])),
                });
                values.collect()
            }
            Arg::Int(value) => Ok(vec![self.const_ints(&[*value])]),
            Arg::Ints(values) => Ok(values.iter().map(|&value| self.const_ints(&[value])).collect()),
            other => self.wrong_kind("operands", "tensors and numbers", Some(other)),
        }
    }

    fn operand(&mut self, id: aten::ValueId) -> Result<ValueId> {
        match self.symbolic(id) {
            Some(expr) => self.compute(&expr.clone()),
            None => self.value(id),
        }
    }

    /// An ONNX subgraph with the formal inputs `inputs`, filled by `fill`, which returns its outputs.
    pub fn subgraph(
        &mut self,
        inputs: Vec<ValueId>,
        fill: impl FnOnce(&mut Lowering<'p>) -> Result<Vec<ValueId>>,
    ) -> Result<crate::ir::Graph> {
        self.lowering.subgraph(inputs, fill)
    }

    /// Lowers a graph argument into the graph that is open now, as if its nodes stood here.
    pub fn inline(&mut self, graph: &'p aten::Graph, inputs: &[ValueId]) -> Result<Vec<ValueId>> {
        self.lowering.inline(graph, inputs)
    }
}
