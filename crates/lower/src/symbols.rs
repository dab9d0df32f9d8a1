//! Symbolic sizes as values of the graph.
//!
//! A symbol is bound to the place where its number first shows: a dimension of an input, or the result of a node
//! for sizes that depend on data. Expressions over symbols are computed where they are first needed and shared from
//! then on. These nodes belong to the root module: a size of an input is no layer's own.

use modelexport_graph::hash::HashMap;
use modelexport_graph::onnx::Origin;
use modelexport_graph::{DType, Dim, Name, Scopes, SymExpr, SymOp};

use crate::attrs;
use crate::builder::Builder;
use crate::ir::ValueId;
use crate::literal::Literal;

/// Where the number of a symbol comes from.
#[derive(Clone, Debug)]
enum Source {
    /// A 1-D tensor of one element.
    Value(ValueId),
    /// `(size of the axis - offset) / scale`.
    Axis { value: ValueId, axis: i64, scale: i64, offset: i64 },
}

/// Bound symbols and the expressions that were computed already.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    sources: HashMap<Name, Source>,
    /// One for each open graph: a value made in a subgraph is not seen outside.
    computed: Vec<HashMap<SymExpr, ValueId>>,
}

impl Symbols {
    /// Binds the symbols that the sizes of `value` tell and that are not bound yet.
    pub fn bind_sizes(&mut self, value: ValueId, sizes: &[Dim]) {
        for (axis, dim) in sizes.iter().enumerate() {
            let Dim::Symbolic(expr) = dim else { continue };
            let Some((symbol, scale, offset)) = linear(expr) else { continue };
            let axis = axis as i64;
            let is_plain = scale == 1 && offset == 0;
            match self.sources.get(&symbol) {
                None => {}
                Some(Source::Axis { scale: 1, offset: 0, .. } | Source::Value(_)) => continue,
                Some(Source::Axis { .. }) if !is_plain => continue,
                Some(Source::Axis { .. }) => {}
            }
            self.sources.insert(symbol, Source::Axis { value, axis, scale, offset });
        }
    }

    /// Binds a symbol to a tensor of one element.
    pub fn bind_value(&mut self, symbol: &Name, value: ValueId) {
        self.sources.insert(symbol.clone(), Source::Value(value));
    }

    /// Whether all symbols of `expr` are bound.
    pub fn can_compute(&self, expr: &SymExpr) -> bool {
        let mut known = true;
        expr.for_each_symbol(&mut |symbol| known &= self.sources.contains_key(symbol));
        known
    }

    /// `expr` as a 1-D tensor of one element: `int64`, or `float64` and `bool` for expressions of these kinds.
    /// The error is the symbol that is not bound.
    pub fn compute(&mut self, builder: &mut Builder, expr: &SymExpr) -> Result<ValueId, Name> {
        self.computed.truncate(builder.depth());
        self.computed.resize_with(builder.depth(), HashMap::default);
        let origin = std::mem::replace(&mut builder.origin, Origin::direct(Scopes::ROOT, None));
        let result = self.compute_shared(builder, expr);
        builder.origin = origin;
        result
    }

    fn compute_shared(&mut self, builder: &mut Builder, expr: &SymExpr) -> Result<ValueId, Name> {
        if let Some(&value) = self.computed.iter().find_map(|known| known.get(expr)) {
            return Ok(value);
        }
        let value = match expr {
            SymExpr::Int(value) => return Ok(builder.const_ints(&[*value])),
            SymExpr::Float(bits) => {
                let bytes = f64::from_bits(*bits).to_le_bytes().to_vec();
                return Ok(builder.constant(Literal { dtype: DType::F64, dims: vec![1], bytes }));
            }
            SymExpr::Bool(value) => {
                let bytes = vec![u8::from(*value)];
                return Ok(builder.constant(Literal { dtype: DType::Bool, dims: vec![1], bytes }));
            }
            SymExpr::Symbol(symbol) => self.symbol(builder, symbol)?,
            SymExpr::Call(op, arguments) => self.call(builder, *op, arguments)?,
        };
        builder.set_shape(value, vec![Dim::Static(1)]);
        if let Some(known) = self.computed.last_mut() {
            known.insert(expr.clone(), value);
        }
        Ok(value)
    }

