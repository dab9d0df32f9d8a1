//! The operator registry: which function lowers which ATen overload from which opset on.

use std::sync::OnceLock;

use modelexport_graph::hash::HashMap;

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;

/// How one overload is lowered. Several rows may stand for one target; the highest floor that fits the opset wins.
#[derive(Clone, Copy)]
pub struct Row {
    /// What PyTorch prints for the overload: `aten::topk(…) -> (…)`. The target itself (`_operator.add`) if it has no schema.
    signature: &'static str,
    /// The lowest opset that the row can be used with.
    pub floor: i64,
    pub lower: Lower,
}

/// Emits ONNX nodes for one ATen node and returns the values that stand for its results, lists flattened.
pub type Lower = fn(&mut Context<'_, '_>) -> Result<Outputs>;

impl Row {
    /// A row for every opset.
    pub const fn new(signature: &'static str, lower: Lower) -> Row {
        Row { signature, floor: *crate::OPSETS.start(), lower }
    }

    /// The same row from `floor` on.
    pub const fn since(self, floor: i64) -> Row {
        Row { floor, ..self }
    }

    /// `aten.topk.default`.
    pub fn target(&self) -> String {
        let Some((namespace, schema)) = self.signature.split_once("::") else {
            return self.signature.to_owned();
        };
        let name = schema.split('(').next().unwrap_or_default();
        let overload = if name.contains('.') { "" } else { ".default" };
        format!("{namespace}.{name}{overload}")
    }

    /// The signature without the namespace; empty for targets that have no schema.
    pub fn schema(&self) -> &'static str {
        self.signature.split_once("::").map_or("", |(_, schema)| schema)
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
    static BY_TARGET: OnceLock<HashMap<String, Vec<&'static Row>>> = OnceLock::new();
    let by_target = BY_TARGET.get_or_init(|| {
        let mut map: HashMap<String, Vec<&'static Row>> = HashMap::default();
        for row in rows() {
            map.entry(row.target()).or_default().push(row);
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
            let (target, floor) = (row.target(), row.floor);
            assert!(seen.insert((target.clone(), floor)), "{target} has two rows for opset {floor}");
        }
    }

    #[test]
    fn every_target_can_be_lowered_at_the_lowest_opset_or_says_from_which() {
        for row in rows() {
            assert!(crate::OPSETS.contains(&row.floor), "{}: floor {}", row.target(), row.floor);
        }
    }

    #[test]
    fn targets_come_from_signatures() {
        let target = |signature| Row::new(signature, |_| Ok(().into())).target();
        assert_eq!(target("aten::neg(Tensor self) -> Tensor"), "aten.neg.default");
        assert_eq!(target("aten::add.Tensor(Tensor self, Tensor other) -> Tensor"), "aten.add.Tensor");
        assert_eq!(target("_operator.add"), "_operator.add");
    }

    #[test]
    fn signatures_are_schemas_or_targets() {
        for row in rows() {
            let signature = row.signature;
            let is_target = signature.chars().all(|c| c.is_alphanumeric() || "._".contains(c));
            let is_schema = row.schema().contains('(') && signature.contains(") ->");
            assert!(is_target || is_schema, "{signature}");
            let _ = schema::parameters(row.schema()).count();
        }
    }
}
