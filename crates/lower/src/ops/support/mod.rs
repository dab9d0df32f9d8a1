//! What several operator files share.

pub(crate) mod fill;
pub(crate) mod formulas;
pub(crate) mod operands;
