//! Folds batch normalisation into the convolution before it: both are linear in each channel, so that one convolution
//! with other weights does the work of two nodes. The convolution keeps its origin, because it still reads its
//! module's weights; the normalisation's module is named among those that the node stands for. Makes no nodes.
//!
//! A normalisation stays if it could give other numbers: where `epsilon` is not positive, where a parameter is infinite or
//! NaN, or where what they make of it is not finite in the type of the weights.

use std::collections::HashMap;

use modelexport_graph::aten::Program;
use modelexport_graph::{DType, Dim};

use super::fold::{Load, loaded};
use super::uses::Uses;
use crate::ir::{Attr, Constant, Graph, Ir, Node, Value, ValueId};
use crate::literal::{Literal, Number};

/// What ONNX takes where a node has no `epsilon`.
const DEFAULT_EPSILON: f64 = 1e-5;

/// True if a node was folded.
pub fn run(ir: &mut Ir, program: &Program, load: Load<'_>) -> bool {
    let uses = Uses::of(ir);
    let mut graph = std::mem::take(&mut ir.graph);
    let changed = Folder { ir, program, load, uses }.graph(&mut graph);
    ir.graph = graph;
    changed
}

struct Folder<'a> {
    ir: &'a mut Ir,
    program: &'a Program,
    load: Load<'a>,
    uses: Uses,
}

/// What a convolution becomes.
struct Folded {
    weight: ValueId,
    factors: Vec<f64>,
    bias: Literal,
    /// The value that the bias takes the place of, if nothing else reads it.
    old_bias: Option<ValueId>,
}

