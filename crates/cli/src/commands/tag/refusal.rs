//! Evidence that does not fit: nothing is written, and why.

use modelexport::tag::Refusal;

use crate::display::statistics::fit_text;
use crate::failure::Failure;

pub fn failure(refusal: &Refusal) -> Failure {
    let evidence = refusal.evidence.as_deref().unwrap_or("the metadata in the file");
    let mut message =
        format!("{}: {evidence} is evidence of another model: {}", refusal.source, fit_text(&refusal.fit));
    for reason in &refusal.fit.reasons {
        message.push_str(&format!("\n  {reason}"));
    }
    let more = refusal.fit.contradictions.saturating_sub(refusal.fit.reasons.len() as u64);
    if more > 0 {
        message.push_str(&format!("\n  and {more} more"));
    }
    Failure::finding(message)
        .with_hint(Some("use evidence of this model; --force tags the file anyway, with low confidence"))
}
