//! What a user can ask for.

use std::path::{Path, PathBuf};

use clap::Parser;
use modelexport_fuzz::targets::{self};
use modelexport_fuzz::{Inputs, Target};

/// Tries the properties of modelexport on inputs that are made from small models, mostly well-formed.
///
/// A seed determines all inputs: the input with number N is the same in every run. Each target runs in a process of its
/// own, so that a panic, an abort, an input that takes more than 10 seconds of a processor or more than 512 MiB is found, saved and told
/// with the command that shows it again.
#[derive(Parser)]
#[command(name = "fuzz/run", after_help = AFTER, max_term_width = 110)]
pub struct Arguments {
    /// The targets to run; all without any
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,

    /// How long to run, all targets together
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub seconds: u64,

    /// How many inputs to try on each target, however long it takes
    #[arg(long, value_name = "N", conflicts_with = "seconds")]
    pub inputs: Option<u64>,

    /// The number that determines the inputs
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,

    /// The number of the first input: where an earlier run ended
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub first: u64,

    /// Try one target on the input in this file, in this process
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,

    /// Write the seeds of each target to a folder below this one, for libFuzzer, and stop
    #[arg(long, value_name = "FOLDER")]
    pub write_seeds: Option<PathBuf>,

    /// List the targets and their properties, and stop
    #[arg(long)]
    pub list: bool,

    /// Run one target, and tell in this file how far it is
    #[arg(long, value_name = "FILE", hide = true)]
    pub worker: Option<PathBuf>,
}

const AFTER: &str = "\
Examples:
  fuzz/run                                             all targets, 60 seconds together
  fuzz/run --seconds 600 onnx_strip_undoes_tag         one target, ten minutes
  fuzz/run --inputs 10000000 --seed 2                  ten million inputs of each
  fuzz/run --inputs 10000000 --seed 2 --first 4000000  the same, from input 4,000,000 on
  fuzz/run --input failures/FILE TARGET                one input again, with its message

Exit status: 0 all properties held, 1 one did not, 2 wrong usage.";

impl Arguments {
    pub fn targets(&self) -> Result<Vec<&'static Target>, String> {
        if self.targets.is_empty() {
            return Ok(targets::ALL.to_vec());
        }
        self.targets.iter().map(|name| find(name)).collect()
    }

    /// The one target that is named.
    pub fn target(&self) -> Result<&'static Target, String> {
        match self.targets.as_slice() {
            [name] => find(name),
            _ => Err("name the one target that the input is for".into()),
        }
    }

    pub fn write_seeds(&self, folder: &Path) -> Result<bool, String> {
        for target in self.targets()? {
            let folder = folder.join(target.name);
            let told = |error| format!("{}: {error}", folder.display());
            std::fs::create_dir_all(&folder).map_err(told)?;
            let inputs = Inputs::new(target, self.seed);
            for index in 0..inputs.seeds() {
                std::fs::write(folder.join(format!("seed-{index:02}")), inputs.get(index)).map_err(told)?;
            }
        }
        Ok(true)
    }
}

fn find(name: &str) -> Result<&'static Target, String> {
    let names = || targets::ALL.map(|target| target.name).join("\n  ");
    let found = targets::ALL.into_iter().find(|target| target.name == name);
    found.ok_or_else(|| format!("there is no target {name:?}; there are\n  {}", names()))
}
