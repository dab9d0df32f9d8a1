//! Native export, from an archive or from a program that the package hands over in memory.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use modelexport::embedding::Embed;
use modelexport::export::{self, Options};
use modelexport::export_summary::{ForSummary, Seconds, Summary};
use modelexport::functions::{self, Modules};
use modelexport::policy::{Policy, Preset};
use modelexport::tags::TagFormat;
use modelexport::{Error, interface, rules, weights_from};
use modelexport_graph::aten::Program;
use modelexport_io::output::{Settings, Transaction};
use modelexport_io::source::Sources;
use modelexport_io::weights::WeightsMode;
use modelexport_io::{pt2, sidecar};
use modelexport_lower::report;
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

/// The summary and the sidecar, both as JSON, and what the user should know.
type Told<'py> = PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>, Vec<String>)>;

/// Exports an archive that `torch.export.save` wrote.
#[pyfunction]
pub fn export_archive(py: Python<'_>, source: PathBuf, output: PathBuf, choices: Choices) -> Told<'_> {
    let read = |_: &mut Sources| -> Result<_, Error> {
        export::check_source(&source, &output)?;
        let archive = pt2::read(&source)?;
        let told = export::source_of(&source, &archive.program);
        Ok((archive.program, Some(archive.sources), told))
    };
    run(py, &source, &output, choices, &[], Sources::new(), read)
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
pub fn export_program(py: Python<'_>, live: LiveProgram, output: PathBuf, choices: Choices) -> Told<'_> {
    let mut sources = Sources::new();
    let mut by_name = HashMap::new();
    for storage in live.storages {
        let name = storage.name.clone();
        let memory = TensorMemory::new(storage)
            .ok_or_else(|| PyValueError::new_err(format!("storage {name:?} has a length but no address")))?;
        by_name.insert(name.clone(), sources.add_memory(name, Arc::new(memory)));
    }
    let read = |sources: &mut Sources| -> Result<_, Error> {
        let parts = pt2::Parts {
            name: &live.name,
            program: &live.program,
            weights: &live.weights,
            constants: &live.constants,
            storages: &by_name,
        };
        let program = pt2::read_parts(parts, sources)?;
        let told = sidecar::Source {
            kind: "module".to_owned(),
            file: None,
            torch_version: Some(program.torch_version.clone()),
        };
        Ok((program, None, told))
    };
    run(py, Path::new(&live.name), &output, choices, &live.tied, sources, read)
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

type Read = (Program, Option<Sources>, sidecar::Source);

fn run<'py>(
    py: Python<'py>,
    name: &Path,
    output: &Path,
    choices: Choices,
    tied: &[Vec<String>],
    mut sources: Sources,
    read: impl FnOnce(&mut Sources) -> Result<Read, Error> + Send,
) -> Told<'py> {
    let (mut options, mode) = options(&choices)?;
    let stop = gate::Stop::default();
    let flag = stop.flag();
    // Whoever listens is told and not asked: what it raises is not the export's.
    let tell = |step: &str| Python::attach(|py| drop(choices.progress.call1(py, (step,))));
    let work = || -> Result<(Summary, Vec<u8>, Vec<String>), Error> {
        let began = Instant::now();
        let settings = Settings { overwrite: choices.overwrite, ..Settings::default() };
        let mut transaction = Transaction::begin(output, settings)?;
        transaction.stop_on(flag);
        transaction.check(&sidecar::path_beside(output))?;
        let (mut program, own_sources, told) = read(&mut sources)?;
        let mut sources = own_sources.unwrap_or(sources);
        let mut notes = Vec::new();
        if let Some(folder) = &choices.weights_from {
            let attached = weights_from::attach(&mut program, folder, tied, &mut sources)?;
            notes.extend(attached.notes());
        }
        let sources = &sources;
        options.lower.dimension_names = interface::dimension_names(&choices.dimension_names, &program)?;
        interface::rename_inputs(&mut program, &choices.input_names)?;
        interface::rename_outputs(&mut program, &choices.output_names)?;
        let was_read = began.elapsed();
        tell("export");
        let lowered = export::lower(program, sources, &options)
            .map_err(|error| Error::Export { path: name.to_owned(), error })?;
        tell("tag");
        let mut exported = export::tag(lowered, told, &options);
        if let Some(selector) = &choices.functions {
            let modules =
                if selector.is_empty() { Modules::All } else { Modules::Selected(selector.clone()) };
            exported = functions::convert_exported(exported, &modules, output)?;
        }
        let hierarchy = exported
            .sidecar
            .to_bytes()
            .map_err(|source| Error::Write { path: sidecar::path_beside(output), source })?;
        let was_lowered = began.elapsed();
        let statistics = ForSummary::new(&exported.sidecar);
        tell("write");
        let files = export::write(transaction, exported, sources, mode, &mut |_| {})?;
        let total = began.elapsed();
        let seconds = Seconds {
            read: was_read.as_secs_f64(),
            lower: (was_lowered - was_read).as_secs_f64(),
            write: (total - was_lowered).as_secs_f64(),
            total: total.as_secs_f64(),
        };
        Ok((Summary::new(name, choices.opset, statistics, &files, seconds), hierarchy, notes))
    };
    let (summary, hierarchy, notes) =
        gate::run(py, &stop, work)?.map_err(|error| errors::of_library(&error))?;
    let summary = serde_json::to_vec(&summary).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok((PyBytes::new(py, &summary), PyBytes::new(py, &hierarchy), notes))
}

fn options(choices: &Choices) -> PyResult<(Options, WeightsMode)> {
    let bad = |what: &str, given: &str, known: &str| {
        PyValueError::new_err(format!("{what} {given:?} is not known; there are {known}"))
    };
    let mode: WeightsMode = choices
        .weights
        .parse()
        .map_err(|_| bad("weights", &choices.weights, &WeightsMode::ALL.map(WeightsMode::name).join(", ")))?;
    let preset = match &choices.modules {
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
    let mode = if choices.weights_from.is_some() { mode.of_files() } else { mode };
    let rules = read_rules(choices.rules.as_deref())?;
    let custom_operators = rules.operators.clone();
    let options = Options {
        lower: modelexport_lower::Options {
            opset: choices.opset,
            weights_can_move: mode != WeightsMode::Reference,
            fold_batch_norm: !choices.keep_batch_norm && mode.are_copied(),
            fold_parameters: mode.are_copied(),
            custom_operators,
            not_decomposed: choices.not_decomposed.clone(),
            ..modelexport_lower::Options::default()
        },
        policy: Policy::new(preset, choices.torch_nn_exceptions.clone(), rules),
        tag_format,
        embed,
        source_info: choices.source_info,
    };
    Ok((options, mode))
}

fn read_rules(file: Option<&Path>) -> PyResult<rules::Rules> {
    let rules = file.map(rules::read).transpose().map_err(|error| errors::of_library(&error.into()))?;
    Ok(rules.unwrap_or_default())
}
