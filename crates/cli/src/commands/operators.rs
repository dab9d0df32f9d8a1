//! `modelexport operators`.

use std::process::ExitCode;

use clap::Args;

/// List the operators that can be exported
#[derive(Args)]
pub struct Arguments {
    #[arg(long, default_value = "json")]
    format: String,
}

pub fn run(_: &Arguments) -> ExitCode {
    let rows: Vec<serde_json::Value> = modelexport_lower::registry::rows()
        .map(|row| serde_json::json!({"target": row.target, "schema": row.schema, "floor": row.floor}))
        .collect();
    println!("{}", serde_json::Value::from(rows));
    ExitCode::SUCCESS
}