    fn symbol(&mut self, builder: &mut Builder, symbol: &Name) -> Result<ValueId, Name> {
        match self.sources.get(symbol).cloned() {
            None => Err(symbol.clone()),
            Some(Source::Value(value)) => Ok(value),
            Some(Source::Axis { value, axis, scale, offset }) => {
                let mut size = builder.shape_slice(value, axis, axis + 1);
                if offset != 0 {
                    let offset = builder.const_ints(&[offset]);
                    size = builder.emit("Sub", &[size, offset], vec![]);
                }
                if scale != 1 {
                    let scale = builder.const_ints(&[scale]);
                    size = builder.emit("Div", &[size, scale], vec![]);
                }
                Ok(size)
            }
        }
    }

    fn call(&mut self, builder: &mut Builder, op: SymOp, arguments: &[SymExpr]) -> Result<ValueId, Name> {
        if op == SymOp::Mul {
            return self.product(builder, arguments);
        }
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.compute_shared(builder, argument)?);
        }
        if values.iter().any(|&value| builder.dtype(value) == DType::F64) && op != SymOp::Where {
            values = values.iter().map(|&value| builder.cast(value, DType::F64)).collect();
        }
        let first = values.first().copied().unwrap_or_else(|| builder.const_ints(&[0]));
        let second = values.get(1).copied().unwrap_or(first);
        let pairwise = |builder: &mut Builder, name: &'static str| {
            values.iter().skip(1).fold(first, |sum, &value| builder.emit(name, &[sum, value], vec![]))
        };
        Ok(match op {
            SymOp::Add => pairwise(builder, "Add"),
            SymOp::Mul => pairwise(builder, "Mul"),
            SymOp::Max => pairwise(builder, "Max"),
            SymOp::Min => pairwise(builder, "Min"),
            SymOp::And => pairwise(builder, "And"),
            SymOp::Or => pairwise(builder, "Or"),
            SymOp::Pow => builder.emit("Pow", &[first, second], vec![]),
            SymOp::FloorDiv if builder.dtype(first) == DType::F64 => {
                let quotient = builder.emit("Div", &[first, second], vec![]);
                builder.emit("Floor", &[quotient], vec![])
            }
            SymOp::FloorDiv if arguments.iter().all(is_not_negative) => {
                builder.emit("Div", &[first, second], vec![])
            }
            SymOp::FloorDiv => {
                let rest = builder.emit("Mod", &[first, second], vec![]);
                let whole = builder.emit("Sub", &[first, rest], vec![]);
                builder.emit("Div", &[whole, second], vec![])
            }
            SymOp::CeilDiv => {
                let one = builder.const_ints(&[1]);
                let sum = builder.emit("Add", &[first, second], vec![]);
                let sum = builder.emit("Sub", &[sum, one], vec![]);
                builder.emit("Div", &[sum, second], vec![])
            }
            SymOp::TrueDiv => {
                let (first, second) = (builder.cast(first, DType::F64), builder.cast(second, DType::F64));
                builder.emit("Div", &[first, second], vec![])
            }
            SymOp::Mod => builder.emit("Mod", &[first, second], vec![]),
            SymOp::Abs => builder.emit("Abs", &[first], vec![]),
            SymOp::Trunc => builder.cast(first, DType::I64),
            SymOp::Floor | SymOp::Ceil | SymOp::Round if builder.dtype(first) == DType::I64 => first,
            SymOp::Floor => rounded(builder, "Floor", first),
            SymOp::Ceil => rounded(builder, "Ceil", first),
            SymOp::Round => rounded(builder, "Round", first),
            SymOp::Sqrt => {
                let float = builder.cast(first, DType::F64);
                builder.emit("Sqrt", &[float], vec![])
            }
            SymOp::ToFloat => builder.cast(first, DType::F64),
            SymOp::Where => {
                let third = values.get(2).copied().unwrap_or(second);
                builder.emit("Where", &[first, second, third], vec![])
            }
            SymOp::Eq => builder.emit("Equal", &[first, second], vec![]),
            SymOp::Ne => {
                let equal = builder.emit("Equal", &[first, second], vec![]);
                builder.emit("Not", &[equal], vec![])
            }
            SymOp::Lt => builder.emit("Less", &[first, second], vec![]),
            SymOp::Le => builder.emit("LessOrEqual", &[first, second], vec![]),
            SymOp::Gt => builder.emit("Greater", &[first, second], vec![]),
            SymOp::Ge => builder.emit("GreaterOrEqual", &[first, second], vec![]),
            SymOp::Not => builder.emit("Not", &[first], vec![]),
        })
    }

    /// A product; rational factors such as `1/2` of a size that is even divide at the end.
    fn product(&mut self, builder: &mut Builder, arguments: &[SymExpr]) -> Result<ValueId, Name> {
        let mut factors = Vec::new();
        let mut divisor = 1i64;
        for argument in arguments {
            match argument {
                SymExpr::Call(SymOp::TrueDiv, parts) => match parts.as_slice() {
                    [SymExpr::Int(above), SymExpr::Int(below)] => {
                        divisor = divisor.saturating_mul(*below);
                        if *above != 1 {
                            factors.push(builder.const_ints(&[*above]));
                        }
                    }
                    _ => factors.push(self.compute_shared(builder, argument)?),
                },
                _ => factors.push(self.compute_shared(builder, argument)?),
            }
        }
        if factors.iter().any(|&factor| builder.dtype(factor) == DType::F64) {
            factors = factors.iter().map(|&factor| builder.cast(factor, DType::F64)).collect();
        }
        let mut rest = factors.into_iter();
        let first = rest.next().unwrap_or_else(|| builder.const_ints(&[1]));
        let product = rest.fold(first, |product, factor| builder.emit("Mul", &[product, factor], vec![]));
        if divisor == 1 {
            return Ok(product);
        }
        let divisor = builder.const_ints(&[divisor]);
        let divisor = builder.cast(divisor, builder.dtype(product));
        Ok(builder.emit("Div", &[product, divisor], vec![]))
    }

    /// A 1-D `int64` tensor of all `dims`.
    pub fn shape_tensor(&mut self, builder: &mut Builder, dims: &[Dim]) -> Result<ValueId, Name> {
        let mut parts: Vec<ValueId> = Vec::new();
        let mut numbers: Vec<i64> = Vec::new();
        for dim in dims {
            match dim {
                Dim::Static(value) => numbers.push(*value),
                Dim::Symbolic(expr) => {
                    if !numbers.is_empty() {
                        parts.push(builder.const_ints(&std::mem::take(&mut numbers)));
                    }
                    parts.push(self.compute(builder, expr)?);
                }
            }
        }
        if !numbers.is_empty() || parts.is_empty() {
            parts.push(builder.const_ints(&numbers));
        }
        match parts.as_slice() {
            [only] => Ok(*only),
            _ => {
                let shape = builder.emit("Concat", &parts, attrs![axis = 0]);
                builder.set_shape(shape, vec![Dim::Static(dims.len() as i64)]);
                Ok(shape)
            }
        }
    }
}

