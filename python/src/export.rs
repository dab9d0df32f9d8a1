//! Native export, from an archive or from a program that the package hands over in memory.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use modelexport::embedding::Embed;
use modelexport::export::Source;
use modelexport::functions::Modules;
use modelexport::policy::Preset;
use modelexport::tags::TagFormat;
use modelexport::{Export, Observer, Step, TagChoice, Target, rules};
use modelexport_io::pt2;
use modelexport_io::source::Sources;
use modelexport_io::weights::WeightsMode;
use modelexport_lower::{Fuse, report};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::tensor_memory::{Storage, TensorMemory};
use crate::{errors, gate};

/// What a user can choose, as the package gives it: a dictionary with these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Choices {
    opset: i64,
    weights: String,
    /// Safetensors files that hold the weights.
    weights_from: Option<PathBuf>,
    overwrite: bool,
    embed: String,
    source_info: bool,
    keep_batch_norm: bool,
    fuse: String,
    input_names: Vec<String>,
    output_names: Vec<String>,
    /// `INPUT:AXIS=NAME` or `SYMBOL=NAME`.
    dimension_names: Vec<String>,
    modules: Option<String>,
    torch_nn_exceptions: Option<Vec<String>>,
    rules: Option<PathBuf>,
    tag_format: String,
    /// Selectors of the modules that become functions, joined by commas; empty for all modules.
    functions: Option<String>,
    /// Why torch did not decompose what cannot be exported, by operator; `None` if it was not asked.
    not_decomposed: Option<BTreeMap<String, String>>,
    /// Is called with the name of each step.
    progress: Py<PyAny>,
}

/// The summary and the sidecar, both as JSON, and the warnings.
type Exported<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Vec<String>);

/// Exports an archive that `torch.export.save` wrote.
#[pyfunction]
pub fn export_archive(
    py: Python<'_>,
    source: PathBuf,
    output: PathBuf,
    choices: Choices,
) -> PyResult<Exported<'_>> {
    run(py, Source::Archive(source), output, choices)
}

/// A program in memory: the JSON texts of an archive, and the storages that its weights are in. An object with these
/// attributes.
#[derive(FromPyObject)]
pub struct LiveProgram {
    /// Stands for it in messages.
    name: String,
    program: PyBackedBytes,
    weights: PyBackedBytes,
    constants: PyBackedBytes,
    storages: Vec<Storage>,
    /// Names of one and the same weight.
    tied: Vec<Vec<String>>,
}

/// Exports a program from memory.
#[pyfunction]
pub fn export_program(
    py: Python<'_>,
    live: LiveProgram,
    output: PathBuf,
    choices: Choices,
) -> PyResult<Exported<'_>> {
    let mut sources = Sources::new();
    let mut by_name = HashMap::new();
    for storage in live.storages {
        let name = storage.name.clone();
        let memory = TensorMemory::new(storage)
            .ok_or_else(|| PyValueError::new_err(format!("storage {name:?} has a length but no address")))?;
        by_name.insert(name.clone(), sources.add_memory(name, Arc::new(memory)));
    }
    let parts = pt2::Parts {
        name: &live.name,
        program: &live.program,
        weights: &live.weights,
        constants: &live.constants,
        storages: &by_name,
    };
    run(py, Source::Memory { parts, sources, tied: &live.tied }, output, choices)
}

/// Those of `targets` that cannot be exported.
#[pyfunction]
pub fn missing_operators(targets: Vec<String>, opset: i64, rules: Option<PathBuf>) -> PyResult<Vec<String>> {
    let custom_operators = read_rules(rules.as_deref())?.operators;
    if !modelexport_lower::OPSETS.contains(&opset) {
        return Err(PyValueError::new_err(modelexport_lower::Error::Opset(opset).to_string()));
    }
    let options = modelexport_lower::Options { opset, custom_operators, ..Default::default() };
    let missing = report::missing(targets.iter().map(String::as_str), &options);
    Ok(missing.into_iter().map(str::to_owned).collect())
}

