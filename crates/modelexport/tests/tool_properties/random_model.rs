//! Random models as an export makes them: classes with a body, instances of these classes that call one another, and
//! nodes whose origin is the call that they belong to. Some nodes hold branches that read values from outside, some
//! call local functions.

use modelexport::embedding::Embed;
use modelexport::policy::Policy;
use modelexport::tagger::{self, Options};
use modelexport::tags::{TagFormat, Tags};
use modelexport_graph::module_tree::Parameter;
use modelexport_graph::onnx::{
    Attribute, AttributeValue, Dimension, DimensionValue, Function, Graph, Model, Node, OpsetImport, Origin,
    Tensor, TensorData, Type, TypeKind, ValueInfo,
};
use modelexport_graph::{ModuleId, ModuleTree, Name, ScopeId, Scopes};
use modelexport_io::sidecar::{Sidecar, Source};
use proptest::prelude::*;

const FLOAT: i32 = 1;
const BOOL: i32 = 9;
const SIZES: [i64; 2] = [2, 3];
const FUNCTION_DOMAIN: &str = "local";

/// What a class does, step by step. Numbers choose among the values that are there, the latest first.
#[derive(Clone, Debug)]
pub enum Step {
    /// `Relu` or `Neg` of one value.
    Unary(bool, u8),
    /// `Add` or `Mul` of two.
    Binary(bool, u8, u8),
    /// `Add` of a value and a weight that the instance owns.
    Weighted(u8),
    /// Runs a child of a class that comes earlier, once or twice.
    Child { class: u8, twice: bool, input: u8 },
    /// An `If` whose branches read a value from outside.
    Branch(u8),
    /// A call of a local function.
    Call(u8),
    /// A node with two outputs, of which the second may stay unread.
    Halves(u8),
}

/// Classes, each of which may have children of those before it. The last is the root's.
pub fn classes() -> impl Strategy<Value = Vec<Vec<Step>>> {
    let step = prop_oneof![
        3 => (any::<bool>(), any::<u8>()).prop_map(|(which, input)| Step::Unary(which, input)),
        3 => any::<(bool, u8, u8)>().prop_map(|(which, a, b)| Step::Binary(which, a, b)),
        3 => any::<u8>().prop_map(Step::Weighted),
        4 => any::<(u8, bool, u8)>().prop_map(|(class, twice, input)| Step::Child { class, twice, input }),
        1 => any::<u8>().prop_map(Step::Branch),
        1 => any::<u8>().prop_map(Step::Call),
        1 => any::<u8>().prop_map(Step::Halves),
    ];
    let body = prop::collection::vec(step, 1..5);
    prop::collection::vec(body, 1..5)
}

/// A model before it is tagged, and what an exporter knows of it.
pub struct Made {
    pub model: Model,
    pub tree: ModuleTree,
    pub scopes: Scopes,
}

impl Made {
    /// The model with its tags, and its sidecar.
    pub fn tagged(&self) -> (Model, Sidecar) {
        let mut model = self.model.clone();
        let tags = Tags::new(&self.tree, &Policy::default(), TagFormat::Instance);
        let source = Source { kind: "pt2".into(), file: None, torch_version: None };
        let options = Options { embed: Embed::BOTH, strategy: "native".into(), source };
        let sidecar = tagger::annotate(&mut model, &self.tree, &self.scopes, &tags, &options);
        (model, sidecar)
    }
}

