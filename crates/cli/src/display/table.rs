//! Tables with aligned columns, truncated to the width of the terminal.

use std::io::{self, Write};

use super::style::Style;
use super::text;

/// Blanks between columns.
const GAP: usize = 2;

/// Title and layout of a column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub title: &'static str,
    pub align: Align,
    /// The column may be truncated to this width. `None`: never.
    pub least: Option<usize>,
    pub cut: Cut,
}

impl Column {
    /// Text, truncated at its end.
    pub const fn text(title: &'static str, least: usize) -> Self {
        Column { title, align: Align::Left, least: Some(least), cut: Cut::End }
    }

    /// A number, never truncated.
    pub const fn number(title: &'static str) -> Self {
        Column { title, align: Align::Right, least: None, cut: Cut::End }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    End,
    Start,
}

/// A cell: pieces of text, each with its style.
#[derive(Clone, Debug, Default)]
pub struct Cell(pub Vec<Piece>);

#[derive(Clone, Debug)]
pub struct Piece {
    pub text: String,
    pub look: Look,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    Plain,
    Bold,
    Dim,
    Accent,
}

impl Cell {
    pub fn new(text: impl Into<String>, look: Look) -> Self {
        Cell(vec![Piece { text: text.into(), look }])
    }

    pub fn and(mut self, text: impl Into<String>, look: Look) -> Self {
        self.0.push(Piece { text: text.into(), look });
        self
    }

    fn width(&self) -> usize {
        self.0.iter().map(|piece| text::width(&piece.text)).sum()
    }

    /// Truncates the cell to at most `columns`.
    fn fit(&self, columns: usize, cut: Cut) -> Cell {
        let mut excess = self.width().saturating_sub(columns);
        let mut pieces = self.0.clone();
        let shorten = |piece: &mut Piece| {
            if excess > 0 {
                let width = text::width(&piece.text);
                let left = width.saturating_sub(excess);
                piece.text = match cut {
                    Cut::End => text::cut_end(&piece.text, left),
                    Cut::Start => text::cut_start(&piece.text, left),
                };
                excess = excess.saturating_sub(width - text::width(&piece.text));
            }
        };
        match cut {
            Cut::End => pieces.iter_mut().rev().for_each(shorten),
            Cut::Start => pieces.iter_mut().for_each(shorten),
        }
        Cell(pieces)
    }
}

/// Prints a row of titles and the rows. Ignores cells beyond the columns.
pub fn write(
    out: &mut dyn Write,
    columns: &[Column],
    rows: &[Vec<Cell>],
    style: Style,
    limit: Option<usize>,
) -> io::Result<()> {
    let mut widths: Vec<usize> = columns.iter().map(|column| text::width(column.title)).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.width().max(*width);
        }
    }
    if let Some(limit) = limit {
        shrink(&mut widths, columns, limit);
    }
    let titles: Vec<Cell> = columns.iter().map(|column| Cell::new(column.title, Look::Dim)).collect();
    for row in std::iter::once(&titles).chain(rows) {
        let mut line = String::new();
        let mut pending = 0;
        for ((cell, column), &width) in row.iter().zip(columns).zip(&widths) {
            let cell = cell.fit(width, column.cut);
            let space = width.saturating_sub(cell.width());
            let (before, after) = if column.align == Align::Right { (space, 0) } else { (0, space) };
            pending += before;
            if cell.width() > 0 {
                line.push_str(&" ".repeat(pending));
                cell.0.iter().for_each(|piece| line.push_str(&paint(style, piece)));
                pending = 0;
            }
            pending += after + GAP;
        }
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Narrows the columns that may be truncated, the last first, until the row fits or none can shrink further.
fn shrink(widths: &mut [usize], columns: &[Column], limit: usize) {
    let gaps = GAP * columns.len().saturating_sub(1);
    let mut excess = (widths.iter().sum::<usize>() + gaps).saturating_sub(limit);
    for (width, column) in widths.iter_mut().zip(columns).rev() {
        let least = column.least.unwrap_or(*width).max(text::width(column.title));
        let given = width.saturating_sub(least).min(excess);
        *width -= given;
        excess -= given;
    }
}

fn paint(style: Style, piece: &Piece) -> String {
    match piece.look {
        Look::Plain => piece.text.clone(),
        Look::Bold => style.bold(&piece.text),
        Look::Dim => style.dim(&piece.text),
        Look::Accent => style.cyan(&piece.text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 3] = [
        Column::text("name", 4),
        Column::number("n"),
        Column { title: "tag", align: Align::Left, least: Some(6), cut: Cut::Start },
    ];

    fn table(limit: Option<usize>, style: Style) -> Vec<String> {
        let rows = [
            vec![
                Cell::new("├ ", Look::Dim).and("encoder", Look::Plain),
                Cell::new("12", Look::Plain),
                Cell::new("/Model/Encoder", Look::Accent),
            ],
            vec![Cell::new("x", Look::Plain), Cell::new("", Look::Plain), Cell::default()],
        ];
        let mut out = Vec::new();
        write(&mut out, &COLUMNS, &rows, style, limit).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn columns_are_aligned_and_lines_end_in_text() {
        assert_eq!(
            table(None, Style::new(false)),
            ["name        n  tag", "├ encoder  12  /Model/Encoder", "x"]
        );
    }

    #[test]
    fn the_last_columns_give_way_first() {
        assert_eq!(
            table(Some(24), Style::new(false)),
            ["name        n  tag", "├ encoder  12  …/Encoder", "x"]
        );
        assert_eq!(table(Some(19), Style::new(false))[1], "├ enco…  12  …coder");
        assert_eq!(table(Some(5), Style::new(false))[1], "├ e…  12  …coder", "no narrower than the least");
    }

    #[test]
    fn looks_do_not_count_as_width() {
        assert_eq!(
            table(Some(24), Style::new(true))[1],
            "\u{1b}[2m├ \u{1b}[0mencoder  12  \u{1b}[36m…/Encoder\u{1b}[0m"
        );
    }
}