impl Folder<'_> {
    fn graph(&mut self, graph: &mut Graph) -> bool {
        let mut changed = false;
        let mut kept: Vec<Node> = Vec::with_capacity(graph.nodes.len());
        // Where the convolutions are in `kept`, by what they make.
        let mut convolutions: HashMap<ValueId, usize> = HashMap::new();
        for mut node in std::mem::take(&mut graph.nodes) {
            for subgraph in node.subgraphs_mut() {
                changed |= self.graph(subgraph);
            }
            let before = node.inputs.first().copied().flatten().and_then(|input| convolutions.get(&input));
            if is_normalisation(&node)
                && let Some(convolution) = before.and_then(|&position| kept.get_mut(position))
                && let Some(folded) = self.fold(convolution, &node)
            {
                self.replace(convolution, &node, folded);
                changed = true;
                continue;
            }
            if node.op == "Conv" && node.domain.is_empty() {
                convolutions.extend(node.outputs.first().map(|&output| (output, kept.len())));
            }
            kept.push(node);
        }
        graph.nodes = kept;
        changed
    }

    /// The new weights, if nothing else reads the old ones nor what the convolution makes.
    fn fold(&self, convolution: &Node, normalisation: &Node) -> Option<Folded> {
        let input = |node: &Node, i: usize| node.inputs.get(i).copied().flatten();
        let (weight, bias) = (input(convolution, 1)?, input(convolution, 2));
        if self.uses.count(*convolution.outputs.first()?) != 1 || self.uses.count(weight) != 1 {
            return None;
        }
        let dtype = self.ir.dtype(weight)?;
        let channels = self.scalable_channels(weight, dtype)?;
        let numbers = |id: ValueId| self.numbers(id).filter(|numbers| numbers.len() == channels);
        let [scale, shift, mean, variance] = [1, 2, 3, 4].map(|i| input(normalisation, i).and_then(numbers));
        let (scale, shift, mean, variance) = (scale?, shift?, mean?, variance?);
        let bias_before = match bias {
            Some(bias) => numbers(bias)?,
            None => vec![0.0; channels],
        };
        let epsilon = match normalisation.attribute("epsilon") {
            Some(Attr::Float(epsilon)) => f64::from(*epsilon),
            _ => DEFAULT_EPSILON,
        };
        if epsilon <= 0.0 {
            return None;
        }
        let factors: Vec<f64> = scale
            .iter()
            .zip(&variance)
            .map(|(scale, variance)| scale / (variance + epsilon).sqrt())
            .collect();
        let moved = bias_before.iter().zip(&mean).zip(factors.iter().zip(&shift));
        let bias_numbers: Vec<f64> =
            moved.map(|((bias, mean), (factor, shift))| (bias - mean) * factor + shift).collect();
        let literal = |numbers: &[f64]| {
            let numbers = numbers.iter().copied().map(Number::Float);
            let literal = Literal::from_numbers(dtype, vec![channels as i64], numbers)?;
            literal.numbers()?.iter().all(|number| number.as_f64().is_finite()).then_some(literal)
        };
        let parameters = [&scale, &shift, &mean, &variance, &bias_before];
        if parameters.into_iter().flatten().any(|number| !number.is_finite()) {
            return None;
        }
        literal(&factors)?;
        let bias_literal = literal(&bias_numbers)?;
        let old_bias = bias.filter(|&bias| self.uses.count(bias) == 1);
        Some(Folded { weight, factors, bias: bias_literal, old_bias })
    }

    /// The size of the first axis of a weight that can be scaled while it is written.
    fn scalable_channels(&self, id: ValueId, dtype: DType) -> Option<usize> {
        let Constant::Weight { weight, permutation: None, sizes: None } =
            self.ir.value(id)?.constant.as_deref()?
        else {
            return None;
        };
        let weight = self.program.weights.get(*weight as usize)?;
        let is_float = matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64);
        let is_run = weight.data.as_ref().is_some_and(|data| data.is_contiguous());
        (is_float && weight.dtype == dtype && is_run).then_some(())?;
        usize::try_from(*weight.sizes.first()?).ok()
    }

    /// The elements of a constant.
    fn numbers(&self, id: ValueId) -> Option<Vec<f64>> {
        let read;
        let literal = match self.ir.value(id)?.constant.as_deref()? {
            Constant::Literal(literal) => literal,
            Constant::Weight { weight, permutation: None, sizes: None } => {
                let weight = self.program.weights.get(*weight as usize)?;
                read = loaded(weight, self.load)?;
                &read
            }
            _ => return None,
        };
        Some(literal.numbers()?.into_iter().map(Number::as_f64).collect())
    }

    fn replace(&mut self, convolution: &mut Node, normalisation: &Node, folded: Folded) {
        let scopes = &self.program.scopes;
        let absorbed = scopes.module(normalisation.origin.scope);
        let path = self.program.modules.get(absorbed).map_or_else(|| "".into(), |module| module.path.clone());
        if let Some(value) = self.ir.value_mut(folded.weight)
            && let Some(Constant::Weight { weight, .. }) = value.constant.as_deref()
        {
            let (weight, factors) = (*weight, folded.factors);
            value.constant = Some(Box::new(Constant::ScaledWeight { weight, factors, folded: path }));
        }
        let bias = folded.old_bias.unwrap_or_else(|| {
            let weight_name = self.ir.value(folded.weight).and_then(|value| value.name.clone());
            let name = weight_name.map(|name| format!("{name}_bias").into());
            self.ir.add_value(Value { name, ..Value::default() })
        });
        if let Some(value) = self.ir.value_mut(bias) {
            value.dtype = Some(folded.bias.dtype);
            value.shape = Some(folded.bias.dims.iter().map(|&dim| Dim::Static(dim)).collect());
            value.constant = Some(Box::new(Constant::Literal(folded.bias)));
        }
        convolution.inputs.resize(2, None);
        convolution.inputs.push(Some(bias));
        convolution.outputs.clone_from(&normalisation.outputs);
        convolution.origin.stands_for(scopes.module(convolution.origin.scope), absorbed);
    }
}

/// With the statistics of training, nothing is known beforehand.
fn is_normalisation(node: &Node) -> bool {
    let trains = matches!(node.attribute("training_mode"), Some(Attr::Int(mode)) if *mode != 0);
    node.op == "BatchNormalization" && node.domain.is_empty() && node.outputs.len() == 1 && !trains
}

#[cfg(test)]
mod tests {
    use modelexport_graph::aten::{Arg, Weight};
    use modelexport_graph::onnx::{Model, TensorData};
    use modelexport_graph::{SourceId, Span, StridedView};

    use crate::test_program::{TestProgram, tensor};
    use crate::{Options, lower};

    /// A convolution of one channel by 3, with bias 1, and a normalisation: (x - 0.5) * 2 / sqrt(3 + 1) + 5.
    fn convolution_and_norm(also_reads_convolution: bool) -> Model {
        with_numbers(also_reads_convolution, 1.0, &[])
    }

