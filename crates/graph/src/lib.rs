//! Types that every part of modelexport shares: the captured ATen program, the ONNX graph, the module tree and
//! the origin of nodes. Nothing here reads or writes a byte, and nothing knows protobuf, JSON or zip.

pub mod aten;
pub mod dtype;
pub mod hash;
pub mod module_tree;
pub mod onnx;
pub mod origin;
pub mod shape;
pub mod storage;
pub mod sym_expr;
pub mod tag;

use std::sync::Arc;

/// A name that is cheap to clone: value, node, symbol and parameter names occur many times.
pub type Name = Arc<str>;

pub use dtype::DType;
pub use module_tree::{Module, ModuleId, ModuleTree};
pub use origin::{Method, ScopeId, Scopes};
pub use shape::Dim;
pub use storage::{SourceId, Span, StridedView, element_count, row_major_strides};
pub use sym_expr::{SymExpr, SymOp};
pub use tag::check_tag;
