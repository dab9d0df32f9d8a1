//! Reading: whether the parts of a trace fit together.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use modelexport_graph::Name;

use super::{Error, Module, Op, Origin, SCHEMA_VERSION, Trace};
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
            check_op(op, self, i as u32).map_err(|reason| (format!("ops[{i}]"), reason))?;
        }
        let inputs: HashSet<&Name> = self.inputs.iter().map(|input| &input.name).collect();
        for (i, (value, maker)) in self.values.iter().zip(makers).enumerate() {
            check_origin(&value.origin, maker, &parameters, &inputs)
                .map_err(|reason| (format!("values[{i}]"), reason))?;
        }
        for (place, bindings) in [("inputs", &self.inputs), ("outputs", &self.outputs)] {
            for (i, binding) in bindings.iter().enumerate() {
                check_value(self, binding.value).map_err(|reason| (format!("{place}[{i}]"), reason))?;
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

/// By value: the operator that lists it among its outputs and not among its inputs.
fn makers(trace: &Trace) -> Result<Vec<Option<u32>>, Contradiction> {
    let mut makers = vec![None; trace.values.len()];
    for (i, op) in trace.ops.iter().enumerate() {
        let fault = |reason: String| (format!("ops[{i}]"), reason);
        let inputs: HashSet<u32> = op.inputs.iter().map(|input| input.value).collect();
        for value in op.outputs.iter().flatten().copied().filter(|value| !inputs.contains(value)) {
            let maker =
                makers.get_mut(value as usize).ok_or_else(|| fault(format!("there is no value {value}")))?;
            if let Some(first) = maker.replace(i as u32) {
                return Err(fault(format!("makes value {value}, which operator {first} made")));
            }
        }
    }
    Ok(makers)
}

fn check_op(op: &Op, trace: &Trace, index: u32) -> Result<(), String> {
    if op.call as usize >= trace.calls.len() {
        return Err(format!("there is no call {}", op.call));
    }
    for &value in op.inputs.iter().map(|input| &input.value).chain(&op.mutates) {
        check_value(trace, value)?;
        let origin = trace.values.get(value as usize).map(|value| &value.origin);
        if let Some(Origin::Op(maker)) = origin
            && *maker >= index
        {
            return Err(format!("reads value {value}, which operator {maker} makes later"));
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
    if let Some(maker) = maker
        && *origin != Origin::Op(maker)
    {
        return Err(format!("operator {maker} makes it, but its origin is another"));
    }
    match origin {
        Origin::Op(op) if maker.is_none() => Err(format!("operator {op} does not make it")),
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

fn check_value(trace: &Trace, value: u32) -> Result<(), String> {
    if (value as usize) < trace.values.len() { Ok(()) } else { Err(format!("there is no value {value}")) }
}
