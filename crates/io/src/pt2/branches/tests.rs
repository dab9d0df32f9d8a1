use modelexport_graph::aten::{NamedArg, OutputSpec, Signature, Subgraph, ValueKind};
use modelexport_graph::module_tree::Parameter;
use modelexport_graph::{DType, SourceId, Span, StridedView};

use super::*;

/// A graph with one input for each weight, in their order, and `x` behind them.
struct Branch {
    graph: Graph,
    weights: usize,
}

impl Branch {
    fn new(weights: usize) -> Self {
        let mut graph = Graph::default();
        for i in 0..=weights {
            let value = graph.add_value(format!("in_{i}").into(), ValueKind::Token);
            graph.inputs.push(Arg::Tensor(value));
        }
        Branch { graph, weights }
    }

    fn weight(&self, index: usize) -> ValueId {
        assert!(index < self.weights);
        ValueId(index as u32)
    }

    fn x(&self) -> ValueId {
        ValueId(self.weights as u32)
    }

    fn node(&mut self, target: &str, reads: &[ValueId]) -> ValueId {
        self.call(target, Vec::new(), &[reads])
    }

    /// A node that takes graphs.
    fn call(&mut self, target: &str, graphs: Vec<Graph>, operands: &[&[ValueId]]) -> ValueId {
        let result =
            self.graph.add_value(format!("out_{}", self.graph.values.len()).into(), ValueKind::Token);
        let graphs =
            graphs.into_iter().map(|graph| Arg::Graph(Box::new(Subgraph { name: "branch".into(), graph })));
        let operands = operands.iter().map(|values| Arg::Tensors(values.to_vec()));
        let args = graphs.chain(operands).map(|arg| NamedArg { name: "".into(), arg, is_keyword: false });
        self.graph.nodes.push(Node {
            name: target.into(),
            target: target.into(),
            args: args.collect(),
            outputs: vec![Arg::Tensor(result)],
            scope: None,
            method: Method::Direct,
            trace: None,
        });
        result
    }

    /// `linear` with one weight, as a module with that weight calls it.
    fn linear(&mut self, x: ValueId, weight: usize) -> ValueId {
        let weight = self.weight(weight);
        self.node("linear", &[x, weight])
    }

    fn returning(mut self, value: ValueId) -> Graph {
        self.graph.outputs.push(Arg::Tensor(value));
        self.graph
    }

    fn all(&self) -> Vec<ValueId> {
        (0..=self.weights as u32).map(ValueId).collect()
    }
}

/// The program that gives all its weights and its input to an operator with these branches.
fn program(
    weights: &[&str],
    other_modules: &[&str],
    target: &str,
    branches: Vec<Graph>,
    carried: usize,
) -> Program {
    let mut outer = Branch::new(weights.len());
    let all = outer.all();
    // What is carried comes first.
    let (first, rest) = all.split_at(carried);
    let y = outer.call(target, branches, &[first, rest]);
    let mut graph = outer.returning(y);
    graph.nodes[0].scope = Some(Scopes::ROOT);
    let mut modules = ModuleTree::new();
    other_modules.iter().for_each(|path| {
        modules.insert(path);
    });
    let mut signature = Signature::default();
    let mut list = Vec::new();
    for (index, name) in weights.iter().enumerate() {
        let owner = modules.insert(name.rsplit_once('.').map_or("", |(owner, _)| owner));
        let own = Parameter { name: (*name).into(), elements: 1, bytes: 4, is_buffer: false, tied_to: None };
        modules.get_mut(owner).unwrap().parameters.push(own);
        signature.inputs.push(InputSpec::Parameter { weight: index as u32 });
        let span = Span { source: SourceId(0), offset: index as u64 * 4, length: 4 };
        list.push(Weight {
            name: (*name).into(),
            kind: WeightKind::Parameter,
            dtype: DType::F32,
            sizes: vec![1],
            data: Some(StridedView { span, offset: 0, sizes: vec![1], strides: vec![1] }),
        });
    }
    signature.inputs.push(InputSpec::User { name: "x".into() });
    signature.outputs.push(OutputSpec::User { name: None });
    Program {
        graph,
        signature,
        ranges: Vec::new(),
        weights: list,
        modules,
        scopes: Scopes::new(),
        traces: Vec::new(),
        torch_version: "2.15.0".into(),
        schema_version: (8, 20),
    }
}

