//! What cannot be exported, as a finding: exit status 1, nothing written.

use modelexport::json;
use modelexport_lower::report::Unsupported;

use crate::arguments::Format;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::session::Session;

pub fn unsupported(
    missing: &Unsupported,
    format: Format,
    session: &mut Session,
) -> Result<ExitStatus, Failure> {
    match format {
        Format::Text => Err(Failure::finding(missing)),
        Format::Json => {
            let operators: Vec<serde_json::Value> = missing
                .operators
                .iter()
                .map(|operator| {
                    serde_json::json!({
                        "target": operator.target,
                        "count": operator.count,
                        "modules": operator.modules,
                        "source": operator.source,
                        "from_opset": operator.from_opset,
                        "decomposition": operator.decomposition.to_string(),
                    })
                })
                .collect();
            let report = serde_json::json!({
                "exported": false,
                "opset": missing.opset,
                "unsupported": operators,
                "decompose": missing.decompose,
            });
            json::write(session.out(), &report)?;
            Ok(ExitStatus::Finding)
        }
    }
}