pub fn make(classes: &[Vec<Step>]) -> Made {
    let mut maker = Maker {
        classes,
        tree: ModuleTree::new(),
        scopes: Scopes::new(),
        graph: Graph { name: "random".into(), ..Graph::default() },
        order: 0,
        calls_function: false,
    };
    maker.graph.inputs = vec![info("x", FLOAT, &SIZES), info("flag", BOOL, &[])];
    let last = classes.len() - 1;
    maker.name_module(ModuleId::ROOT, last);
    let result = maker.body(last, Scopes::ROOT, "", "x".into());
    // The result of the model has a node of its own, as in an export, where names of outputs are the user's.
    maker.node(Scopes::ROOT, "Identity", &[&result], &["y".into()]);
    maker.graph.value_infos.retain(|value| &*value.name != "y");
    maker.graph.outputs = vec![info("y", FLOAT, &SIZES)];
    let mut opset_imports = vec![OpsetImport { version: 20, ..OpsetImport::default() }];
    let mut functions = Vec::new();
    if maker.calls_function {
        opset_imports.push(OpsetImport {
            domain: FUNCTION_DOMAIN.into(),
            version: 1,
            ..OpsetImport::default()
        });
        functions.push(twice());
    }
    let model = Model { ir_version: 10, opset_imports, graph: maker.graph, functions, ..Model::default() };
    Made { model, tree: maker.tree, scopes: maker.scopes }
}

struct Maker<'a> {
    classes: &'a [Vec<Step>],
    tree: ModuleTree,
    scopes: Scopes,
    graph: Graph,
    order: u32,
    calls_function: bool,
}

impl Maker<'_> {
    /// Adds the nodes of one call; gives its result.
    fn body(&mut self, class: usize, scope: ScopeId, path: &str, input: Name) -> Name {
        let mut values = vec![input];
        for (at, step) in self.classes[class].iter().enumerate() {
            let chosen = |number: u8| values[values.len() - 1 - number as usize % values.len()].clone();
            let result = match *step {
                Step::Unary(which, input) => {
                    self.made(scope, if which { "Relu" } else { "Neg" }, &[&chosen(input)])
                }
                Step::Binary(which, a, b) => {
                    self.made(scope, if which { "Add" } else { "Mul" }, &[&chosen(a), &chosen(b)])
                }
                Step::Weighted(input) => {
                    let weight = self.weight(scope, path, at);
                    self.made(scope, "Add", &[&chosen(input), &weight])
                }
                Step::Child { class: child, twice, input } => match class {
                    0 => self.made(scope, "Relu", &[&chosen(input)]),
                    _ => {
                        let child = child as usize % class;
                        let mut result = chosen(input);
                        for call in 0..if twice { 2 } else { 1 } {
                            result = self.call(child, scope, path, at, call, result);
                        }
                        result
                    }
                },
                Step::Branch(input) => self.branch(scope, &chosen(input)),
                Step::Call(input) => {
                    self.calls_function = true;
                    let made = self.made(scope, "Twice", &[&chosen(input)]);
                    self.graph.nodes.last_mut().unwrap().domain = FUNCTION_DOMAIN.into();
                    made
                }
                Step::Halves(input) => {
                    let first = self.made(scope, "Dropout", &[&chosen(input)]);
                    let mask: Name = format!("{first}_mask").into();
                    self.graph.nodes.last_mut().unwrap().outputs.push(mask);
                    first
                }
            };
            values.push(result);
        }
        values.pop().unwrap()
    }

    fn call(
        &mut self,
        class: usize,
        outer: ScopeId,
        outer_path: &str,
        at: usize,
        call: u32,
        input: Name,
    ) -> Name {
        let path = if outer_path.is_empty() { format!("part{at}") } else { format!("{outer_path}.part{at}") };
        let module = self.tree.insert(&path);
        // A module that is called again and again counts on, whoever calls it.
        let earlier = self.tree.get(module).unwrap().calls;
        debug_assert!(earlier >= call);
        self.name_module(module, class);
        let scope = self.scopes.child(outer, module, earlier);
        self.body(class, scope, &path, input)
    }

    fn name_module(&mut self, id: ModuleId, class: usize) {
        let order = self.order;
        let module = self.tree.get_mut(id).unwrap();
        module.class = format!("models.Class{class}").into();
        module.calls += 1;
        if module.order.is_none() {
            module.order = Some(order);
            self.order += 1;
        }
    }

    fn weight(&mut self, scope: ScopeId, path: &str, at: usize) -> Name {
        let name: Name =
            if path.is_empty() { format!("weight{at}") } else { format!("{path}.weight{at}") }.into();
        if !self.graph.initializers.iter().any(|tensor| tensor.name == name) {
            let number = self.graph.initializers.len() as f32;
            let data = [number; 6].iter().flat_map(|number| number.to_le_bytes()).collect();
            self.graph.initializers.push(Tensor {
                name: name.clone(),
                data_type: FLOAT,
                dims: SIZES.to_vec(),
                data: TensorData::Raw(data),
                ..Tensor::default()
            });
            let parameter =
                Parameter { name: name.clone(), elements: 6, bytes: 24, is_buffer: false, tied_to: None };
            self.tree.get_mut(self.scopes.module(scope)).unwrap().parameters.push(parameter);
        }
        name
    }

    /// A node with one result, whose type the graph tells.
    fn made(&mut self, scope: ScopeId, operator: &str, inputs: &[&Name]) -> Name {
        let result: Name = format!("value{}", self.graph.nodes.len()).into();
        self.node(scope, operator, inputs, std::slice::from_ref(&result));
        self.graph.value_infos.push(info(&result, FLOAT, &SIZES));
        result
    }

    fn node(&mut self, scope: ScopeId, operator: &str, inputs: &[&Name], outputs: &[Name]) {
        let name = format!("node{}", self.graph.nodes.len()).into();
        self.graph.nodes.push(plain_node(name, scope, operator, inputs, outputs));
    }

    fn branch(&mut self, scope: ScopeId, input: &Name) -> Name {
        let flag: Name = "flag".into();
        let result = self.made(scope, "If", &[&flag]);
        let holder = self.graph.nodes.last_mut().unwrap();
        for (name, operator) in [("then_branch", "Relu"), ("else_branch", "Neg")] {
            let inner: Name = format!("{result}_{name}").into();
            let node = plain_node(
                format!("{}_{name}", holder.name).into(),
                scope,
                operator,
                &[input],
                std::slice::from_ref(&inner),
            );
            let graph = Graph {
                name: name.into(),
                nodes: vec![node],
                outputs: vec![info(&inner, FLOAT, &SIZES)],
                ..Graph::default()
            };
            let value = AttributeValue::Graph(Box::new(graph));
            holder.attributes.push(Attribute { name: name.into(), value, ..Attribute::default() });
        }
        result
    }
}