/// Module, call and method of each node inside a node.
fn found(program: &Program) -> Vec<String> {
    fn walk(graph: &Graph, program: &Program, into: &mut Vec<String>) {
        for node in &graph.nodes {
            let scope = node.scope.expect("every node has a call");
            let module = program.modules.get(program.scopes.module(scope)).unwrap();
            let (path, calls) = (&module.path, program.scopes.calls(scope));
            into.push(format!("{} in {path:?} {calls:?} {}", node.target, node.method.name()));
            node.subgraphs().for_each(|subgraph| walk(subgraph, program, into));
        }
    }
    let mut lines = Vec::new();
    program.graph.nodes.iter().flat_map(Node::subgraphs).for_each(|branch| walk(branch, program, &mut lines));
    lines
}

/// Path, order and number of calls of the modules that ran.
fn executed(program: &Program) -> Vec<(&str, u32, u32)> {
    let modules = program.modules.iter();
    modules.filter_map(|(_, module)| Some((&*module.path, module.order?, module.calls))).collect()
}

const COND: &str = "higher_order.cond";

#[test]
fn nodes_belong_to_the_owners_of_their_weights_and_those_between_to_what_holds_them() {
    let weights = ["ffn.gate.weight", "ffn.up.weight", "ffn.down.weight", "scale"];
    let mut branch = Branch::new(weights.len());
    let x = branch.x();
    let before = branch.node("cos", &[x]);
    let gate = branch.linear(before, 0);
    let gate = branch.node("sigmoid", &[gate]);
    let up = branch.linear(before, 1);
    let product = branch.node("mul", &[gate, up]);
    let down = branch.linear(product, 2);
    let after = branch.node("sin", &[down]);
    let own = branch.weight(3);
    let scaled = branch.node("mul", &[after, own]);
    let program = placed(program(&weights, &[], COND, vec![branch.returning(scaled)], 0));
    assert_eq!(
        found(&program),
        [
            r#"cos in "" [0] propagated"#,
            r#"linear in "ffn.gate" [0, 0, 0] parameter"#,
            r#"sigmoid in "ffn" [0, 0] propagated"#,
            r#"linear in "ffn.up" [0, 0, 0] parameter"#,
            r#"mul in "ffn" [0, 0] propagated"#,
            r#"linear in "ffn.down" [0, 0, 0] parameter"#,
            r#"sin in "" [0] propagated"#,
            r#"mul in "" [0] parameter"#,
        ]
    );
    assert_eq!(
        executed(&program),
        [("", 0, 0), ("ffn", 1, 1), ("ffn.gate", 2, 1), ("ffn.up", 3, 1), ("ffn.down", 4, 1)]
    );
}

