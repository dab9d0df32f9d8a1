//! The tree for people.

use std::io::{self, Write};

use modelexport::hierarchy::FileKind;
use modelexport::policy::{Preset, Verdict};
use modelexport::tree_view::Row;
use modelexport_io::onnx::names::for_screen;

use super::Report;
use crate::display::module::class_text;
use crate::display::number::{counted, exact, short};
use crate::display::style::Style;
use crate::display::table::{self, Align, Cell, Column, Cut, Look};

const COLUMNS: [Column; 7] = [
    Column::text("module", 20),
    Column::text("class", 12),
    Column::number("params"),
    Column::number("calls"),
    Column::number("nodes"),
    Column::number("own"),
    Column { title: "tag", align: Align::Left, least: Some(20), cut: Cut::Start },
];

/// Shown in the tag column if the nodes of a module carry the tag of a module above it.
const HIDDEN: &str = "·";

pub fn write(report: &Report<'_>, out: &mut dyn Write, style: Style, width: Option<usize>) -> io::Result<()> {
    writeln!(out, "{}", heading(report, style))?;
    writeln!(out, "{}\n", summary(report))?;
    table::write(out, &COLUMNS, &rows(report), style, width)?;
    let notes = notes(report);
    if !notes.is_empty() {
        writeln!(out)?;
    }
    for note in notes {
        writeln!(out, "{}", style.dim(&note))?;
    }
    Ok(())
}

fn heading(report: &Report<'_>, style: Style) -> String {
    let file = report.file.to_string_lossy();
    let by = match &report.loaded.kind {
        FileKind::Pt2 { torch_version } => format!("captured by torch {torch_version}"),
        FileKind::Onnx { producer } if producer.is_empty() => String::new(),
        FileKind::Onnx { producer } => format!("written by {producer}"),
    };
    let text = format!("{} {}", style.bold(&for_screen(&file)), style.dim(&for_screen(&by)));
    text.trim_end().to_owned()
}

fn summary(report: &Report<'_>) -> String {
    let hierarchy = &report.loaded.hierarchy;
    let root = report.view.rows.first();
    let nodes = hierarchy.attributed_nodes() + hierarchy.unattributed_nodes;
    let kind = match report.loaded.kind {
        FileKind::Pt2 { .. } => "ATen node",
        FileKind::Onnx { .. } => "ONNX node",
    };
    [
        counted(report.view.rows.len() as u64, "module"),
        format!("{} executed", exact(report.view.executed_modules)),
        format!("{} in tags", exact(report.view.visible_modules)),
        counted(root.map_or(0, |row| row.parameters.total), "parameter"),
        counted(nodes, kind),
        format!("{} tagged", exact(report.view.tagged_operations)),
    ]
    .join(", ")
}

fn rows(report: &Report<'_>) -> Vec<Vec<Cell>> {
    let below = modules_below(&report.view.rows);
    // For each level whether its last child was shown. No line is drawn below a last child.
    let mut ended: Vec<bool> = Vec::new();
    let all_rows = report.view.rows.iter().zip(below);
    let shown = all_rows.filter(|(row, _)| row.depth <= report.depth);
    shown
        .map(|(row, below)| {
            ended.truncate(row.depth);
            ended.push(row.is_last);
            let cut_off = if row.depth == report.depth { below } else { 0 };
            cells(row, &ended, cut_off)
        })
        .collect()
}

/// The number of modules below each row.
fn modules_below(rows: &[Row]) -> Vec<u64> {
    let mut below = vec![0; rows.len()];
    let mut open: Vec<usize> = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        open.truncate(row.depth);
        for &above in &open {
            if let Some(count) = below.get_mut(above) {
                *count += 1;
            }
        }
        open.push(i);
    }
    below
}

fn cells(row: &Row, ended: &[bool], cut_off: u64) -> Vec<Cell> {
    let look = |normal: Look| if row.any_executed { normal } else { Look::Dim };
    let number = |value: u64, text: String| {
        if value == 0 { Cell::new("0", Look::Dim) } else { Cell::new(text, look(Look::Plain)) }
    };
    let is_visible = row.verdict.is_visible();
    let mut name = Cell::new(branches(ended), Look::Dim).and(attribute(row), look(Look::Bold));
    if cut_off > 0 {
        name = name.and(format!(" +{}", exact(cut_off)), Look::Dim);
    }
    let calls = match (row.order, row.any_executed) {
        (Some(_), _) => Cell::new(exact(row.calls.into()), look(Look::Plain)),
        (None, true) => Cell::default(),
        (None, false) => Cell::new("not run", Look::Dim),
    };
    let tag = match is_visible {
        true => Cell::new(for_screen(&row.tag), look(Look::Accent)),
        false => Cell::new(HIDDEN, Look::Dim),
    };
    vec![
        name,
        Cell::new(class_text(&row.class), if is_visible { look(Look::Plain) } else { Look::Dim }),
        number(row.parameters.total, short(row.parameters.total)),
        calls,
        number(row.nodes.total, exact(row.nodes.total)),
        number(row.nodes.own, exact(row.nodes.own)),
        tag,
    ]
}

