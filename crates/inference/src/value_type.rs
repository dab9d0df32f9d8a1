//! What is known of one value.

use std::collections::HashMap;

use modelexport_graph::onnx::{Dimension, DimensionValue, SparseTensor, Tensor, Type, TypeKind, ValueInfo};
use modelexport_graph::{DType, Name};

use crate::content;
use crate::size::{self, Dims, Size, Symbol, product, shape_text};

/// Element type, dimensions and, for a few integers, the elements themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ValueType {
    pub form: Form,
    pub dtype: Option<DType>,
    /// `None`: not even the rank is known. Of a sequence: of each of its tensors.
    pub dims: Option<Dims>,
    /// Elements of a small tensor of whole numbers, in row-major order.
    pub content: Option<Vec<Size>>,
}

/// What tensors are put in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Form {
    #[default]
    Tensor,
    SparseTensor,
    Sequence,
    Optional,
    OptionalSequence,
    /// Maps and the like, of which nothing else is known.
    Other,
}

impl Form {
    fn around(self, tensor: &str) -> String {
        match self {
            Form::Tensor => tensor.to_owned(),
            Form::SparseTensor => format!("sparse({tensor})"),
            Form::Sequence => format!("sequence({tensor})"),
            Form::Optional => format!("optional({tensor})"),
            Form::OptionalSequence => format!("optional(sequence({tensor}))"),
            Form::Other => "map".to_owned(),
        }
    }
}

/// The names of dimensions.
#[derive(Debug, Default)]
pub struct Symbols {
    names: Vec<Name>,
    by_name: HashMap<Name, Symbol>,
}

impl Symbols {
    pub fn size(&mut self, name: &str) -> Size {
        if let Some(&known) = self.by_name.get(name) {
            return Size::Named(known);
        }
        let symbol = Symbol(self.names.len() as u32);
        self.names.push(name.into());
        self.by_name.insert(name.into(), symbol);
        Size::Named(symbol)
    }

    pub fn name(&self, symbol: Symbol) -> Option<&Name> {
        self.names.get(symbol.0 as usize)
    }
}

impl ValueType {
    pub fn tensor(dtype: Option<DType>, dims: Option<Dims>) -> Self {
        ValueType { dtype, dims, ..ValueType::default() }
    }

    /// Of a weight or constant.
    pub fn of_tensor(tensor: &Tensor) -> Self {
        let dims = tensor.dims.iter().map(|&dim| Size::Known(dim).dimension()).collect();
        let content = content::of_tensor(tensor);
        ValueType { content, ..ValueType::tensor(tensor.dtype(), Some(dims)) }
    }

    /// Of a sparse weight or constant.
    pub fn of_sparse(tensor: &SparseTensor) -> Self {
        let dims = tensor.dims.iter().map(|&dim| Size::Known(dim).dimension()).collect();
        let dtype = tensor.values.as_ref().and_then(Tensor::dtype);
        ValueType { form: Form::SparseTensor, ..ValueType::tensor(dtype, Some(dims)) }
    }

    /// As a graph declares it.
    pub fn declared(declared: &Type, symbols: &mut Symbols) -> Self {
        let mut tensor = |elem_type: i32, shape: &Option<Vec<Dimension>>| {
            let mut size = |dimension: &Dimension| match &dimension.value {
                DimensionValue::Static(size) => Size::Known(*size).dimension(),
                DimensionValue::Named(name) if !name.is_empty() => symbols.size(name),
                _ => Size::Unknown,
            };
            let dims = shape.as_ref().map(|dims| dims.iter().map(&mut size).collect());
            ValueType::tensor(DType::from_onnx_code(elem_type), dims)
        };
        let (form, inner) = match &declared.kind {
            TypeKind::Tensor { elem_type, shape } => return tensor(*elem_type, shape),
            TypeKind::Missing => return ValueType::default(),
            TypeKind::SparseTensor { elem_type, shape } => {
                return ValueType { form: Form::SparseTensor, ..tensor(*elem_type, shape) };
            }
            TypeKind::Sequence(inner) => (Form::Sequence, inner),
            TypeKind::Optional(inner) => (Form::Optional, inner),
            TypeKind::Map { .. } | TypeKind::Opaque { .. } => (Form::Other, &None),
        };
        let inner = inner.as_ref().map(|inner| ValueType::declared(inner, symbols)).unwrap_or_default();
        let form = match (form, inner.form) {
            (form, Form::Tensor) => form,
            (Form::Optional, Form::Sequence) => Form::OptionalSequence,
            _ => return ValueType { form: Form::Other, ..ValueType::default() },
        };
        ValueType { form, ..inner }
    }

    /// Names of another table mean nothing here.
    pub(crate) fn without_names(mut self) -> Self {
        for size in self.dims.iter_mut().flatten() {
            *size = size.known().into();
        }
        self
    }

    fn without_shape(&self) -> Self {
        ValueType { dims: None, content: None, ..self.clone() }
    }