#[test]
fn a_module_that_begins_again_is_called_again() {
    let weights = ["block.in.weight", "block.out.weight"];
    let two_rounds = |rounds: &[usize]| {
        let mut branch = Branch::new(weights.len());
        let mut x = branch.x();
        for weight in rounds {
            x = branch.linear(x, *weight);
        }
        branch.returning(x)
    };
    let calls = |branches: Vec<Graph>| {
        let program = placed(program(&weights, &[], COND, branches, 0));
        let lines = found(&program);
        let calls = lines.iter().map(|line| line.split_once(" in ").unwrap().1.replace(" parameter", ""));
        (
            calls.collect::<Vec<String>>(),
            executed(&program).iter().map(|module| module.2).collect::<Vec<u32>>(),
        )
    };
    // The whole block twice, and the part that it begins with in the other branch.
    let (found, counts) = calls(vec![two_rounds(&[0, 1, 0, 1]), two_rounds(&[0])]);
    assert_eq!(
        found,
        [
            r#""block.in" [0, 0, 0]"#,
            r#""block.out" [0, 0, 0]"#,
            r#""block.in" [0, 1, 1]"#,
            r#""block.out" [0, 1, 1]"#,
            r#""block.in" [0, 2, 2]"#,
        ]
    );
    assert_eq!(counts, [0, 3, 3, 2]);
    // Its second part twice, in one call.
    let (found, counts) = calls(vec![two_rounds(&[0, 1, 1])]);
    assert_eq!(found, [r#""block.in" [0, 0, 0]"#, r#""block.out" [0, 0, 0]"#, r#""block.out" [0, 0, 1]"#]);
    assert_eq!(counts, [0, 1, 1, 2]);
}

#[test]
fn a_graph_in_a_graph_goes_on_with_the_calls_around_it() {
    let weights = ["block.in.weight", "block.out.weight"];
    let inner = || {
        let mut inner = Branch::new(weights.len());
        let y = inner.linear(inner.x(), 1);
        inner.returning(y)
    };
    let mut branch = Branch::new(weights.len());
    let y = branch.linear(branch.x(), 0);
    let weight = [branch.weight(0), branch.weight(1)];
    let y = branch.call(COND, vec![inner(), inner()], &[&weight, &[y]]);
    let y = branch.linear(y, 1);
    let program = placed(program(&weights, &[], COND, vec![branch.returning(y)], 0));
    assert_eq!(
        found(&program),
        [
            r#"linear in "block.in" [0, 0, 0] parameter"#,
            r#"higher_order.cond in "block" [0, 0] propagated"#,
            r#"linear in "block.out" [0, 0, 1] parameter"#,
            r#"linear in "block.out" [0, 0, 2] parameter"#,
            r#"linear in "block.out" [0, 0, 0] parameter"#,
        ]
    );
}

#[test]
fn what_a_loop_carries_is_no_weight() {
    let weights = ["start", "block.weight"];
    let mut body = Branch::new(weights.len());
    let state = body.weight(0);
    let next = body.node("sin", &[state]);
    let next = body.linear(next, 1);
    let program = placed(program(&weights, &[], "higher_order.while_loop", vec![body.returning(next)], 1));
    assert_eq!(found(&program), [r#"sin in "" [0] propagated"#, r#"linear in "block" [0, 0] parameter"#]);
}

#[test]
fn a_weight_with_several_owners_speaks_for_what_holds_them() {
    let weights = ["model.embed.weight", "model.head.weight"];
    let mut branch = Branch::new(weights.len());
    let y = branch.linear(branch.x(), 1);
    let mut tied = program(&weights, &[], COND, vec![branch.returning(y)], 0);
    tied.weights[1].data = tied.weights[0].data.clone();
    assert_eq!(found(&placed(tied)), [r#"linear in "model" [0, 0] parameter"#]);
}

#[test]
fn a_list_is_not_called_and_a_sequence_is() {
    let weights =
        ["experts.0.up.weight", "experts.1.up.weight", "tower.0.weight", "tower.2.weight", "free.0"];
    let mut branch = Branch::new(weights.len());
    let mut y = branch.x();
    for weight in [1, 2, 3, 4] {
        y = branch.linear(y, weight);
    }
    let program = placed(program(&weights, &["tower.0", "tower.1"], COND, vec![branch.returning(y)], 0));
    assert_eq!(
        found(&program),
        [
            r#"linear in "experts.1.up" [0, 0, 0] parameter"#,
            r#"linear in "tower.0" [0, 0, 0] parameter"#,
            r#"linear in "tower.2" [0, 0, 0] parameter"#,
            r#"linear in "" [0] parameter"#,
        ]
    );
    let paths: Vec<&str> = executed(&program).iter().map(|module| module.0).collect();
    assert_eq!(paths, ["", "tower", "tower.0", "experts.1", "experts.1.up", "tower.2"]);
}

#[test]
fn weights_of_a_module_around_tell_nothing() {
    let weights = ["table", "block.weight"];
    let mut branch = Branch::new(weights.len());
    let table = branch.weight(0);
    let y = branch.node("index", &[branch.x(), table]);
    let mut program = program(&weights, &[], COND, vec![branch.returning(y)], 0);
    let block = program.modules.find("block").unwrap();
    program.graph.nodes[0].scope = Some(program.scopes.child(Scopes::ROOT, block, 0));
    assert_eq!(found(&placed(program)), [r#"index in "block" [0, 0] propagated"#]);
}
