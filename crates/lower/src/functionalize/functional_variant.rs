//! Names of in-place operators and of what computes the contents that they write.

/// What an in-place operator does to the tensor that it is called on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// New contents, computed from the old ones.
    Update,
    /// New contents that do not depend on the old ones.
    Overwrite,
    /// `copy_`: the contents of another tensor, broadcast and converted.
    Copy,
    /// `fill_diagonal_`.
    FillDiagonal,
    /// The contents stay; the tensor is another view of them from now on, such as after `t_`.
    Reshape,
    /// Nothing that a value shows: `detach_`.
    Nothing,
    /// The tensor gets other memory or another size: `set_`, `resize_`.
    Storage,
}

/// Namespace, name and overload of a target.
pub(super) fn parts(target: &str) -> Option<(&str, &str, &str)> {
    let mut parts = target.splitn(3, '.');
    Some((parts.next()?, parts.next()?, parts.next()?))
}

/// The name of an ATen operator without its overload; empty for other targets.
pub(super) fn aten_name(target: &str) -> &str {
    match parts(target) {
        Some(("aten", name, _)) => name,
        _ => "",
    }
}

/// The name without the mark of an in-place operator: `add_`, `__iand__`.
fn stem(name: &str) -> Option<String> {
    if let Some(inner) = name.strip_prefix("__i").and_then(|rest| rest.strip_suffix("__")) {
        return matches!(inner, "and" | "or" | "xor" | "lshift" | "rshift").then(|| format!("__{inner}__"));
    }
    name.strip_suffix('_').filter(|name| !name.ends_with('_')).map(str::to_owned)
}

/// What `target` does to its first tensor, if it is an in-place operator.
pub(super) fn effect(target: &str) -> Option<Effect> {
    let (_, name, _) = parts(target)?;
    stem(name)?;
    Some(match name {
        "copy_" => Effect::Copy,
        "fill_" | "zero_" | "uniform_" | "normal_" | "random_" | "exponential_" | "cauchy_"
        | "log_normal_" | "geometric_" | "bernoulli_" => Effect::Overwrite,
        "fill_diagonal_" => Effect::FillDiagonal,
        "squeeze_" | "unsqueeze_" | "transpose_" | "t_" | "swapdims_" | "swapaxes_" | "as_strided_" => {
            Effect::Reshape
        }
        "detach_" | "requires_grad_" => Effect::Nothing,
        "set_" | "resize_" | "resize_as_" | "shallow_copy_data_" | "sparse_resize_" => Effect::Storage,
        _ => Effect::Update,
    })
}

/// The target that computes what an in-place `target` writes: `aten.add_.Tensor` has `aten.add.Tensor`.
pub fn functional_variant(target: &str) -> Option<String> {
    let (namespace, name, overload) = parts(target)?;
    let stem = stem(name)?;
    let (stem, overload) = match (name, overload) {
        // Of the elements that it has; `mutation.rs` refuses more.
        ("resize_" | "resize_as_", _) => ("view", "default"),
        ("requires_grad_", _) => ("alias", "default"),
        ("zero_" | "fill_diagonal_", _) => ("fill", "Scalar"),
        ("normal_", _) => ("normal_functional", "default"),
        ("bernoulli_", "float") => ("bernoulli", "p"),
        ("floor_divide_", "Tensor") => ("floor_divide", "default"),
        ("ldexp_", _) => ("ldexp", "Tensor"),
        ("transpose_", _) => ("transpose", "int"),
        ("pow_" | "float_power_", "Scalar") => (&*stem, "Tensor_Scalar"),
        ("pow_" | "float_power_", "Tensor") => (&*stem, "Tensor_Tensor"),
        _ => (&*stem, overload),
    };
    Some(format!("{namespace}.{stem}.{overload}"))
}

/// The name that the variant of `name` has for an argument where it differs.
pub(super) fn variant_argument<'a>(name: &str, argument: &'a str) -> &'a str {
    match (name, argument) {
        ("dropout_" | "alpha_dropout_" | "feature_dropout_" | "feature_alpha_dropout_", "self") => "input",
        _ => argument,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_drop_the_underscore_and_know_the_exceptions() {
        let variant = |target: &str| functional_variant(target).unwrap_or_default();
        assert_eq!(variant("aten.add_.Tensor"), "aten.add.Tensor");
        assert_eq!(variant("aten.pow_.Scalar"), "aten.pow.Tensor_Scalar");
        assert_eq!(variant("aten.floor_divide_.Tensor"), "aten.floor_divide.default");
        assert_eq!(variant("aten.__iand__.Tensor"), "aten.__and__.Tensor");
        assert_eq!(variant("aten.zero_.default"), "aten.fill.Scalar");
        assert_eq!(functional_variant("aten.__and__.Tensor"), None);
        assert_eq!(functional_variant("aten.add.Tensor"), None);
        assert_eq!(functional_variant("_operator.add"), None);
    }

    #[test]
    fn effects_tell_contents_from_metadata() {
        assert_eq!(effect("aten.relu_.default"), Some(Effect::Update));
        assert_eq!(effect("aten.fill_.Scalar"), Some(Effect::Overwrite));
        assert_eq!(effect("aten.t_.default"), Some(Effect::Reshape));
        assert_eq!(effect("aten.detach_.default"), Some(Effect::Nothing));
        assert_eq!(effect("aten.relu.default"), None);
    }
}
