//! A node as the rules see it.

use std::borrow::Cow;
use std::cell::RefCell;

use modelexport_graph::DType;

use crate::ValueType;
use crate::size::{Dims, Size, broadcast, shape_text};

/// The attributes of a node, in whatever form the graph has them. An attribute of another kind is one that is missing.
pub trait Attributes {
    fn int(&self, name: &str) -> Option<i64>;
    fn ints(&self, name: &str) -> Option<Cow<'_, [i64]>>;
    fn text(&self, name: &str) -> Option<&str>;
    /// The type of a tensor, a list or a single value.
    fn value_type(&self, name: &str) -> Option<ValueType>;
}

/// A node with the types of what it reads.
pub struct Operation<'a> {
    pub domain: &'a str,
    pub op_type: &'a str,
    /// The version of the domain's operators.
    pub opset: i64,
    pub attributes: &'a dyn Attributes,
    /// `None`: left out.
    pub inputs: &'a [Option<ValueType>],
    /// The number of outputs.
    pub outputs: usize,
    pub(crate) refusal: RefCell<Option<String>>,
}

impl<'a> Operation<'a> {
    pub fn new(
        (domain, op_type, opset): (&'a str, &'a str, i64),
        attributes: &'a dyn Attributes,
        inputs: &'a [Option<ValueType>],
        outputs: usize,
    ) -> Self {
        let domain = if domain == "ai.onnx" { "" } else { domain };
        Operation { domain, op_type, opset, attributes, inputs, outputs, refusal: RefCell::default() }
    }

    /// Notes why there is no such operation. The rule ends with the `None` that this gives.
    pub(crate) fn refuse<T>(&self, reason: impl Into<String>) -> Option<T> {
        self.refusal.borrow_mut().get_or_insert_with(|| reason.into());
        None
    }

    pub(crate) fn input(&self, i: usize) -> Option<&'a ValueType> {
        self.inputs.get(i)?.as_ref()
    }

    pub(crate) fn has(&self, i: usize) -> bool {
        self.input(i).is_some()
    }

    pub(crate) fn dtype(&self, i: usize) -> Option<DType> {
        self.input(i)?.dtype
    }

    pub(crate) fn dims(&self, i: usize) -> Option<&'a [Size]> {
        self.input(i)?.dims.as_deref()
    }

    pub(crate) fn rank(&self, i: usize) -> Option<usize> {
        self.dims(i).map(<[Size]>::len)
    }

    pub(crate) fn dim(&self, i: usize, axis: i64) -> Size {
        self.input(i).map_or(Size::Unknown, |input| input.dim(axis))
    }

    /// The elements of a small integer tensor.
    pub(crate) fn content(&self, i: usize) -> Option<&'a [Size]> {
        self.input(i)?.content.as_deref()
    }

    /// The only element of input `i`.
    pub(crate) fn scalar(&self, i: usize) -> Size {
        self.content(i).and_then(|content| content.first()).copied().unwrap_or_default()
    }

    /// Integers that stand in an attribute (older opsets) or in input `i`.
    pub(crate) fn ints_or_input(&self, name: &str, i: usize) -> Option<Cow<'a, [i64]>> {
        match self.attributes.ints(name) {
            Some(ints) => Some(ints),
            None => self.content(i)?.iter().map(|size| size.known()).collect(),
        }
    }

    pub(crate) fn int(&self, name: &str, default: i64) -> i64 {
        self.attributes.int(name).unwrap_or(default)
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.int(name, 0) != 0
    }

    pub(crate) fn ints(&self, name: &str) -> Option<Cow<'a, [i64]>> {
        self.attributes.ints(name)
    }

    /// The element type that an attribute states; 0 states none.
    pub(crate) fn stated(&self, name: &str) -> Option<DType> {
        DType::from_onnx_code(i32::try_from(self.attributes.int(name)?).ok()?)
    }

    /// The sizes that input `i` holds; as many unknown ones as it is long, if only that is known.
    pub(crate) fn sizes_from(&self, i: usize) -> Option<Dims> {
        match self.content(i) {
            Some(sizes) => Some(sizes.iter().map(|size| size.dimension()).collect()),
            None => {
                let rank = usize::try_from(self.dim(i, 0).known()?).ok();
                Some(vec![Size::Unknown; rank.filter(|&rank| rank <= crate::content::LONGEST)?])
            }
        }
    }

    /// The shape that all of these inputs have together; refused if there is none.
    pub(crate) fn broadcast(&self, inputs: impl IntoIterator<Item = usize>) -> Option<Dims> {
        let mut shape = Dims::new();
        for i in inputs {
            let other = self.dims(i)?;
            shape = match broadcast(&shape, other) {
                Some(shape) => shape,
                None => {
                    let (a, b) = (shape_text(Some(&shape)), shape_text(Some(other)));
                    return self.refuse(format!("operands of shape {a} and {b} do not broadcast"));
                }
            };
        }
        Some(shape)
    }

    /// Refused if two sizes that have to be equal are not.
    pub(crate) fn same(&self, what: &str, a: Size, b: Size) -> Option<Size> {
        match (a, b) {
            (Size::Known(a), Size::Known(b)) if a != b => self.refuse(format!("{what} are {a} and {b}")),
            (a, b) => Some(a.or(b)),
        }
    }
}
