//! The comparison for people.

use std::io::{self, Write};

use modelexport::strategy_comparison::Row;
use modelexport_io::onnx::names::for_screen;

use super::{Recommendation, Report};
use crate::display::number::{counted, exact};
use crate::display::statistics::{fit_text, methods_text};
use crate::display::style::Style;
use crate::display::table::{self, Align, Cell, Column, Cut, Look};

const COLUMNS: [Column; 6] = [
    Column { title: "strategy", align: Align::Left, least: None, cut: Cut::End },
    Column::number("coverage"),
    Column::number("exact"),
    Column::number("in chain"),
    Column::number("seconds"),
    Column::text("nodes by method", 16),
];

pub fn write(report: &Report, out: &mut dyn Write, style: Style, width: Option<usize>) -> io::Result<()> {
    let source = for_screen(&report.source);
    writeln!(out, "{source}, evidence {} ({})", for_screen(&report.evidence), report.evidence_kind)?;
    if !report.has_truth {
        writeln!(out, "the file does not record the modules of its nodes: agreement cannot be measured")?;
    }
    writeln!(out)?;
    let rows: Vec<Vec<Cell>> = report.strategies.iter().map(cells).collect();
    table::write(out, &COLUMNS, &rows, style, width)?;
    for row in &report.strategies {
        write_differences(row, out, style)?;
    }
    writeln!(out, "\n{}", recommendation_text(&report.recommendation))
}

/// Which strategy `tag` chooses, and why.
fn recommendation_text(recommendation: &Recommendation) -> String {
    let Recommendation { strategy, tried, fit } = recommendation;
    let placed: Vec<String> = tried
        .iter()
        .map(|one| format!("{} {} of {}", one.strategy, exact(one.placed), exact(one.nodes)))
        .collect();
    let fit_text = fit_text(fit);
    match fit.is_enough() {
        true => format!(
            "recommended: {strategy}; nodes placed by evidence: {}; fit {fit_text}",
            placed.join(", ")
        ),
        false => format!("recommended: none, the evidence is of another model; fit {fit_text}"),
    }
}

fn cells(row: &Row) -> Vec<Cell> {
    let share = |count: fn(&modelexport::strategy_comparison::Agreement) -> u64| match &row.agreement {
        Some(agreement) if agreement.known > 0 => percent(count(agreement) as f64 / agreement.known as f64),
        _ => "-".to_owned(),
    };
    vec![
        Cell::new(row.strategy, Look::Bold),
        Cell::new(percent(row.coverage), Look::Plain),
        Cell::new(share(|agreement| agreement.exact), Look::Accent),
        Cell::new(share(|agreement| agreement.in_chain), Look::Plain),
        Cell::new(format!("{:.3}", row.seconds), Look::Plain),
        Cell::new(methods_text(&row.by_method), Look::Dim),
    ]
}

fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

fn write_differences(row: &Row, out: &mut dyn Write, style: Style) -> io::Result<()> {
    let Some(agreement) = row.agreement.as_ref().filter(|agreement| !agreement.differing.is_empty()) else {
        return Ok(());
    };
    let wrong = agreement.known - agreement.exact;
    let verb = if agreement.known == 1 { "differs" } else { "differ" };
    let nodes = counted(agreement.known, "node");
    writeln!(out, "\n{}: {} of {nodes} {verb}", row.strategy, exact(wrong))?;
    for difference in &agreement.differing {
        let name = if difference.node.is_empty() { "(no name)" } else { &difference.node };
        let found = format!("{} ({})", difference.found, difference.method);
        writeln!(out, "  {} {}", for_screen(name), style.dim(&for_screen(&difference.op_type)))?;
        writeln!(out, "    found     {}", for_screen(&found))?;
        writeln!(out, "    expected  {}", for_screen(&difference.expected))?;
    }
    Ok(())
}
