//! `modelexport export`.

use std::path::PathBuf;

use clap::Args;
use modelexport::export::{Options, export};
use modelexport_io::onnx::Chunk;
use modelexport_io::{ErrorKind, onnx, pt2, sidecar};

use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::session::Session;

/// Export a captured program to ONNX
#[derive(Args)]
pub struct Arguments {
    source: PathBuf,
    #[arg(short, long)]
    output: PathBuf,
    #[arg(long, default_value_t = 20)]
    opset: i64,
}

pub fn run(arguments: &Arguments, _: &mut Session) -> Result<ExitStatus, Failure> {
    try_run(arguments).map_err(|error| Failure::new(error, ErrorKind::BadInput))?;
    Ok(ExitStatus::Success)
}

fn try_run(arguments: &Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let archive = pt2::read(&arguments.source)?;
    let options = Options {
        lower: modelexport_lower::Options { opset: arguments.opset, ..Default::default() },
        policy: Default::default(),
        tag_format: Default::default(),
        embed: Default::default(),
    };
    let source = sidecar::Source {
        kind: "pt2".into(),
        file: arguments.source.file_name().map(|name| name.to_string_lossy().into_owned()),
        torch_version: Some(archive.program.torch_version.clone()),
    };
    let exported = export(archive.program, &archive.sources, source, &options)?;
    let mut bytes = Vec::new();
    for chunk in onnx::encode(&exported.model)? {
        match chunk {
            Chunk::Bytes(part) => bytes.extend(part),
            Chunk::View { view, dtype_bits } => {
                let size = (dtype_bits / 8) as usize;
                let mut storage = vec![0; view.span.length as usize];
                archive.sources.read_at(view.span.source, view.span.offset, &mut storage)?;
                let mut at = vec![0u64; view.sizes.len()];
                let count: u64 = view.sizes.iter().product();
                for _ in 0..count {
                    let place = view.offset + at.iter().zip(&view.strides).map(|(i, s)| i * s).sum::<u64>();
                    bytes.extend(&storage[place as usize * size..place as usize * size + size]);
                    for axis in (0..at.len()).rev() {
                        at[axis] += 1;
                        if at[axis] < view.sizes[axis] {
                            break;
                        }
                        at[axis] = 0;
                    }
                }
            }
        }
    }
    std::fs::write(&arguments.output, bytes)?;
    std::fs::write(sidecar::path_beside(&arguments.output), exported.sidecar.to_bytes()?)?;
    Ok(())
}