fn plain_node(name: Name, scope: ScopeId, operator: &str, inputs: &[&Name], outputs: &[Name]) -> Node {
    Node {
        name,
        op_type: operator.into(),
        inputs: inputs.iter().map(|name| (*name).clone()).collect(),
        outputs: outputs.to_vec(),
        origin: Some(Origin::direct(scope, None)),
        ..Node::default()
    }
}

/// A function that came with the model: its nodes belong to the root.
fn twice() -> Function {
    let node = |name: &str, operator: &str, inputs: &[&str], output: &str| Node {
        name: name.into(),
        op_type: operator.into(),
        inputs: inputs.iter().map(|name| Name::from(*name)).collect(),
        outputs: vec![output.into()],
        origin: Some(Origin::direct(Scopes::ROOT, None)),
        ..Node::default()
    };
    Function {
        name: "Twice".into(),
        domain: FUNCTION_DOMAIN.into(),
        inputs: vec!["a".into()],
        outputs: vec!["c".into()],
        nodes: vec![node("twice_neg", "Neg", &["a"], "b"), node("twice_add", "Add", &["b", "b"], "c")],
        opset_imports: vec![OpsetImport { version: 20, ..OpsetImport::default() }],
        ..Function::default()
    }
}

fn info(name: &str, elem_type: i32, sizes: &[i64]) -> ValueInfo {
    let dims =
        sizes.iter().map(|&size| Dimension { value: DimensionValue::Static(size), ..Dimension::default() });
    let kind = TypeKind::Tensor { elem_type, shape: Some(dims.collect()) };
    ValueInfo {
        name: name.into(),
        value_type: Some(Type { kind, ..Type::default() }.into()),
        ..ValueInfo::default()
    }
}
