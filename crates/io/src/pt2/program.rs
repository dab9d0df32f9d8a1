//! Builds the program from graph, signature, ranges, weights and module tree.

use std::collections::HashMap;

use modelexport_graph::aten::{self, Arg, InputSpec, OutputSpec, Program, Range, WeightKind};
use modelexport_graph::module_tree::Parameter;
use modelexport_graph::{DType, ModuleTree, Name, StridedView};

use super::error::{NodePlace, Problem, ProgramLocation};
use super::graph::{self, Origins};
use super::json::{self, Text};
use super::module_stack::ModuleStacks;
use super::names::{NamedTuples, input_names, output_names};
use super::schema::{self, ExportedProgram, VersionsOnly};
use super::values::Interner;
use super::versions;
use super::weights::Weights;

/// Reads `bytes`, the content of the zip entry `entry`.
pub(super) fn read(
    entry: &str,
    bytes: &[u8],
    mut weights: Weights,
    mut shared: Interner,
) -> Result<Program, Problem> {
    let raw: ExportedProgram<'_> = json::parse(entry, bytes).map_err(|problem| {
        // A program of another version may be laid out differently: then the version is what is wrong.
        let versions = json::parse::<VersionsOnly<'_>>(entry, bytes);
        let refused = versions.ok().and_then(|v| check_version(v.schema_version, &v.torch_version).err());
        refused.unwrap_or(problem)
    })?;
    let schema_version = check_version(raw.schema_version, &raw.torch_version)?;
    let module = raw.graph_module;
    let stacks = ModuleStacks::new(module.module_call_graph.iter().map(|call| &*call.fqn));
    let mut origins = Origins::new(stacks, entry);
    let graph = graph::convert(module.graph, &mut shared, &mut origins, None)?;
    let tree_signature = module.module_call_graph.first().and_then(|root| root.signature.as_ref());
    let tuples: NamedTuples<'_> = module
        .treespec_namedtuple_fields
        .0
        .iter()
        .map(|(name, tuple)| (&**name, tuple.field_names.iter().map(|field| &**field).collect()))
        .collect();
    let signature = aten::Signature {
        inputs: inputs(
            module.signature.input_specs,
            &graph,
            &mut weights,
            tree_signature,
            &tuples,
            &origins.stacks,
            &mut shared,
        )?,
        outputs: outputs(
            module.signature.output_specs,
            &graph,
            &mut weights,
            tree_signature,
            &tuples,
            &mut shared,
        )?,
    };
    let (mut modules, scopes) = origins.stacks.finish();
    let mut firsts: HashMap<(WeightKind, DType, &StridedView), &Name> = HashMap::new();
    for weight in &weights.list {
        // Views of the same bytes in the same way are one tensor.
        let place = weight.data.as_ref().map(|view| (weight.kind, weight.dtype, view));
        let first = place.map(|place| *firsts.entry(place).or_insert(&weight.name));
        add_parameter(&mut modules, weight, first.filter(|first| **first != weight.name));
    }
    let mut ranges = Vec::with_capacity(raw.range_constraints.0.len());
    for (symbol, range) in raw.range_constraints.0 {
        ranges.push((shared.name(&symbol), Range { min: range.min_val.0, max: range.max_val.0 }));
    }
    Ok(Program {
        graph,
        signature,
        ranges,
        weights: weights.list,
        modules,
        scopes,
        traces: origins.traces,
        torch_version: raw.torch_version.to_string(),
        schema_version,
    })
}

fn check_version(version: schema::SchemaVersion, torch: &Text<'_>) -> Result<(u32, u32), Problem> {
    let schema::SchemaVersion { major, minor } = version;
    if !versions::is_supported(major, minor) {
        return Err(Problem::SchemaVersion { major, minor, torch: torch.to_string() });
    }
    Ok((major as u32, minor as u32))
}

type TreeSignature<'r, 'a> = Option<&'r schema::ModuleCallSignature<'a>>;

