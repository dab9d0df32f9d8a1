//! A page of text.

use std::io::{self, Write};

use modelexport::analyze::{
    Analysis, ClassRow, Figures, ModuleRow, OperatorRow, Options, Rows, Share, Totals,
};
use modelexport::diagnosis::Level;
use modelexport_io::onnx::names::for_screen;

use super::folding::{Folded, fold};
use crate::display::module::{class_text, path_text};
use crate::display::number::{bytes, counted, exact, short};
use crate::display::statistics::{coverage_by_method, placed_by_evidence, placed_text};
use crate::display::style::Style;
use crate::display::table::{self, Cell, Column, Look};

/// Without `--depth`, the tree is as deep as this many rows allow.
const PAGE: usize = 24;

/// The number of operators that the overview names.
const OPERATORS: usize = 8;

pub fn write(
    analysis: &Analysis,
    options: &Options,
    out: &mut dyn Write,
    style: Style,
    width: Option<usize>,
) -> io::Result<()> {
    write_overview(analysis, out, style)?;
    writeln!(out)?;
    match &analysis.rows {
        Rows::Modules(rows) => {
            let rows = module_rows(rows, options);
            table::write(out, &[&MODULE_COLUMNS[..], &FIGURE_COLUMNS].concat(), &rows, style, width)
        }
        Rows::Classes(rows) => {
            let rows: Vec<Vec<Cell>> = rows.iter().map(class_cells).collect();
            table::write(out, &[&CLASS_COLUMNS[..], &FIGURE_COLUMNS].concat(), &rows, style, width)
        }
        Rows::Operators(rows) => {
            let rows: Vec<Vec<Cell>> = rows.iter().map(operator_cells).collect();
            table::write(out, &OPERATOR_COLUMNS, &rows, style, width)
        }
    }
}

/// File, totals and diagnosis.
pub(super) fn write_overview(analysis: &Analysis, out: &mut dyn Write, style: Style) -> io::Result<()> {
    let mut about = vec![];
    if !analysis.producer.is_empty() {
        about.push(format!("written by {}", analysis.producer));
    }
    about.extend(analysis.opset.map(|opset| format!("opset {opset}")));
    about.extend(analysis.selector.iter().map(|selector| format!("only {selector}")));
    let file = for_screen(&analysis.file).into_owned();
    writeln!(out, "{} {}\n", style.bold(&file), style.dim(&for_screen(&about.join(", "))))?;
    for (name, text) in facts(analysis) {
        writeln!(out, "  {}  {}", style.dim(&format!("{name:<13}")), for_screen(&text))?;
    }
    Ok(())
}

fn facts(analysis: &Analysis) -> Vec<(&'static str, String)> {
    let Totals { figures, .. } = &analysis.totals;
    let totals = &analysis.totals;
    let mut facts = vec![
        (
            "nodes",
            format!(
                "{} of {} in {}, {} executed, depth {}",
                exact(figures.nodes),
                counted(figures.operators.len() as u64, "operator"),
                counted(totals.modules, "module"),
                exact(totals.executed_modules),
                totals.depth
            ),
        ),
        (
            "parameters",
            format!(
                "{} in {} ({} in the file), and {} of constants",
                exact(figures.parameters.elements),
                counted(figures.parameters.count, "tensor"),
                bytes(figures.parameters.bytes),
                bytes(figures.constants.bytes)
            ),
        ),
        ("multiply-adds", estimate(figures.multiply_adds, figures.unknown_multiply_adds, analysis, short)),
        ("activations", estimate(figures.activation_bytes, figures.unknown_activations, analysis, bytes)),
    ];
    facts.push(("coverage", coverage_by_method(totals.coverage, &figures.methods)));
    let placed = placed_by_evidence(figures.methods.iter().map(|(method, nodes)| (&**method, *nodes)));
    if placed < totals.attributed_nodes {
        facts.push(("placed", placed_text(placed, totals.attributed_nodes)));
    }
    let tags = match analysis.diagnosis.level {
        Level::High => analysis.diagnosis.text.clone(),
        Level::Zero => format!("zero: {}", analysis.diagnosis.text),
        Level::Low => format!("low: {}", analysis.diagnosis.text),
    };
    facts.push(("tags", tags));
    facts.push(("operators", operators(figures, OPERATORS)));
    facts
}

/// A number, the sizes it holds for, and how many nodes it does not include.
fn estimate(known: u64, unknown: u64, analysis: &Analysis, shown: fn(u64) -> String) -> String {
    let sizes: Vec<String> = analysis.sizes.iter().map(|(name, size)| format!("{name}={size}")).collect();
    let sizes = if sizes.is_empty() { String::new() } else { format!(" for {}", sizes.join(", ")) };
    match unknown {
        0 => format!("{}{sizes}", shown(known)),
        unknown => {
            let (nodes, verb) = (counted(unknown, "node"), if unknown == 1 { "is" } else { "are" });
            format!("{}{sizes}; {nodes} {verb} unknown because shapes are missing", shown(known))
        }
    }
}

/// `MatMul 14, Add 13, 6 more`.
pub(super) fn operators(figures: &Figures, shown: usize) -> String {
    let mut operators: Vec<(&str, u64)> =
        figures.operators.iter().map(|(operator, nodes)| (&**operator, *nodes)).collect();
    operators.sort_by_key(|(_, nodes)| std::cmp::Reverse(*nodes));
    let more = operators.len().saturating_sub(shown);
    let mut parts: Vec<String> = operators
        .iter()
        .take(shown)
        .map(|(operator, nodes)| format!("{operator} {}", exact(*nodes)))
        .collect();
    if more > 0 {
        parts.push(format!("{more} more"));
    }
    parts.join(", ")
}

