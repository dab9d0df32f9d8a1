//! What a lowering sees of one ATen node: its arguments by their names in the schema, with defaults and typed
//! errors; metadata; and the [`Builder`], to which it dereferences.

mod dims;
mod numbers;
mod scalars;
mod shapes;
mod subgraphs;
mod tensors;

use std::ops::{Deref, DerefMut};

use modelexport_graph::aten::{self, Arg};

use crate::argument_text;
use crate::builder::Builder;
use crate::driver::Lowering;
use crate::error::{Error, Location, Result};
use crate::schema::Default;

pub use scalars::Scalar;

/// One ATen node under translation.
pub struct Context<'l, 'p> {
    pub(crate) lowering: &'l mut Lowering<'p>,
    pub(crate) graph: &'p aten::Graph,
    pub(crate) node: &'p aten::Node,
    pub(crate) schema: &'static str,
}

impl Deref for Context<'_, '_> {
    type Target = Builder;

    fn deref(&self) -> &Builder {
        &self.lowering.builder
    }
}

impl DerefMut for Context<'_, '_> {
    fn deref_mut(&mut self) -> &mut Builder {
        &mut self.lowering.builder
    }
}

impl<'p> Context<'_, 'p> {
    pub fn place(&self) -> Location {
        self.lowering.place(self.node)
    }

    /// The node asks for something that cannot be expressed.
    pub fn refuse<T>(&self, reason: impl Into<String>) -> Result<T> {
        Err(Error::Node { place: Box::new(self.place()), reason: reason.into() })
    }

    /// The argument is of the right kind, but has a value that cannot be expressed.
    pub fn wrong<T>(&self, argument: &str, expected: &str, found: impl std::fmt::Debug) -> Result<T> {
        Err(Error::Argument {
            place: Box::new(self.place()),
            argument: argument.to_owned(),
            expected: expected.to_owned(),
            found: format!("{found:?}"),
        })
    }

    /// The argument is something else than `expected`, or is not there at all.
    pub fn wrong_kind<T>(&self, argument: &str, expected: &str, found: Option<&Arg>) -> Result<T> {
        Err(Error::Argument {
            place: Box::new(self.place()),
            argument: argument.to_owned(),
            expected: expected.to_owned(),
            found: found.map_or_else(|| "nothing".to_owned(), |arg| argument_text::describe(self.graph, arg)),
        })
    }

    pub fn target(&self) -> &'p str {
        &self.node.target
    }

    /// The argument as it stands in the program; `None` if the call left it out or gave Python's `None`.
    pub fn arg(&self, name: &str) -> Option<&'p Arg> {
        self.node.arg(name).filter(|arg| !matches!(arg, Arg::None))
    }

    /// All arguments in order, for operators without a schema.
    pub fn args(&self) -> impl Iterator<Item = &'p Arg> + use<'p> {
        let node = self.node;
        node.args.iter().map(|arg| &arg.arg)
    }

    /// The results as they stand in the program.
    pub fn results(&self) -> &'p [Arg] {
        &self.node.outputs
    }

    fn default_of(&self, name: &str) -> Option<Default> {
        self.lowering.defaults.get(self.schema, name)
    }
}