fn inputs(
    specs: Vec<schema::InputSpec<'_>>,
    graph: &aten::Graph,
    weights: &mut Weights,
    trees: TreeSignature<'_, '_>,
    tuples: &NamedTuples<'_>,
    stacks: &ModuleStacks,
    shared: &mut Interner,
) -> Result<Vec<InputSpec>, Problem> {
    if specs.len() != graph.inputs.len() {
        let reason = format!("{} inputs for a graph with {}", specs.len(), graph.inputs.len());
        return Err(Problem::Signature { reason });
    }
    let mut inputs = Vec::with_capacity(specs.len());
    for (index, (spec, input)) in specs.into_iter().zip(&graph.inputs).enumerate() {
        let mut weight = |tensor: &Text<'_>, name: &Text<'_>, kind: WeightKind| {
            let meta = input_tensor(graph, input, index, tensor)?;
            weights
                .need(name, kind, Some(meta))
                .map_err(|problem| problem.read_by(|| reader(graph, input, stacks)))
        };
        inputs.push(match spec {
            schema::InputSpec::UserInput(_) => InputSpec::User {
                name: value_name(graph, input).unwrap_or_else(|| shared.name(&format!("input_{index}"))),
            },
            schema::InputSpec::ConstantInput(constant) => {
                InputSpec::Constant { name: shared.name(&constant.name) }
            }
            schema::InputSpec::Parameter(spec) => {
                let weight = weight(&spec.arg.name, &spec.parameter_name, WeightKind::Parameter)?;
                InputSpec::Parameter { weight }
            }
            schema::InputSpec::Buffer(spec) => {
                let weight = weight(&spec.arg.name, &spec.buffer_name, WeightKind::Buffer)?;
                InputSpec::Buffer { weight, persistent: spec.persistent }
            }
            schema::InputSpec::TensorConstant(spec) => {
                let weight = weight(&spec.arg.name, &spec.tensor_constant_name, WeightKind::Constant)?;
                InputSpec::TensorConstant { weight }
            }
            schema::InputSpec::CustomObj(spec) => {
                InputSpec::CustomObject { name: shared.name(&spec.custom_obj_name) }
            }
            schema::InputSpec::Token(_) => InputSpec::Token,
        });
    }
    rename_inputs(&mut inputs, trees, tuples);
    Ok(inputs)
}

/// The first node of the outermost graph that takes a weight, with the argument that it is.
fn reader(graph: &aten::Graph, input: &Arg, stacks: &ModuleStacks) -> Option<ProgramLocation> {
    let Arg::Tensor(weight) = input else { return None };
    let reads = |arg: &Arg| match arg {
        Arg::Tensor(id) => id == weight,
        Arg::Tensors(ids) => ids.contains(weight),
        Arg::OptionalTensors(ids) => ids.contains(&Some(*weight)),
        _ => false,
    };
    graph.nodes.iter().find_map(|node| {
        let argument = node.args.iter().find(|argument| reads(&argument.arg))?;
        let module = node.scope.map_or_else(|| "".into(), |scope| stacks.path(scope));
        let node = NodePlace { name: node.name.clone(), target: node.target.clone(), module };
        Some(ProgramLocation::Argument { node: Box::new(node), argument: argument.name.to_string() })
    })
}

/// Gives the user's inputs the names that the model's `forward` has for them.
fn rename_inputs(inputs: &mut [InputSpec], trees: TreeSignature<'_, '_>, tuples: &NamedTuples<'_>) {
    let Some(trees) = trees else { return };
    let mut users: Vec<&mut Name> = inputs
        .iter_mut()
        .filter_map(|input| match input {
            InputSpec::User { name } | InputSpec::Constant { name } => Some(name),
            _ => None,
        })
        .collect();
    let placeholders: Vec<Name> = users.iter().map(|name| Name::clone(name)).collect();
    let arguments = trees.forward_arg_names.as_deref().unwrap_or(&[]);
    let names = input_names(&placeholders, &trees.in_spec, arguments, tuples);
    for (user, name) in users.iter_mut().zip(names) {
        **user = name;
    }
}

