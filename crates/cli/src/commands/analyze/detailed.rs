//! Every row with all its figures.

use std::io::{self, Write};

use modelexport::analyze::{Analysis, Figures, ModuleRow, Rows};
use modelexport_io::onnx::names::for_screen;

use super::summary::{known_number, number, operators, percent, write_overview};
use crate::display::module::path_text;
use crate::display::number::{bytes, counted, exact, short};
use crate::display::style::Style;
use crate::display::table::{self, Cell, Column, Look};

const COLUMNS: [Column; 14] = [
    Column::text("module", 20),
    Column::text("class", 12),
    Column::number("depth"),
    Column::number("calls"),
    Column::number("nodes"),
    Column::number("own"),
    Column::number("params"),
    Column::number("bytes"),
    Column::number("mult-adds"),
    Column::number("share"),
    Column::number("activations"),
    Column::number("coverage"),
    Column::text("method", 6),
    Column::text("operators", 20),
];

pub fn write(analysis: &Analysis, out: &mut dyn Write, style: Style, width: Option<usize>) -> io::Result<()> {
    write_overview(analysis, out, style)?;
    writeln!(out)?;
    match &analysis.rows {
        Rows::Modules(rows) => {
            let rows: Vec<Vec<Cell>> = rows.iter().map(cells).collect();
            table::write(out, &COLUMNS, &rows, style, width)
        }
        Rows::Classes(rows) => {
            for row in rows {
                let title = format!("{} ({} ×)", for_screen(&row.class), row.instances);
                list(out, style, &title, &row.total, &row.own)?;
            }
            Ok(())
        }
        Rows::Operators(rows) => {
            for row in rows {
                writeln!(
                    out,
                    "{}\n  {} ({:.1}%) in {}, {}, {}B of activations",
                    style.bold(&for_screen(&row.operator)),
                    counted(row.nodes, "node"),
                    100.0 * row.share,
                    counted(row.modules, "module"),
                    counted(row.multiply_adds, "multiply-add"),
                    exact(row.activation_bytes)
                )?;
            }
            Ok(())
        }
    }
}

fn list(out: &mut dyn Write, style: Style, title: &str, total: &Figures, own: &Figures) -> io::Result<()> {
    writeln!(out, "{}", style.bold(title))?;
    let line = |figures: &Figures| {
        format!(
            "{}, {} ({}B), {}, {}B of activations: {}",
            counted(figures.nodes, "node"),
            counted(figures.parameters.elements, "parameter"),
            exact(figures.parameters.bytes),
            counted(figures.multiply_adds, "multiply-add"),
            exact(figures.activation_bytes),
            operators(figures, usize::MAX)
        )
    };
    writeln!(out, "  total   {}", for_screen(&line(total)))?;
    writeln!(out, "  own     {}", for_screen(&line(own)))
}

fn cells(row: &ModuleRow) -> Vec<Cell> {
    let total = &row.total;
    let calls = if row.executed { exact(row.calls.into()) } else { String::new() };
    vec![
        Cell::new(path_text(&row.path), Look::Bold),
        Cell::new(for_screen(&row.class), if row.visible { Look::Plain } else { Look::Dim }),
        Cell::new(row.depth.to_string(), Look::Dim),
        Cell::new(calls, Look::Plain),
        number(total.nodes, exact(total.nodes)),
        number(row.own.nodes, exact(row.own.nodes)),
        number(total.parameters.elements, exact(total.parameters.elements)),
        number(total.parameters.bytes, bytes(total.parameters.bytes)),
        known_number(total.multiply_adds, total.unknown_multiply_adds, short),
        percent(row.share.multiply_adds),
        known_number(total.activation_bytes, total.unknown_activations, bytes),
        Cell::new(format!("{:.1}%", 100.0 * row.coverage), Look::Plain),
        Cell::new(row.method.unwrap_or_default(), Look::Plain),
        Cell::new(for_screen(&operators(total, usize::MAX)), Look::Dim),
    ]
}
