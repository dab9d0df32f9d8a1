//! Tensors among arguments and results, and their metadata.

use modelexport_graph::aten::{self, Arg, TensorMeta};

use super::Context;
use crate::argument_text;
use crate::error::Result;
use crate::ir::ValueId;

impl<'p> Context<'_, 'p> {
    /// The value that stands for a tensor of the program.
    pub fn value(&self, id: aten::ValueId) -> Result<ValueId> {
        match self.lowering.tensor(id) {
            Some(value) => Ok(value),
            None => {
                let name = self.graph.value(id).map_or("?", |value| &*value.name);
                let holder = self.node.args.iter().find(|argument| argument_text::holds(&argument.arg, id));
                let argument = holder.map_or("?", |argument| &*argument.name);
                self.refuse(format!("argument `{argument}` reads `{name}`, which no node before it makes"))
            }
        }
    }

    pub fn tensor(&self, name: &str) -> Result<ValueId> {
        match self.tensor_opt(name)? {
            Some(value) => Ok(value),
            None => self.wrong_kind(name, "a tensor", None),
        }
    }

    pub fn tensor_opt(&self, name: &str) -> Result<Option<ValueId>> {
        match self.arg(name) {
            None => Ok(None),
            Some(Arg::Tensor(id)) => self.value(*id).map(Some),
            Some(other) => self.wrong_kind(name, "a tensor", Some(other)),
        }
    }

    pub fn tensors(&self, name: &str) -> Result<Vec<ValueId>> {
        match self.arg(name) {
            None => Ok(Vec::new()),
            Some(Arg::Tensors(ids)) => ids.iter().map(|&id| self.value(id)).collect(),
            Some(Arg::OptionalTensors(ids)) if ids.iter().all(Option::is_some) => {
                ids.iter().flatten().map(|&id| self.value(id)).collect()
            }
            Some(other) => self.wrong_kind(name, "a list of tensors", Some(other)),
        }
    }

    /// A list with holes, such as the indices of `x[:, i]`.
    pub fn optional_tensors(&self, name: &str) -> Result<Vec<Option<ValueId>>> {
        match self.arg(name) {
            None => Ok(Vec::new()),
            Some(Arg::OptionalTensors(ids)) => {
                ids.iter().map(|id| id.map(|id| self.value(id)).transpose()).collect()
            }
            Some(Arg::Tensors(ids)) => ids.iter().map(|&id| self.value(id).map(Some)).collect(),
            Some(other) => self.wrong_kind(name, "a list of optional tensors", Some(other)),
        }
    }

    /// Metadata of a tensor argument, as the program has it.
    pub fn meta(&self, name: &str) -> Result<&'p TensorMeta> {
        match self.meta_opt(name) {
            Some(meta) => Ok(meta),
            None => self.wrong_kind(name, "a tensor", self.arg(name)),
        }
    }

    pub fn meta_opt(&self, name: &str) -> Option<&'p TensorMeta> {
        match self.arg(name)? {
            Arg::Tensor(id) => self.graph.tensor(*id),
            _ => None,
        }
    }

    /// Metadata of each tensor of a list argument.
    pub fn metas(&self, name: &str) -> Vec<&'p TensorMeta> {
        match self.arg(name) {
            Some(Arg::Tensors(ids)) => ids.iter().filter_map(|&id| self.graph.tensor(id)).collect(),
            Some(Arg::OptionalTensors(ids)) => {
                ids.iter().flatten().filter_map(|&id| self.graph.tensor(id)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Metadata of the node's results, lists flattened.
    pub fn out_metas(&self) -> Vec<&'p TensorMeta> {
        let mut metas = Vec::new();
        for output in &self.node.outputs {
            match output {
                Arg::Tensor(id) => metas.extend(self.graph.tensor(*id)),
                Arg::Tensors(ids) => metas.extend(ids.iter().filter_map(|&id| self.graph.tensor(id))),
                _ => {}
            }
        }
        metas
    }

    /// Metadata of the first result.
    pub fn out(&self) -> Result<&'p TensorMeta> {
        match self.out_metas().first() {
            Some(meta) => Ok(meta),
            None => self.refuse("has no tensor among its results"),
        }
    }

    /// Metadata of result number `index`; `None` if the call leaves that result out.
    pub fn out_at(&self, index: usize) -> Option<&'p TensorMeta> {
        match self.node.outputs.get(index)? {
            Arg::Tensor(id) => self.graph.tensor(*id),
            _ => None,
        }
    }

    /// Whether the program reads result number `index`.
    pub fn is_read(&self, index: usize) -> bool {
        let mut results = Vec::new();
        if let Some(output) = self.node.outputs.get(index) {
            output.for_each_tensor(&mut |id| results.push(id));
        }
        let mut found = false;
        let arguments =
            self.graph.nodes.iter().flat_map(|node| node.args.iter().map(|argument| &argument.arg));
        for arg in arguments.chain(&self.graph.outputs) {
            arg.for_each_tensor(&mut |id| found |= results.contains(&id));
        }
        found
    }

    /// How many tensors the node gives, lists flattened.
    pub fn out_count(&self) -> usize {
        self.node
            .outputs
            .iter()
            .map(|output| match output {
                Arg::Tensors(ids) => ids.len(),
                Arg::None => 0,
                _ => 1,
            })
            .sum()
    }
}
