//! `modelexport operators`.

use clap::Args;

use crate::display::json;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::session::Session;

/// List the operators that can be exported
#[derive(Args)]
pub struct Arguments {
    #[arg(long, default_value = "json")]
    format: String,
}

pub fn run(_: &Arguments, session: &mut Session) -> Result<ExitStatus, Failure> {
    let rows: Vec<serde_json::Value> = modelexport_lower::registry::rows()
        .map(|row| serde_json::json!({"target": row.target, "schema": row.schema, "floor": row.floor}))
        .collect();
    json::write(session.out(), &rows)?;
    Ok(ExitStatus::Success)
}