/// The last part of the path; the root has none.
fn attribute(row: &Row) -> String {
    match (row.depth, row.path.rsplit('.').next()) {
        (0, _) => "(root)".to_owned(),
        (_, None | Some("")) => "\"\"".to_owned(),
        (_, Some(attribute)) => for_screen(attribute).into_owned(),
    }
}

/// The lines that lead to a module; `ended` says for the root and each level below whether it was a last child.
fn branches(ended: &[bool]) -> String {
    let Some((is_last, above)) = ended.get(1..).and_then(<[bool]>::split_last) else { return String::new() };
    let mut text: String = above.iter().map(|&ended| if ended { "   " } else { "│  " }).collect();
    text.push_str(if *is_last { "└─ " } else { "├─ " });
    text
}

/// Notes below the table.
fn notes(report: &Report<'_>) -> Vec<String> {
    let hierarchy = &report.loaded.hierarchy;
    let mut notes = Vec::new();
    if report.shown_rows().any(|row| !row.verdict.is_visible()) {
        notes.push(format!(
            "{HIDDEN} marks a module that is not in tags; its nodes carry the tag of the module above"
        ));
    }
    let is_root_alone = report.view.rows.first().is_some_and(|row| row.verdict == Verdict::ShownAsRoot);
    if report.view.tagged_operations == 0 && is_root_alone && hierarchy.attributed_nodes() > 0 {
        let preset = &report.tags.policy().modules;
        let advice = if preset == Preset::Model.name() {
            "try --modules all, or name classes in --torch-nn-exceptions"
        } else {
            "try --modules model"
        };
        notes.push(format!(
            "no operation is tagged: --modules {preset} selects none of the classes; {advice}"
        ));
    }
    if matches!(report.loaded.kind, FileKind::Onnx { .. }) {
        let evidence: Vec<String> = hierarchy
            .evidence
            .iter()
            .map(|(kind, nodes)| format!("{} ({})", kind.description(), counted(nodes, "node")))
            .collect();
        if !evidence.is_empty() {
            notes.push(format!("modules are taken from {}", evidence.join(", ")));
        }
    }
    if hierarchy.unattributed_nodes > 0 {
        let nodes = counted(hierarchy.unattributed_nodes, "node");
        notes.push(format!("{nodes} without a known module, not counted in the tree"));
    }
    let otherwise = hierarchy.nodes_tagged_otherwise(report.tags);
    if otherwise > 0 {
        let verb = if otherwise == 1 { "carries another tag" } else { "carry other tags" };
        notes.push(format!(
            "{} in the file {verb}: the file was tagged with another policy or format",
            counted(otherwise, "node")
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use modelexport::policy::Policy;
    use modelexport::tags::{TagFormat, Tags};
    use modelexport::tree_view::TreeView;

    use super::*;

    /// A fixture as a terminal of `width` columns shows it, with names for the terminal's codes.
    fn on_terminal(fixture: &str, depth: usize, width: usize) -> String {
        let file =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(fixture).join("model.pt2");
        let loaded = modelexport::hierarchy::load(&file).unwrap();
        let tags = Tags::new(&loaded.hierarchy.tree, &Policy::default(), TagFormat::Instance);
        let view = TreeView::new(&loaded.hierarchy, &tags);
        let report =
            Report { file: Path::new("model.pt2"), loaded: &loaded, tags: &tags, view: &view, depth };
        let mut out = Vec::new();
        write(&report, &mut out, Style::new(true), Some(width)).unwrap();
        let codes = [("1", "<bold>"), ("2", "<dim>"), ("36", "<cyan>"), ("0", "</>")];
        let text = String::from_utf8(out).unwrap();
        codes.into_iter().fold(text, |text, (code, name)| text.replace(&format!("\u{1b}[{code}m"), name))
    }

    #[test]
    fn secondary_things_are_dim() {
        insta::assert_snapshot!(on_terminal("not_executed", 3, 200));
    }

    #[test]
    fn a_narrow_terminal_cuts_tags_first() {
        let text = on_terminal("bert_tiny", 4, 90);
        insta::assert_snapshot!(text);
        for line in text.lines().skip(3).take_while(|line| !line.is_empty()) {
            let plain = ["<bold>", "<dim>", "<cyan>", "</>"]
                .into_iter()
                .fold(line.to_owned(), |line, code| line.replace(code, ""));
            assert!(crate::display::text::width(&plain) <= 90, "{plain}");
        }
    }
}