const MODULE_COLUMNS: [Column; 2] = [Column::text("module", 20), Column::text("class", 12)];

const CLASS_COLUMNS: [Column; 2] = [Column::text("class", 20), Column::number("instances")];

/// What [`figure_cells`] fills.
const FIGURE_COLUMNS: [Column; 7] = [
    Column::number("nodes"),
    Column::number("params"),
    Column::number("bytes"),
    Column::number("share"),
    Column::number("mult-adds"),
    Column::number("share"),
    Column::number("activations"),
];

fn module_rows(rows: &[ModuleRow], options: &Options) -> Vec<Vec<Cell>> {
    if options.top.is_some() || options.module.is_some() {
        return rows.iter().map(|row| module_cells(row, full_name(row), 1)).collect();
    }
    let depth = options.depth.unwrap_or_else(|| {
        let fits = |depth: &usize| fold(rows, *depth).len() <= PAGE;
        (1..=rows.iter().map(|row| row.depth).max().unwrap_or(1)).take_while(fits).last().unwrap_or(1)
    });
    let folded = fold(rows, depth);
    folded.iter().map(|entry| module_cells(entry.row, tree_name(entry), entry.times)).collect()
}

fn full_name(row: &ModuleRow) -> Cell {
    Cell::new(path_text(&row.path), Look::Bold)
}

/// The last part of the path, indented by its level; `0…11 ×12` for identical layers.
fn tree_name(entry: &Folded<'_>) -> Cell {
    let attribute = |row: &ModuleRow| match row.path.rsplit('.').next() {
        _ if row.path.is_empty() => "(root)".to_owned(),
        attribute => for_screen(attribute.unwrap_or_default()).into_owned(),
    };
    let cell = Cell::new("  ".repeat(entry.level.min(40)), Look::Plain);
    match entry.count {
        1 => cell.and(attribute(entry.row), Look::Bold),
        count => cell
            .and(format!("{}…{}", attribute(entry.row), attribute(entry.last)), Look::Bold)
            .and(format!(" ×{count}"), Look::Dim),
    }
}

pub(super) fn percent(share: f64) -> Cell {
    if share == 0.0 {
        Cell::new("", Look::Dim)
    } else {
        Cell::new(format!("{:.1}%", 100.0 * share), Look::Plain)
    }
}

pub(super) fn number(value: u64, text: String) -> Cell {
    if value == 0 { Cell::new("0", Look::Dim) } else { Cell::new(text, Look::Plain) }
}

/// A number that may be incomplete: `12+`, or `?` if nothing is known.
pub(super) fn known_number(known: u64, unknown: u64, shown: fn(u64) -> String) -> Cell {
    match (known, unknown) {
        (0, 0) => Cell::new("0", Look::Dim),
        (0, _) => Cell::new("?", Look::Dim),
        (known, 0) => Cell::new(shown(known), Look::Plain),
        (known, _) => Cell::new(format!("{}+", shown(known)), Look::Plain),
    }
}

fn figure_cells(figures: &Figures, share: Share, times: usize) -> Vec<Cell> {
    let times = times as u64;
    let parameters = figures.parameters.elements.saturating_mul(times);
    let size = figures.parameters.bytes.saturating_mul(times);
    let unknown = (figures.unknown_multiply_adds, figures.unknown_activations);
    vec![
        number(figures.nodes, exact(figures.nodes.saturating_mul(times))),
        number(parameters, short(parameters)),
        number(size, bytes(size)),
        percent(share.parameters * times as f64),
        known_number(figures.multiply_adds.saturating_mul(times), unknown.0, short),
        percent(share.multiply_adds * times as f64),
        known_number(figures.activation_bytes.saturating_mul(times), unknown.1, bytes),
    ]
}

/// The figures of `times` identical modules together.
fn module_cells(row: &ModuleRow, name: Cell, times: usize) -> Vec<Cell> {
    let mut cells =
        vec![name, Cell::new(class_text(&row.class), if row.visible { Look::Plain } else { Look::Dim })];
    cells.extend(figure_cells(&row.total, row.share, times));
    cells
}

fn class_cells(row: &ClassRow) -> Vec<Cell> {
    let name =
        if row.class.is_empty() { "(unknown)".to_owned() } else { for_screen(&row.class).into_owned() };
    let mut cells = vec![Cell::new(name, Look::Bold), Cell::new(exact(row.instances), Look::Plain)];
    cells.extend(figure_cells(&row.total, row.share, 1));
    cells
}

const OPERATOR_COLUMNS: [Column; 6] = [
    Column::text("operator", 20),
    Column::number("nodes"),
    Column::number("share"),
    Column::number("modules"),
    Column::number("mult-adds"),
    Column::number("activations"),
];

fn operator_cells(row: &OperatorRow) -> Vec<Cell> {
    vec![
        Cell::new(for_screen(&row.operator), Look::Bold),
        number(row.nodes, exact(row.nodes)),
        percent(row.share),
        number(row.modules, exact(row.modules)),
        known_number(row.multiply_adds, row.unknown_multiply_adds, short),
        known_number(row.activation_bytes, row.unknown_activations, bytes),
    ]
}
