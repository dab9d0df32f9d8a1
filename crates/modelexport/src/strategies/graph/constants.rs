//! The tensors of a graph, as far as strategies use them.

use modelexport_graph::onnx::{Tensor, TensorData};
use modelexport_graph::{DType, StridedView};

use super::super::lists::Lists;

/// Index into [`Constants`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConstantId(u32);

/// Tensors in one piece of memory each for their dimensions and their bytes.
#[derive(Debug, Default)]
pub(super) struct Constants {
    types: Vec<Option<DType>>,
    dims: Lists<i64>,
    contents: Vec<DataLocation>,
    bytes: Vec<u8>,
    views: Vec<StridedView>,
}

/// Where the elements of a tensor are kept.
#[derive(Clone, Copy, Debug)]
enum DataLocation {
    Bytes { end: usize, length: u32 },
    View(u32),
    Elsewhere,
}

/// One tensor.
#[derive(Clone, Copy, Debug)]
pub struct Constant<'g> {
    pub dtype: Option<DType>,
    pub dims: &'g [i64],
    pub content: Content<'g>,
}

/// The elements of a tensor.
#[derive(Clone, Copy, Debug)]
pub enum Content<'g> {
    Bytes(&'g [u8]),
    Stored(&'g StridedView),
    /// In a form that is not looked at, or nowhere.
    Other,
}

impl Constants {
    pub(super) fn add(&mut self, tensor: &Tensor) -> ConstantId {
        let id = ConstantId(self.types.len() as u32);
        self.types.push(tensor.dtype());
        self.dims.push(tensor.dims.iter().copied());
        self.contents.push(match &tensor.data {
            TensorData::Raw(bytes) => {
                self.bytes.extend_from_slice(bytes);
                DataLocation::Bytes { end: self.bytes.len(), length: bytes.len() as u32 }
            }
            TensorData::Stored(view) => {
                self.views.push(view.clone());
                DataLocation::View(self.views.len() as u32 - 1)
            }
            _ => DataLocation::Elsewhere,
        });
        id
    }

    pub(super) fn get(&self, ConstantId(id): ConstantId) -> Option<Constant<'_>> {
        let content = match *self.contents.get(id as usize)? {
            DataLocation::Bytes { end, length } => {
                Content::Bytes(self.bytes.get(end - length as usize..end)?)
            }
            DataLocation::View(view) => Content::Stored(self.views.get(view as usize)?),
            DataLocation::Elsewhere => Content::Other,
        };
        Some(Constant { dtype: *self.types.get(id as usize)?, dims: self.dims.get(id), content })
    }
}