/// The metadata of the graph's input, which must be the tensor that the signature names.
fn input_tensor<'g>(
    graph: &'g aten::Graph,
    input: &Arg,
    index: usize,
    name: &Text<'_>,
) -> Result<&'g aten::TensorMeta, Problem> {
    let value = match input {
        Arg::Tensor(id) => graph.value(*id).filter(|value| *value.name == **name),
        _ => None,
    };
    match value.map(|value| &value.kind) {
        Some(aten::ValueKind::Tensor(meta)) => Ok(meta),
        _ => Err(Problem::Signature { reason: format!("input {index} is not the tensor {:?}", &**name) }),
    }
}

fn value_name(graph: &aten::Graph, arg: &Arg) -> Option<Name> {
    match arg {
        Arg::Tensor(id) | Arg::SymInt(id) | Arg::SymFloat(id) | Arg::SymBool(id) | Arg::CustomObject(id) => {
            graph.value(*id).map(|value| value.name.clone())
        }
        _ => None,
    }
}

fn outputs(
    specs: Vec<schema::OutputSpec<'_>>,
    graph: &aten::Graph,
    weights: &mut Weights,
    trees: TreeSignature<'_, '_>,
    tuples: &NamedTuples<'_>,
    shared: &mut Interner,
) -> Result<Vec<OutputSpec>, Problem> {
    if specs.len() != graph.outputs.len() {
        let reason = format!("{} outputs for a graph with {}", specs.len(), graph.outputs.len());
        return Err(Problem::Signature { reason });
    }
    let users = specs.iter().filter(|spec| matches!(spec, schema::OutputSpec::UserOutput(_))).count();
    let names = trees.map_or(Vec::new(), |trees| output_names(&trees.out_spec, tuples));
    let mut names = if names.len() == users { names.into_iter() } else { Vec::new().into_iter() };
    specs
        .into_iter()
        .map(|spec| {
            Ok(match spec {
                schema::OutputSpec::UserOutput(_) => OutputSpec::User { name: names.next().flatten() },
                schema::OutputSpec::LossOutput(_) => OutputSpec::Loss,
                schema::OutputSpec::BufferMutation(spec) => OutputSpec::BufferMutation {
                    weight: weights.need(&spec.buffer_name, WeightKind::Buffer, None)?,
                },
                schema::OutputSpec::ParameterMutation(spec) => OutputSpec::ParameterMutation {
                    weight: weights.need(&spec.parameter_name, WeightKind::Parameter, None)?,
                },
                schema::OutputSpec::GradientToParameter(spec) => OutputSpec::GradientToParameter {
                    weight: weights.need(&spec.parameter_name, WeightKind::Parameter, None)?,
                },
                schema::OutputSpec::UserInputMutation(spec) => {
                    OutputSpec::UserInputMutation { name: shared.name(&spec.user_input_name) }
                }
                schema::OutputSpec::GradientToUserInput(spec) => {
                    OutputSpec::GradientToUserInput { name: shared.name(&spec.user_input_name) }
                }
                schema::OutputSpec::Token(_) => OutputSpec::Token,
            })
        })
        .collect()
}

/// A weight belongs to the module that its name's path leads to.
fn add_parameter(modules: &mut ModuleTree, weight: &aten::Weight, tied_to: Option<&Name>) {
    let owner = modules.insert(weight.name.rsplit_once('.').map_or("", |(owner, _)| owner));
    let elements = weight.sizes.iter().product();
    if let Some(module) = modules.get_mut(owner) {
        module.parameters.push(Parameter {
            name: weight.name.clone(),
            elements,
            bytes: weight.dtype.byte_len(elements).unwrap_or(0),
            is_buffer: weight.kind != WeightKind::Parameter,
            tied_to: tied_to.cloned(),
        });
    }
}
