//! `modelexport validate`: checks the graph and the tags of a file.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use modelexport::json;
use modelexport::validate::{self, Finding, Repaired, Report, Severity};
use modelexport_io::onnx::names::for_screen;
use serde::Serialize;

use crate::arguments::ListFormat;
use crate::display::csv::{self, Value};
use crate::display::number::{counted, exact};
use crate::display::style::Style;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::session::Session;

/// Check the graph and the tags of an ONNX file
///
/// Structure: names are unique, values are defined before they are read, declared shapes and types match the operators,
/// external data exists. Tags: tags are well-formed, their modules and parents exist, no two modules share a tag,
/// doc_string, metadata and sidecar agree. Consistency: a node that reads a parameter belongs to the owner of the parameter,
/// and no value leaves a module call and returns to it through another module.
///
/// The exit status is 1 if there are errors or warnings. Notes do not count.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The ONNX file
    file: PathBuf,

    /// Fix findings that have one right answer, in place or in --output, and list the changes
    ///
    /// Rewrites the tags of nodes whose module is known, and rebuilds a sidecar that disagrees with the file. Nothing else
    /// changes.
    #[arg(long)]
    repair: bool,

    /// Where to write the repaired file [default: in place]
    #[arg(short, long, value_name = "FILE", requires = "repair")]
    output: Option<PathBuf>,

    /// Overwrite the output if it exists
    #[arg(long, requires = "output")]
    overwrite: bool,

    /// How to print the findings
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: ListFormat,
}

const EXAMPLES: &str = "\
Examples:
  modelexport validate model.onnx
  modelexport validate model.onnx --format json | jq '.findings[] | select(.severity == \"error\")'
  modelexport validate model.onnx --repair                       repair in place
  modelexport validate model.onnx --repair -o repaired.onnx";

/// The number of findings of one kind that the text shows.
const SHOWN: usize = 10;

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    report: &'a Report,
    #[serde(skip_serializing_if = "Option::is_none")]
    repaired: Option<Repairs<'a>>,
}

/// What was repaired. `findings` lists what is left.
#[derive(Serialize)]
struct Repairs<'a> {
    output: &'a str,
    nodes: &'a [String],
    sidecar: Option<&'a str>,
    findings_before: &'a [Finding],
}

pub fn run(arguments: &Arguments, session: &mut Session) -> Result<ExitStatus, Failure> {
    let output = arguments.output.as_deref().unwrap_or(&arguments.file);
    let repair = || validate::repair(&arguments.file, output, arguments.overwrite);
    let repaired = arguments.repair.then(repair).transpose()?;
    let checked;
    let report = match &repaired {
        Some(repaired) => &repaired.after,
        None => {
            checked = validate::validate(&arguments.file)?;
            &checked
        }
    };
    match arguments.format {
        ListFormat::Json => {
            let repaired = repaired.as_ref().map(|repaired| Repairs {
                output: &repaired.output,
                nodes: &repaired.nodes,
                sidecar: repaired.sidecar.as_deref(),
                findings_before: &repaired.before.findings,
            });
            json::write(session.out(), &Document { report, repaired })?;
        }
        ListFormat::Csv => write_csv(report, session.out())?,
        ListFormat::Text => {
            let style = session.out_style();
            if let Some(repaired) = &repaired {
                write_repairs(repaired, session.out(), style)?;
            }
            write_text(report, session.out(), style)?;
        }
    }
    Ok(if report.valid { ExitStatus::Success } else { ExitStatus::Finding })
}

fn write_csv(report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    csv::titles(out, &["severity", "group", "check", "place", "message", "repairable"])?;
    for finding in &report.findings {
        let values = [
            Value::Text(finding.severity.name()),
            Value::Text(finding.group.name()),
            Value::Text(finding.check),
            Value::Text(&finding.place),
            Value::Text(&finding.message),
            Value::Text(if finding.repairable { "yes" } else { "no" }),
        ];
        csv::row(out, &values)?;
    }
    Ok(())
}

fn write_repairs(repaired: &Repaired, out: &mut dyn Write, style: Style) -> std::io::Result<()> {
    for place in &repaired.nodes {
        writeln!(out, "{} {}: tags rewritten", style.cyan("repaired"), for_screen(place))?;
    }
    if let Some(sidecar) = &repaired.sidecar {
        writeln!(out, "{} {}: rebuilt from the file", style.cyan("repaired"), for_screen(sidecar))?;
    }
    if repaired.nodes.is_empty() && repaired.sidecar.is_none() {
        writeln!(out, "nothing to repair")?;
    }
    Ok(())
}

fn write_text(report: &Report, out: &mut dyn Write, style: Style) -> std::io::Result<()> {
    let mut shown: BTreeMap<(Severity, &str), usize> = BTreeMap::new();
    let mut last = None;
    for finding in &report.findings {
        let kind = (finding.severity, finding.check);
        if last.is_some_and(|last| last != kind) {
            write_more(out, last, &shown)?;
        }
        last = Some(kind);
        let count = shown.entry(kind).or_default();
        *count += 1;
        if *count <= SHOWN {
            write_finding(finding, out, style)?;
        }
    }
    write_more(out, last, &shown)?;
    let about = format!(
        "{}: {} in {}",
        for_screen(&report.file),
        counted(report.nodes, "node"),
        counted(report.modules, "module")
    );
    if report.findings.is_empty() {
        return writeln!(out, "{about}, no findings");
    }
    let counts = [(report.errors, "error"), (report.warnings, "warning"), (report.notes, "note")];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| counted(*count as u64, noun))
        .collect();
    let repairable = report.findings.iter().filter(|finding| finding.repairable).count();
    let hint = match repairable {
        0 => String::new(),
        count => format!("; --repair fixes {}", exact(count as u64)),
    };
    writeln!(out, "{about}, {}{hint}", counts.join(", "))
}

fn write_finding(finding: &Finding, out: &mut dyn Write, style: Style) -> std::io::Result<()> {
    let label = match finding.severity {
        Severity::Error => style.red("error"),
        Severity::Warning => style.yellow("warning"),
        Severity::Note => style.dim("note"),
    };
    writeln!(
        out,
        "{label} {}: {} {}",
        for_screen(&finding.place),
        for_screen(&finding.message),
        style.dim(&format!("[{}]", finding.check))
    )
}

/// Prints how many findings of a kind are not shown.
fn write_more(
    out: &mut dyn Write,
    kind: Option<(Severity, &str)>,
    shown: &BTreeMap<(Severity, &str), usize>,
) -> std::io::Result<()> {
    let count = kind.and_then(|kind| shown.get(&kind)).copied().unwrap_or(0);
    match (count.checked_sub(SHOWN), kind) {
        (Some(more @ 1..), Some((severity, check))) => {
            writeln!(out, "{} … {} more [{check}]", severity.name(), exact(more as u64))
        }
        _ => Ok(()),
    }
}
