//! Folds identical layers into one row.

use modelexport::analyze::ModuleRow;

/// A module, or several identical siblings.
pub struct Folded<'a> {
    pub row: &'a ModuleRow,
    /// The last of the siblings, or the row itself.
    pub last: &'a ModuleRow,
    pub count: usize,
    /// How many modules the row stands for: its siblings, times those of the rows above it.
    pub times: usize,
    /// Depth of the row, less the depth of the first.
    pub level: usize,
}

/// Rows at most `depth` levels below the first, without empty modules. Numbered siblings of one class with equal figures
/// are one row, and the modules below them appear once.
pub fn fold(rows: &[ModuleRow], depth: usize) -> Vec<Folded<'_>> {
    let top = rows.first().map_or(0, |row| row.depth);
    let mut folded: Vec<Folded<'_>> = Vec::new();
    let mut i = 0;
    while let Some(row) = rows.get(i) {
        let level = row.depth.saturating_sub(top);
        let next = after_subtree(rows, i);
        if level > depth || is_empty(row) {
            i = if is_empty(row) { next } else { i + 1 };
            continue;
        }
        let (mut last, mut count, mut end) = (row, 1, next);
        while let Some(sibling) = rows.get(end).filter(|sibling| are_alike(row, sibling)) {
            (last, count) = (sibling, count + 1);
            end = after_subtree(rows, end);
        }
        folded.push(Folded { row, last, count, times: count, level });
        if count == 1 {
            i += 1;
            continue;
        }
        // The modules below the first sibling represent those of all siblings.
        for below in fold(rows.get(i + 1..next).unwrap_or_default(), usize::MAX) {
            let level = below.row.depth.saturating_sub(top);
            if level <= depth {
                folded.push(Folded { level, times: below.times.saturating_mul(count), ..below });
            }
        }
        i = end;
    }
    folded
}

fn is_empty(row: &ModuleRow) -> bool {
    row.total.nodes == 0 && row.total.parameters.count == 0
}

/// Index of the first row that is not below row `i`.
fn after_subtree(rows: &[ModuleRow], i: usize) -> usize {
    let depth = rows.get(i).map_or(0, |row| row.depth);
    let below = rows.iter().skip(i + 1).take_while(|row| row.depth > depth).count();
    i + 1 + below
}

fn are_alike(a: &ModuleRow, b: &ModuleRow) -> bool {
    let is_numbered = |row: &ModuleRow| {
        let attribute = row.path.rsplit('.').next().unwrap_or_default();
        !attribute.is_empty() && attribute.bytes().all(|byte| byte.is_ascii_digit())
    };
    is_numbered(a)
        && is_numbered(b)
        && a.parent == b.parent
        && a.class == b.class
        && a.total == b.total
        && a.own == b.own
}
