//! What several op files share.

pub(crate) mod compute;
pub(crate) mod contraction;
pub(crate) mod norm;
pub(crate) mod window;
