//! Reads a trace and checks that its parts are consistent.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use modelexport_graph::Name;

use super::{Error, Module, OpView, Origin, SCHEMA_VERSION, Trace};
use crate::document::{self, Contradiction, Document};

/// Larger files are refused; ten million operators stay below.
pub const MAX_BYTES: u64 = 4 << 30;

impl Document for Trace {
    const NAME: &'static str = "trace";
    const SCHEMA_VERSION: &'static str = SCHEMA_VERSION;
    const MAX_BYTES: u64 = MAX_BYTES;

    fn schema_version(&self) -> &str {
        &self.schema_version
    }

    fn check(&self) -> Result<(), Contradiction> {
        let parameters = modules(self)?;
        calls(self)?;
        let makers = makers(self)?;
        for (i, op) in self.ops.iter().enumerate() {
            check_op(&op, self, i as u32).map_err(|reason| (format!("ops[{i}]"), reason))?;
        }
        let inputs: HashSet<&Name> = self.inputs.iter().map(|input| &input.name).collect();
        for (i, (tensor, maker)) in self.tensors.iter().zip(makers).enumerate() {
            check_origin(tensor.origin, maker, &parameters, &inputs)
                .map_err(|reason| (format!("tensors[{i}]"), reason))?;
        }
        for (place, bindings) in [("inputs", &self.inputs), ("outputs", &self.outputs)] {
            for (i, binding) in bindings.iter().enumerate() {
                check_tensor(self, binding.tensor).map_err(|reason| (format!("{place}[{i}]"), reason))?;
            }
        }
        Ok(())
    }
}

/// Reads and checks a trace file.
pub fn read(path: &Path) -> Result<Trace, Error> {
    document::read(path)
}

/// Reads a trace from memory; `file` is for messages.
pub fn parse(bytes: &[u8], file: &Path) -> Result<Trace, Error> {
    document::parse(bytes, file)
}

/// Checks the modules and returns the names of their tensors, with `true` for names that are the first of a tensor.
fn modules(trace: &Trace) -> Result<HashMap<&Name, bool>, Contradiction> {
    let mut paths: HashSet<&str> = HashSet::with_capacity(trace.modules.len());
    let mut parameters = HashMap::new();
    if trace.modules.is_empty() {
        return Err(("modules".into(), "is empty; the first is the root".into()));
    }
    for (i, module) in trace.modules.iter().enumerate() {
        check_module(module, i, &mut paths, &mut parameters)
            .map_err(|reason| (format!("modules[{i}]"), reason))?;
    }
    Ok(parameters)
}

fn check_module<'a>(
    module: &'a Module,
    index: usize,
    paths: &mut HashSet<&'a str>,
    parameters: &mut HashMap<&'a Name, bool>,
) -> Result<(), String> {
    if (index == 0) != module.path.is_empty() {
        return Err("the first module is the root, and only the root has an empty path".into());
    }
    for path in module.aliases.iter().chain([&module.path]) {
        if !paths.insert(path) {
            return Err(format!("a second module with the path {path:?}"));
        }
    }
    if module.executed != (module.calls > 0) || module.executed != module.order.is_some() {
        return Err("`executed`, `order` and `calls` contradict each other".into());
    }
    for parameter in &module.parameters {
        if let Some(first) = &parameter.tied_to
            && parameters.get(first) != Some(&true)
        {
            return Err(format!("{:?} is tied to {first:?}, which is not listed before", parameter.name));
        }
        if parameters.insert(&parameter.name, parameter.tied_to.is_none()).is_some() {
            return Err(format!("a second parameter with the name {:?}", parameter.name));
        }
    }
    Ok(())
}

fn calls(trace: &Trace) -> Result<(), Contradiction> {
    let mut numbers: HashMap<u32, u32> = HashMap::new();
    for (i, call) in trace.calls.iter().enumerate() {
        let fault = |reason: String| Err((format!("calls[{i}]"), reason));
        if call.module as usize >= trace.modules.len() {
            return fault(format!("there is no module {}", call.module));
        }
        match call.parent {
            None if i > 0 => return fault("only the first call may be without a parent".into()),
            Some(_) if i == 0 => return fault("the first call is that of the root and has no parent".into()),
            Some(parent) if parent as usize >= i => {
                return fault(format!("its parent {parent} does not come before it"));
            }
            _ => {}
        }
        if i == 0 && call.module != 0 {
            return fault("the first call is that of the root".into());
        }
        let expected = numbers.entry(call.module).or_default();
        if call.number != *expected {
            return fault(format!("is call {} of its module; expected {expected}", call.number));
        }
        *expected += 1;
    }
    for (i, module) in trace.modules.iter().enumerate() {
        let found = numbers.get(&(i as u32)).copied().unwrap_or_default();
        if found != module.calls {
            return Err((format!("modules[{i}]"), format!("has {} calls; {found} are listed", module.calls)));
        }
    }
    Ok(())
}

/// By tensor: the first operator that lists it among its outputs.
fn makers(trace: &Trace) -> Result<Vec<Option<u32>>, Contradiction> {
    let mut makers: Vec<Option<u32>> = vec![None; trace.tensors.len()];
    for (i, op) in trace.ops.iter().enumerate() {
        for &tensor in op.outputs.iter().flatten() {
            check_tensor(trace, tensor).map_err(|reason| (format!("ops[{i}]"), reason))?;
            if let Some(maker) = makers.get_mut(tensor as usize) {
                maker.get_or_insert(i as u32);
            }
        }
    }
    Ok(makers)
}

fn check_op(op: &OpView<'_>, trace: &Trace, index: u32) -> Result<(), String> {
    if op.call as usize >= trace.calls.len() {
        return Err(format!("there is no call {}", op.call));
    }
    for &tensor in op.inputs.iter().map(|input| &input.tensor).chain(op.mutates) {
        check_tensor(trace, tensor)?;
        let origin = trace.tensors.get(tensor).map(|tensor| tensor.origin);
        if let Some(Origin::Op(maker)) = origin
            && *maker >= index
        {
            return Err(format!("reads tensor {tensor}, which operator {maker} makes later"));
        }
    }
    Ok(())
}

fn check_origin(
    origin: &Origin,
    maker: Option<u32>,
    parameters: &HashMap<&Name, bool>,
    inputs: &HashSet<&Name>,
) -> Result<(), String> {
    match origin {
        Origin::Op(op) if maker != Some(*op) => Err(match maker {
            Some(maker) => format!("operator {op} is said to make it; operator {maker} does"),
            None => format!("operator {op} does not make it"),
        }),
        Origin::Op(_) | Origin::Constant { .. } => Ok(()),
        Origin::Parameter(name) => match parameters.get(name) {
            Some(true) => Ok(()),
            Some(false) => Err(format!("{name:?} is tied to another; the first name is expected")),
            None => Err(format!("no module has a parameter {name:?}")),
        },
        Origin::Input(name) if inputs.contains(name) => Ok(()),
        Origin::Input(name) => Err(format!("there is no input {name:?}")),
    }
}

fn check_tensor(trace: &Trace, tensor: u32) -> Result<(), String> {
    if (tensor as usize) < trace.tensors.len() { Ok(()) } else { Err(format!("there is no tensor {tensor}")) }
}
