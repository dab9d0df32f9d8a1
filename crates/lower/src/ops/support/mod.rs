//! What several operator files share.

pub(crate) mod axis_product;
pub(crate) mod complex;
pub(crate) mod compute;
pub(crate) mod contraction;
pub(crate) mod elimination;
pub(crate) mod fill;
pub(crate) mod formulas;
pub(crate) mod integer_conv;
pub(crate) mod integer_power;
pub(crate) mod jacobi;
pub(crate) mod lstm;
pub(crate) mod matrices;
pub(crate) mod norm;
pub(crate) mod operands;
pub(crate) mod reduction;
pub(crate) mod reflections;
pub(crate) mod repeat;
pub(crate) mod resample;
pub(crate) mod scan;
pub(crate) mod spread;
pub(crate) mod substitution;
pub(crate) mod tolerance;
pub(crate) mod unfold;
pub(crate) mod window;
