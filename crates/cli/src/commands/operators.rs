//! `modelexport operators`: what the registry can lower.

use clap::Args;
use modelexport_lower::functionalize::functional_twin;
use modelexport_lower::registry::{self, Row};
use serde_json::json;

use crate::arguments::Format;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::session::Session;

/// List the operators that can be exported
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Only operators whose name contains this. For an in-place operator, such as `relu_`, the one that it is exported as
    filter: Option<String>,

    /// How to print the list
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  modelexport operators softmax
  modelexport operators aten.add_.Tensor
  modelexport operators --format json | jq -r '.[].target'";

pub fn run(arguments: &Arguments, session: &mut Session) -> Result<ExitStatus, Failure> {
    let filter = arguments.filter.as_deref().unwrap_or_default();
    let twin = functional_twin(filter);
    let stem = filter.strip_suffix('_').map(|stem| format!("{stem}."));
    let is_wanted = |row: &&Row| {
        let is_twin = twin.as_deref().is_some_and(|twin| row.target == twin);
        let has_stem = stem.as_deref().is_some_and(|stem| row.target.contains(stem));
        is_twin || has_stem || row.target.contains(filter)
    };
    let mut rows: Vec<&Row> = registry::rows().filter(is_wanted).collect();
    rows.sort_by_key(|row| (row.target, row.floor));
    match arguments.format {
        Format::Json => {
            let rows: Vec<serde_json::Value> = rows
                .iter()
                .map(|row| json!({"target": row.target, "schema": row.schema, "opset": row.floor}))
                .collect();
            serde_json::to_writer(session.out(), &rows)?;
            writeln!(session.out())?;
        }
        Format::Text => {
            let style = session.out_style();
            for row in &rows {
                let opset = format!("opset {}", row.floor);
                writeln!(
                    session.out(),
                    "{:<9} {:<44} {}",
                    style.dim(&opset),
                    row.target,
                    style.dim(row.schema)
                )?;
            }
        }
    }
    Ok(if rows.is_empty() { ExitStatus::Finding } else { ExitStatus::Success })
}
