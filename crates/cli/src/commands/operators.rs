//! `modelexport operators`: the supported operators.

use clap::Args;
use modelexport::json;
use modelexport_lower::functionalize::functional_variant;
use modelexport_lower::registry::{self, Row};

use crate::arguments::Format;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::session::Session;

/// List the supported operators
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Show only operators whose name contains this; for an in-place operator such as `relu_`, its functional form
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
    let functional = functional_variant(filter);
    let stem = filter.strip_suffix('_').map(|stem| format!("{stem}."));
    let is_wanted = |(target, _): &(String, &Row)| {
        let is_functional_form = functional.as_ref().is_some_and(|functional| target == functional);
        let has_stem = stem.as_deref().is_some_and(|stem| target.contains(stem));
        is_functional_form || has_stem || target.contains(filter)
    };
    let mut rows: Vec<(String, &Row)> =
        registry::rows().map(|row| (row.target(), row)).filter(is_wanted).collect();
    rows.sort_by(|(a, a_row), (b, b_row)| (a, a_row.floor).cmp(&(b, b_row.floor)));
    match arguments.format {
        Format::Json => {
            let rows: Vec<serde_json::Value> = rows
                .iter()
                .map(|(target, row)| serde_json::json!({"target": target, "schema": row.schema(), "opset": row.floor}))
                .collect();
            json::write(session.out(), &rows)?;
        }
        Format::Text => {
            let style = session.out_style();
            for (target, row) in &rows {
                let opset = format!("opset {}", row.floor);
                let (opset, schema) = (style.dim(&opset), style.dim(row.schema()));
                writeln!(session.out(), "{opset:<9} {target:<44} {schema}")?;
            }
        }
    }
    Ok(if rows.is_empty() { ExitStatus::Finding } else { ExitStatus::Success })
}
