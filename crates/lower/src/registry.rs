//! The operator registry: which function lowers which ATen overload from which opset on.

use std::sync::OnceLock;

use modelexport_graph::hash::HashMap;

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;

/// How one overload is lowered. Several rows may stand for one target; the highest floor that fits the opset wins.
#[derive(Clone, Copy)]
pub struct Row {
    /// `aten.topk.default`.
    pub target: &'static str,
    /// What PyTorch prints for the overload, without the namespace; empty for targets that have no schema.
    pub schema: &'static str,
    /// The lowest opset that the row can be used with.
    pub floor: i64,
    pub lower: Lower,
}

/// Emits ONNX nodes for one ATen node and returns the values that stand for its results, lists flattened.
pub type Lower = fn(&mut Context<'_, '_>) -> Result<Outputs>;

impl Row {
    /// A row for every opset.
    pub const fn new(target: &'static str, schema: &'static str, lower: Lower) -> Row {
        Row { target, schema, floor: *crate::OPSETS.start(), lower }
    }

    /// The same row from `floor` on.
    pub const fn since(self, floor: i64) -> Row {
        Row { floor, ..self }
    }
}

/// The results of a lowering.
#[derive(Clone, Debug, Default)]
pub struct Outputs(pub Vec<ValueId>);

impl From<ValueId> for Outputs {
    fn from(value: ValueId) -> Self {
        Outputs(vec![value])
    }
}

impl From<Vec<ValueId>> for Outputs {
    fn from(values: Vec<ValueId>) -> Self {
        Outputs(values)
    }
}

impl<const N: usize> From<[ValueId; N]> for Outputs {
    fn from(values: [ValueId; N]) -> Self {
        Outputs(values.to_vec())
    }
}

/// No result: assertions.
impl From<()> for Outputs {
    fn from((): ()) -> Self {
        Outputs(Vec::new())
    }
}

/// All rows, in the order of the op files.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    crate::ops::FAMILIES.iter().flat_map(|family| family.iter())
}

/// The row for `target` with the highest floor that `opset` reaches.
pub fn find(target: &str, opset: i64) -> Option<&'static Row> {
    static BY_TARGET: OnceLock<HashMap<&'static str, Vec<&'static Row>>> = OnceLock::new();
    let by_target = BY_TARGET.get_or_init(|| {
        let mut map: HashMap<&'static str, Vec<&'static Row>> = HashMap::default();
        for row in rows() {
            map.entry(row.target).or_default().push(row);
        }
        map
    });
    by_target.get(target)?.iter().filter(|row| row.floor <= opset).max_by_key(|row| row.floor).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema;

    #[test]
    fn no_target_has_two_rows_with_one_floor() {
        let mut seen = std::collections::HashSet::new();
        for row in rows() {
            assert!(
                seen.insert((row.target, row.floor)),
                "{} has two rows for opset {}",
                row.target,
                row.floor
            );
        }
    }

    #[test]
    fn every_target_can_be_lowered_at_the_lowest_opset_or_says_from_which() {
        for row in rows() {
            assert!(crate::OPSETS.contains(&row.floor), "{}: floor {}", row.target, row.floor);
        }
    }

    #[test]
    fn schemas_name_their_operator() {
        for row in rows().filter(|row| !row.schema.is_empty()) {
            let name = row.target.split('.').nth(1).unwrap_or_default();
            let head = row.schema.split(['(', '.']).next().unwrap_or_default();
            assert_eq!(head, name, "{}", row.target);
            assert!(row.schema.contains(") ->"), "{}: schema without a result", row.target);
            assert!(
                row.schema.starts_with(&format!("{name}(")) || row.schema.starts_with(&format!("{name}."))
            );
            let _ = schema::parameters(row.schema).count();
        }
    }
}