    /// As a file declares it; `None` if the element type is not known.
    pub fn to_onnx(&self, symbols: &Symbols) -> Option<Type> {
        let dimension = |size: &Size| {
            let value = match *size {
                Size::Known(size) => DimensionValue::Static(size),
                Size::Named(symbol) => symbols
                    .name(symbol)
                    .map_or(DimensionValue::Unknown, |name| DimensionValue::Named(name.to_string())),
                Size::Unknown => DimensionValue::Unknown,
            };
            Dimension { value, ..Dimension::default() }
        };
        let of = |kind: TypeKind| Type { kind, ..Type::default() };
        let elem_type = self.dtype?.onnx_code()?;
        let shape = self.dims.as_ref().map(|dims| dims.iter().map(dimension).collect());
        let sequence = |element: TypeKind| TypeKind::Sequence(Some(Box::new(of(element))));
        let optional = |inner: TypeKind| TypeKind::Optional(Some(Box::new(of(inner))));
        let tensor = TypeKind::Tensor { elem_type, shape };
        Some(of(match (self.form, tensor) {
            (Form::Tensor, tensor) => tensor,
            (Form::SparseTensor, TypeKind::Tensor { elem_type, shape }) => {
                TypeKind::SparseTensor { elem_type, shape }
            }
            (Form::Sequence, tensor) => sequence(tensor),
            (Form::Optional, tensor) => optional(tensor),
            (Form::OptionalSequence, tensor) => optional(sequence(tensor)),
            (Form::SparseTensor | Form::Other, _) => return None,
        }))
    }

    /// What is known here, completed by `other`.
    pub(crate) fn or(self, other: ValueType) -> Self {
        let dims = match (self.dims, other.dims) {
            (Some(mine), Some(other)) if mine.len() == other.len() => {
                Some(mine.into_iter().zip(other).map(|(mine, other)| mine.or(other)).collect())
            }
            (mine, other) => mine.or(other),
        };
        let form = if self.form == Form::Tensor && self.dtype.is_none() { other.form } else { self.form };
        ValueType { form, dtype: self.dtype.or(other.dtype), dims, content: self.content.or(other.content) }
    }

    /// What is certain of a value that is one or the other.
    pub(crate) fn common(self, other: &ValueType) -> Self {
        if self.form != other.form {
            return ValueType::default();
        }
        let dims = self.dims.zip(other.dims.as_ref()).filter(|(a, b)| a.len() == b.len());
        let dims = dims.map(|(a, b)| a.into_iter().zip(b).map(|(a, b)| a.common(*b)).collect());
        let dtype = self.dtype.filter(|dtype| other.dtype == Some(*dtype));
        ValueType { form: self.form, ..ValueType::tensor(dtype, dims) }
    }

    /// Why both cannot be said of one value.
    pub fn contradiction(&self, other: &ValueType) -> Option<String> {
        let is_known = |value: &ValueType| value.dtype.is_some() || value.form == Form::Other;
        if is_known(self) && is_known(other) && (self.form != other.form || self.dtype != other.dtype) {
            return Some(format!(
                "type {} and type {}",
                self.without_shape().text(),
                other.without_shape().text()
            ));
        }
        let (Some(mine), Some(theirs)) = (&self.dims, &other.dims) else { return None };
        if mine.len() != theirs.len() || mine.iter().zip(theirs).any(|(a, b)| a.differs(*b)) {
            return Some(format!("shape {} and shape {}", self.shape_text(), other.shape_text()));
        }
        None
    }

    /// `[2, ?, 8]`.
    pub fn shape_text(&self) -> String {
        shape_text(self.dims.as_deref())
    }

    /// `float32[2, ?]` or `sequence(float32)`; empty if nothing is known.
    pub fn text(&self) -> String {
        let dtype = self.dtype.map_or("", DType::name);
        let shape = self.dims.as_ref().map(|_| self.shape_text()).unwrap_or_default();
        self.form.around(&format!("{dtype}{shape}"))
    }

    pub fn rank(&self) -> Option<usize> {
        self.dims.as_ref().map(Vec::len)
    }

    /// Dimension `axis`, counted from the end if negative.
    pub(crate) fn dim(&self, axis: i64) -> Size {
        let dims = self.dims.as_deref().unwrap_or_default();
        size::index(axis, dims.len()).and_then(|axis| dims.get(axis)).copied().unwrap_or_default()
    }

    /// The number of elements.
    pub(crate) fn elements(&self) -> Option<u64> {
        u64::try_from(product(self.dims.as_ref()?).known()?).ok()
    }

    pub(crate) fn bytes(&self) -> Option<u64> {
        self.dtype.filter(|_| self.form == Form::Tensor)?.byte_len(self.elements()?)
    }
}

/// The named dimensions of `values`, each once, in order.
pub fn dimension_names(values: &[ValueInfo]) -> std::collections::BTreeSet<String> {
    let mut symbols = Symbols::default();
    for declared in values.iter().filter_map(|value| value.value_type.as_deref()) {
        ValueType::declared(declared, &mut symbols);
    }
    symbols.names.iter().map(|name| name.to_string()).collect()
}
