//! Whether the graph multiplies by a parameter, and looks data up in it, where the model does.

use std::collections::HashSet;

use super::accounts::{MatchKind, TensorMatches};
use super::expected::Expected;
use super::flow::Uses;
use super::held::GraphConstant;

/// Parameters that the graph uses in another way than the model, in words.
pub(super) fn differing(
    expected: &Expected,
    held: &[GraphConstant],
    accounts: &TensorMatches,
) -> Vec<String> {
    let mut uses: Vec<Option<Uses>> = vec![None; expected.tensors.len()];
    let mut loose: HashSet<&[u64]> = HashSet::new();
    for (one, meant) in held.iter().zip(&accounts.meant) {
        match meant.and_then(|tensor| uses.get_mut(tensor as usize)) {
            Some(slot) => slot.get_or_insert_default().merge(one.uses),
            None => {
                loose.insert(&one.dims);
            }
        }
    }
    let mut reasons = Vec::new();
    for ((tensor, found), here) in expected.tensors.iter().zip(&accounts.found).zip(uses) {
        let is_known = matches!(found, Some(MatchKind::Name | MatchKind::Content));
        let (Some(there), Some(here)) = (tensor.uses.filter(|uses| is_known && uses.is_weight()), here)
        else {
            continue;
        };
        // A bias is read by the operator that multiplies by the weight.
        if tensor.dims.as_ref().is_some_and(|dims| dims.len() < 2) {
            continue;
        }
        // Another tensor of the graph may be the same in another layout.
        let is_alone = tensor.dims.as_ref().is_some_and(|dims| !loose.contains(dims.as_slice()));
        if here.product && !there.product {
            reasons.push(format!("the file multiplies by {}, and the model does not", tensor.name));
        } else if there.product && !here.product && is_alone {
            reasons.push(format!("the model multiplies by {}, and the file does not", tensor.name));
        }
    }
    reasons
}