fn rounded(builder: &mut Builder, op: &'static str, value: ValueId) -> ValueId {
    let rounded = builder.emit(op, &[value], vec![]);
    builder.cast(rounded, DType::I64)
}

/// `scale * symbol + offset`, if `expr` has this form with a scale above zero.
fn linear(expr: &SymExpr) -> Option<(Name, i64, i64)> {
    match expr {
        SymExpr::Symbol(name) => Some((name.clone(), 1, 0)),
        SymExpr::Call(SymOp::Mul, arguments) => match arguments.as_slice() {
            [SymExpr::Int(scale), rest] | [rest, SymExpr::Int(scale)] if *scale > 0 => {
                let (name, inner, offset) = linear(rest)?;
                Some((name, inner.checked_mul(*scale)?, offset.checked_mul(*scale)?))
            }
            _ => None,
        },
        SymExpr::Call(SymOp::Add, arguments) => match arguments.as_slice() {
            [SymExpr::Int(offset), rest] | [rest, SymExpr::Int(offset)] => {
                let (name, scale, inner) = linear(rest)?;
                Some((name, scale, inner.checked_add(*offset)?))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Sizes are not negative, nor are sums and products of them.
fn is_not_negative(expr: &SymExpr) -> bool {
    match expr {
        SymExpr::Int(value) => *value >= 0,
        SymExpr::Symbol(_) => true,
        SymExpr::Call(
            SymOp::Add | SymOp::Mul | SymOp::FloorDiv | SymOp::CeilDiv | SymOp::Pow | SymOp::Min | SymOp::Max,
            arguments,
        ) => arguments.iter().all(is_not_negative),
        SymExpr::Call(SymOp::Mod, arguments) => arguments.get(1).is_some_and(is_not_negative),
        _ => false,
    }
}