    /// The same with another epsilon and other numbers for some of the weights.
    fn with_numbers(also_reads_convolution: bool, epsilon: f64, numbers: &[(&str, f32)]) -> Model {
        let mut program = TestProgram::new();
        let x = program.input("x", tensor(&[1, 1, 4, 4]));
        let weight = program.buffer("conv.weight", tensor(&[1, 1, 1, 1]));
        let bias = program.buffer("conv.bias", tensor(&[1]));
        let [scale, shift, mean, variance] =
            ["scale", "shift", "mean", "variance"].map(|name| program.buffer(name, tensor(&[1])));
        let ints = |values: &[i64]| Arg::Ints(values.to_vec());
        let args = [
            ("input", Arg::Tensor(x)),
            ("weight", Arg::Tensor(weight)),
            ("bias", Arg::Tensor(bias)),
            ("stride", ints(&[1, 1])),
            ("padding", ints(&[0, 0])),
            ("dilation", ints(&[1, 1])),
            ("groups", Arg::Int(1)),
        ];
        let convolved = program.node("aten.conv2d.default", &args, tensor(&[1, 1, 4, 4]));
        let args = [
            ("input", Arg::Tensor(convolved)),
            ("weight", Arg::Tensor(scale)),
            ("bias", Arg::Tensor(shift)),
            ("running_mean", Arg::Tensor(mean)),
            ("running_var", Arg::Tensor(variance)),
            ("training", Arg::Bool(false)),
            ("momentum", Arg::Float(0.1)),
            ("eps", Arg::Float(epsilon)),
            ("cudnn_enabled", Arg::Bool(false)),
        ];
        let normalised = program.node("aten.batch_norm.default", &args, tensor(&[1, 1, 4, 4]));
        let mut outputs = vec![normalised];
        outputs.extend(also_reads_convolution.then_some(convolved));
        let mut program = program.outputs(&outputs);
        for weight in &mut program.weights {
            let span = Span { source: SourceId(0), offset: 0, length: 4 };
            let strides = vec![1; weight.sizes.len()];
            weight.data = Some(StridedView { span, offset: 0, sizes: weight.sizes.clone(), strides });
        }
        let load = |weight: &Weight| {
            let given = numbers.iter().find(|(name, _)| *name == &*weight.name);
            let number = given.map_or_else(
                || match &*weight.name {
                    "conv.weight" => 3.0f32,
                    "conv.bias" => 1.0,
                    "scale" => 2.0,
                    "shift" => 5.0,
                    "mean" => 0.5,
                    _ => 3.0,
                },
                |(_, number)| *number,
            );
            Some(number.to_le_bytes().to_vec())
        };
        lower(program, &Options::default(), &load).unwrap().0
    }

    fn operators(model: &Model) -> Vec<&str> {
        model.graph.nodes.iter().map(|node| &*node.op_type).collect()
    }

    #[test]
    fn a_normalisation_changes_the_weights_of_the_convolution_before_it() {
        let model = convolution_and_norm(false);
        assert_eq!(operators(&model), ["Conv"]);
        let tensor =
            |name: &str| model.graph.initializers.iter().find(|tensor| &*tensor.name == name).unwrap();
        let weight = tensor("conv.weight");
        assert!(
            matches!(&weight.data, TensorData::Scaled { factors, .. } if factors == &[1.0]),
            "{weight:?}"
        );
        assert_eq!(weight.metadata, [("modelexport.folded".to_owned(), String::new())]);
        let bias = tensor("conv.bias");
        assert!(matches!(&bias.data, TensorData::Raw(bytes) if bytes == &5.5f32.to_le_bytes()), "{bias:?}");
        assert_eq!(model.graph.initializers.len(), 2);
    }

    #[test]
    fn a_convolution_that_something_else_reads_stays() {
        let model = convolution_and_norm(true);
        assert_eq!(operators(&model), ["Conv", "BatchNormalization"]);
    }

    /// By PyTorch, all of these give infinities or NaN, and for other inputs than the folded convolution does.
    #[test]
    fn a_normalisation_that_makes_infinities_stays() {
        let unfolded = ["Conv", "BatchNormalization"];
        let (inf, nan) = (f32::INFINITY, f32::NAN);
        let parameters = ["scale", "shift", "mean", "variance", "conv.bias"];
        for (name, number) in parameters.into_iter().flat_map(|name| [(name, inf), (name, nan)]) {
            assert_eq!(operators(&with_numbers(false, 1.0, &[(name, number)])), unfolded, "{name} {number}");
        }
        assert_eq!(operators(&with_numbers(false, 0.0, &[])), unfolded, "epsilon 0");
        assert_eq!(
            operators(&with_numbers(false, 0.0, &[("variance", 0.0)])),
            unfolded,
            "epsilon and variance 0"
        );
        assert_eq!(
            operators(&with_numbers(false, 1.0, &[("variance", -2.0)])),
            unfolded,
            "negative variance"
        );
        let large = [("scale", 1e38), ("variance", 0.0)];
        assert_eq!(operators(&with_numbers(false, 1e-5, &large)), unfolded, "a factor above all floats");
        assert_eq!(operators(&with_numbers(false, 1e-5, &[("variance", 0.0)])), ["Conv"], "variance 0");
    }
}
