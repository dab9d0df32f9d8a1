//! What tagging did, for people.

use std::io::{self, Write};

use modelexport::diagnosis::{Level, PARTIAL as PARTIAL_SHARE};
use modelexport::tag::{StrategyTrial, Summary};
use modelexport_io::onnx::names::for_screen;

use crate::display::number::{bytes, counted, exact};
use crate::display::statistics::{coverage_text, fit_text, modules_text, placed_by_evidence, placed_text};
use crate::display::style::Style;

const PARTIAL: &str = "some nodes record no module, as after an optimizer: to restore all tags, use --from with the tagged \
                       file that this one was made from";

/// What other strategies placed, if there were others.
fn tried_text(tried: &[StrategyTrial], taken: &str) -> String {
    let others: Vec<String> = tried
        .iter()
        .filter(|one| one.strategy != taken)
        .map(|one| format!("{} {}", one.strategy, exact(one.placed)))
        .collect();
    let own = tried.iter().find(|one| one.strategy == taken).map_or(0, |one| one.placed);
    match others.is_empty() {
        true => String::new(),
        false => format!(", which places {} nodes ({})", exact(own), others.join(", ")),
    }
}

pub fn write_text(summary: &Summary, out: &mut dyn Write, style: Style) -> io::Result<()> {
    let mut line = |label: &str, text: String| {
        writeln!(out, "  {}  {}", style.dim(&format!("{label:<9}")), for_screen(&text))
    };
    for (i, file) in summary.files.iter().enumerate() {
        let label = if i == 0 { "wrote" } else { "" };
        line(label, format!("{} ({})", file.path, bytes(file.bytes)))?;
    }
    let evidence = summary.evidence.as_deref().unwrap_or("the file itself");
    line("evidence", format!("{evidence} ({})", summary.evidence_kind))?;
    line("strategy", format!("{}{}", summary.strategy, tried_text(&summary.tried, &summary.strategy)))?;
    if let Some(fit) = &summary.fit {
        line("fit", fit_text(fit))?;
    }
    line("graph", counted(summary.statistics.nodes, "node"))?;
    line("modules", modules_text(&summary.statistics))?;
    line("coverage", coverage_text(&summary.statistics))?;
    let methods = summary.statistics.by_method.iter().map(|(method, count)| (method.as_str(), *count));
    let placed = placed_by_evidence(methods);
    line("placed", placed_text(placed, summary.statistics.attributed_nodes))?;
    line("time", format!("{:.3} s", summary.seconds.total))?;
    let mut warn = |label: &str, text: &str| {
        writeln!(out, "  {}  {}", style.yellow(&format!("{label:<9}")), for_screen(text))
    };
    if summary.fit.as_ref().is_some_and(|fit| fit.forced) {
        warn("forced", "the evidence does not fit: every tag has low confidence")?;
    }
    if summary.evidence.is_none() && (placed as f64) < (1.0 - PARTIAL_SHARE) * summary.statistics.nodes as f64
    {
        warn("partial", PARTIAL)?;
    }
    let text = for_screen(&summary.diagnosis.text).into_owned();
    match summary.diagnosis.level {
        Level::High => writeln!(out, "  {}  {text}", style.dim(&format!("{:<9}", "tags"))),
        Level::Zero | Level::Low => {
            writeln!(out, "  {}  {text}", style.yellow(&format!("{:<9}", "tags")))
        }
    }
}