/// Tells Python about steps and collects warnings.
struct PythonObserver<'a> {
    progress: &'a Py<PyAny>,
    warnings: Vec<String>,
}

impl Observer for PythonObserver<'_> {
    fn step(&mut self, step: Step, _: &Path) {
        let name = match step {
            Step::Read => return,
            Step::Lower => "export",
            Step::Tag => "tag",
            Step::Write => "write",
        };
        // An exception of the listener does not concern the export.
        Python::attach(|py| drop(self.progress.call1(py, (name,))));
    }

    fn warning(&mut self, text: &str) {
        self.warnings.push(text.to_owned());
    }
}

fn run<'py>(
    py: Python<'py>,
    source: Source<'_>,
    output: PathBuf,
    choices: Choices,
) -> PyResult<Exported<'py>> {
    let stop = gate::Stop::default();
    let target = Target { cancel: Some(stop.flag()), ..Target::new(output).overwrite(choices.overwrite) };
    let (export, progress) = export(source, target, choices)?;
    let mut observer = PythonObserver { progress: &progress, warnings: Vec::new() };
    let exported =
        gate::run(py, &stop, || export.run(&mut observer))?.map_err(|error| errors::of_library(&error))?;
    let summary =
        serde_json::to_vec(&exported.summary).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok((PyBytes::new(py, &summary), PyBytes::new(py, &exported.sidecar), observer.warnings))
}

/// The export that was asked for, and who is told of its progress.
fn export(source: Source<'_>, target: Target, choices: Choices) -> PyResult<(Export<'_>, Py<PyAny>)> {
    let bad = |what: &str, given: &str, known: &str| {
        PyValueError::new_err(format!("{what} {given:?} is not known; there are {known}"))
    };
    let weights: WeightsMode = choices
        .weights
        .parse()
        .map_err(|_| bad("weights", &choices.weights, &WeightsMode::ALL.map(WeightsMode::name).join(", ")))?;
    let modules = match &choices.modules {
        None => None,
        Some(name) => Some(
            Preset::from_name(name)
                .ok_or_else(|| bad("modules", name, &Preset::ALL.map(Preset::name).join(", ")))?,
        ),
    };
    let tag_format = TagFormat::from_name(&choices.tag_format)
        .ok_or_else(|| bad("tag_format", &choices.tag_format, "instance, class"))?;
    let embed = Embed::parse(&choices.embed)
        .ok_or_else(|| bad("embed", &choices.embed, "doc-string, metadata-props, both, none"))?;
    let fuse: Fuse = choices
        .fuse
        .parse()
        .map_err(|_| bad("fuse", &choices.fuse, &Fuse::ALL.map(Fuse::name).join(", ")))?;
    let functions = choices.functions.map(|selector| match selector.is_empty() {
        true => Modules::All,
        false => Modules::Selected(selector),
    });
    let export = Export {
        opset: choices.opset,
        weights,
        weights_from: choices.weights_from,
        embed,
        tags: TagChoice {
            modules,
            torch_nn_exceptions: choices.torch_nn_exceptions,
            rules: choices.rules,
            tag_format: Some(tag_format),
        },
        source_info: choices.source_info,
        keep_batch_norm: choices.keep_batch_norm,
        fuse,
        input_names: choices.input_names,
        output_names: choices.output_names,
        dimension_names: choices.dimension_names,
        functions,
        not_decomposed: choices.not_decomposed,
        returns_sidecar: true,
        ..Export::of(source, target)
    };
    Ok((export, choices.progress))
}

fn read_rules(file: Option<&Path>) -> PyResult<rules::Rules> {
    let rules = file.map(rules::read).transpose().map_err(|error| errors::of_library(&error.into()))?;
    Ok(rules.unwrap_or_default())
}
