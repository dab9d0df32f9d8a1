//! Builds a model with functions from the arranged nodes.

use std::collections::{HashMap, HashSet};

use modelexport_graph::onnx::{Function, Graph, Metadata, Model, Node, OpsetImport, ValueInfo};
use modelexport_graph::{Method, Name, ScopeId};
use modelexport_io::onnx::DocString;

use super::arrange::{Arrangement, Group, Item};
use super::key::key;
use super::record::{self, Correction};
use super::template::{Shifts, Template};
use super::texts::for_each_text;
use super::{CallReport, Error, FunctionReport};

use crate::cut::rename_values;
use crate::embedding;
use crate::tagged_file::TaggedFile;
use crate::torch_scopes::ScopeTexts;

/// The version of the domains that functions live in.
const FUNCTION_DOMAIN_VERSION: i64 = 1;
/// The domain of functions whose class names no package.
const PLAIN_DOMAIN: &str = "modelexport";
/// Functions exist since version 8 of the format, metadata of nodes and functions since version 10.
const LEAST_IR_VERSION: i64 = 10;

/// A model with functions, and what the functions are.
pub(super) struct Built {
    pub model: Model,
    pub reports: Vec<FunctionReport>,
}

/// Calls whose function has fewer than `least` of them.
pub(super) fn rare_calls(
    file: &TaggedFile,
    arrangement: &Arrangement,
    least: usize,
) -> Result<Vec<ScopeId>, Error> {
    let shared = Sharing::new(file, arrangement)?;
    let rare = shared.plans.iter().filter(|plan| plan.groups.len() < least);
    let groups = rare.flat_map(|plan| &plan.groups).filter_map(|at| arrangement.groups.get(*at));
    Ok(groups.map(|group| group.scope).collect())
}

pub(super) fn build(file: &TaggedFile, arrangement: &Arrangement) -> Result<Built, Error> {
    let sharing = Sharing::new(file, arrangement)?;
    let mut builder = Builder {
        file,
        arrangement,
        scope_texts: ScopeTexts::new(&file.hierarchy.tree, &file.hierarchy.scopes),
        calls: vec![None; arrangement.groups.len()],
        names: file.model.graph.nodes.iter().map(|node| node.name.clone()).collect(),
        weights: file.model.graph.initializers.iter().map(|tensor| tensor.name.clone()).collect(),
    };
    let mut functions = file.model.functions.clone();
    let mut reports = Vec::new();
    // A function comes after those that it calls.
    for plan in &sharing.plans {
        let function = builder.function(plan, &sharing)?;
        reports.push(builder.report(plan, &function));
        functions.push(function);
    }
    let nodes = builder.nodes(&arrangement.top);
    Ok(Built { model: model(file, arrangement, &sharing, nodes, functions), reports })
}

/// The model around the new nodes and functions.
fn model(
    file: &TaggedFile,
    arrangement: &Arrangement,
    sharing: &Sharing,
    nodes: Vec<Node>,
    functions: Vec<Function>,
) -> Model {
    let old = &file.model;
    let value_infos = sharing.top_infos.clone();
    let mut model = Model {
        graph: Graph { nodes, value_infos, ..old.graph.clone() },
        functions,
        ..Model { graph: Graph::default(), functions: Vec::new(), ..old.clone() }
    };
    let mut remember = |key: &str, value: String| model.metadata.push((key.to_owned(), value));
    if !sharing.plans.is_empty() {
        remember(record::IMPORTS, old.opset_imports.len().to_string());
        if old.ir_version < LEAST_IR_VERSION {
            remember(record::IR_VERSION, old.ir_version.to_string());
        }
        let flat = arrangement.flat();
        if flat.iter().enumerate().any(|(i, at)| i != *at) {
            remember(record::ORDER, record::order_to_text(&flat));
        }
        model.ir_version = model.ir_version.max(LEAST_IR_VERSION);
    }
    for plan in &sharing.plans {
        import(&mut model.opset_imports, &plan.domain, FUNCTION_DOMAIN_VERSION);
    }
    model
}

fn import(imports: &mut Vec<OpsetImport>, domain: &str, version: i64) {
    if !imports.iter().any(|import| import.domain == domain) {
        imports.push(OpsetImport { domain: domain.to_owned(), version, unknown: Vec::new() });
    }
}

/// Which calls share a function.
struct Sharing {
    plans: Vec<Plan>,
    /// By group: its plan.
    plan_of: Vec<usize>,
    /// By group: the types of values inside.
    infos: Vec<Vec<ValueInfo>>,
    /// The types of values that stay in the main graph.
    top_infos: Vec<ValueInfo>,
}

/// A function that is to be made.
struct Plan {
    domain: Name,
    name: Name,
    class: Name,
    /// Its calls; the first is the one whose names the function has.
    groups: Vec<usize>,
}

impl Sharing {
    fn new(file: &TaggedFile, arrangement: &Arrangement) -> Result<Sharing, Error> {
        let (infos, top_infos) = value_infos(file, arrangement);
        let mut sharing = Sharing { plans: Vec::new(), plan_of: Vec::new(), infos, top_infos };
        let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut taken: HashSet<(Name, Name)> = file
            .model
            .functions
            .iter()
            .map(|function| (function.domain.clone(), function.name.clone()))
            .collect();
        for (at, group) in arrangement.groups.iter().enumerate() {
            let module = file.hierarchy.tree.get(file.hierarchy.scopes.module(group.scope));
            let class: Name = module.map_or_else(|| "".into(), |module| module.class.clone());
            let nodes = sharing.plain_nodes(file, arrangement, group);
            let infos = sharing.infos.get(at).cloned().unwrap_or_default();
            let key = key(&class, nodes, &group.inputs, &group.outputs, infos).map_err(|error| {
                let module = module.map_or_else(String::new, |module| module.path.to_string());
                Error::Encode { module, error: Box::new(error) }
            })?;
            let next = sharing.plans.len();
            let plan = *known.entry(key).or_insert(next);
            if plan == next {
                let (domain, name) = function_name(&class, &mut taken);
                sharing.plans.push(Plan { domain, name, class, groups: Vec::new() });
            }
            if let Some(plan) = sharing.plans.get_mut(plan) {
                plan.groups.push(at);
            }
            sharing.plan_of.push(plan);
        }
        Ok(sharing)
    }

    /// The nodes of a call as far as they matter for what it does.
    fn plain_nodes(&self, file: &TaggedFile, arrangement: &Arrangement, group: &Group) -> Vec<Node> {
        let node = |item: &Item| match item {
            Item::Node(at) => file.model.graph.nodes.get(*at).cloned(),
            Item::Group(at) => {
                let plan = self.plan_of.get(*at).and_then(|plan| self.plans.get(*plan))?;
                Some(bare_call(plan, arrangement.groups.get(*at)?))
            }
        };
        group.items.iter().filter_map(node).collect()
    }
}

fn bare_call(plan: &Plan, group: &Group) -> Node {
    Node {
        op_type: plan.name.clone(),
        domain: plan.domain.clone(),
        inputs: group.inputs.clone(),
        outputs: group.outputs.clone(),
        ..Node::default()
    }
}

/// The class is the name, its package the domain: `transformers.models.bert.modeling_bert`, `BertLayer`. Functions of
/// one class that do different things are numbered.
fn function_name(class: &str, taken: &mut HashSet<(Name, Name)>) -> (Name, Name) {
    let (package, class) = class.rsplit_once('.').unwrap_or((PLAIN_DOMAIN, class));
    let domain: Name = if package.is_empty() { PLAIN_DOMAIN } else { package }.into();
    let class = if class.is_empty() { "Module" } else { class };
    let mut name: Name = class.into();
    let mut number = 0;
    while !taken.insert((domain.clone(), name.clone())) {
        number += 1;
        name = format!("{class}_{number}").into();
    }
    (domain, name)
}

/// Sorts the types of values by where the values are seen: inside a call, or in the main graph.
fn value_infos(file: &TaggedFile, arrangement: &Arrangement) -> (Vec<Vec<ValueInfo>>, Vec<ValueInfo>) {
    let groups = &arrangement.groups;
    let mut parent: Vec<Option<usize>> = vec![None; groups.len()];
    let mut holder: HashMap<&Name, usize> = HashMap::new();
    for (at, group) in groups.iter().enumerate() {
        for item in &group.items {
            match item {
                Item::Node(node) => {
                    let outputs = file.model.graph.nodes.get(*node).map(|node| &node.outputs);
                    holder.extend(outputs.into_iter().flatten().map(|name| (name, at)));
                }
                Item::Group(inner) => {
                    if let Some(slot) = parent.get_mut(*inner) {
                        *slot = Some(at);
                    }
                }
            }
        }
    }
    let given_out: Vec<HashSet<&Name>> = groups.iter().map(|group| group.outputs.iter().collect()).collect();
    let mut infos: Vec<Vec<ValueInfo>> = vec![Vec::new(); groups.len()];
    let mut top = Vec::new();
    for info in &file.model.graph.value_infos {
        let mut at = holder.get(&info.name).copied();
        while let Some(group) = at {
            if !given_out.get(group).is_some_and(|outputs| outputs.contains(&info.name)) {
                break;
            }
            at = parent.get(group).copied().flatten();
        }
        match at.and_then(|group| infos.get_mut(group)) {
            Some(inside) => inside.push(info.clone()),
            None => top.push(info.clone()),
        }
    }
    (infos, top)
}

struct Builder<'a> {
    file: &'a TaggedFile,
    arrangement: &'a Arrangement,
    scope_texts: ScopeTexts<'a>,
    /// By group: its call, once its function is made.
    calls: Vec<Option<Node>>,
    /// Names of nodes that are taken.
    names: HashSet<Name>,
    weights: HashSet<Name>,
}

impl Builder<'_> {
    /// Nodes with their own texts; calls as they were made.
    fn nodes(&self, items: &[Item]) -> Vec<Node> {
        let node = |item: &Item| match item {
            Item::Node(at) => self.file.model.graph.nodes.get(*at).cloned(),
            Item::Group(at) => self.calls.get(*at).cloned().flatten(),
        };
        items.iter().filter_map(node).collect()
    }

    fn group(&self, at: usize) -> Option<&Group> {
        self.arrangement.groups.get(at)
    }

    /// Makes the function of a plan and all its calls.
    fn function(&mut self, plan: &Plan, sharing: &Sharing) -> Result<Function, Error> {
        let calls: Vec<Node> = plan.groups.iter().filter_map(|at| self.call(plan, *at)).collect();
        let patterns: Vec<Vec<String>> =
            calls.iter().map(|call| record::patterns(&call.name, &plan.name, &call.metadata)).collect();
        let texts: Vec<Vec<String>> = plan.groups.iter().map(|at| self.texts(*at)).collect();
        let none = Vec::new();
        let first_patterns = patterns.first().unwrap_or(&none);
        let templates: Vec<Template> =
            texts.first().into_iter().flatten().map(|text| Template::new(text, first_patterns)).collect();
        let distances: Vec<Vec<i64>> = texts
            .iter()
            .zip(&patterns)
            .map(|(texts, patterns)| {
                let of_text = |(template, text): (&Template, &String)| {
                    let found = template.distances(text, patterns);
                    found.unwrap_or_else(|| vec![0; template.number_count()])
                };
                templates.iter().zip(texts).flat_map(of_text).collect()
            })
            .collect();
        let shifts = Shifts::new(&distances);
        for (i, mut call) in calls.iter().cloned().enumerate() {
            let own = shifts.by_call.get(i).unwrap_or(const { &Vec::new() });
            if own.iter().any(|shift| *shift != 0) {
                let numbers: Vec<String> = own.iter().map(i64::to_string).collect();
                call.metadata.push((record::SHIFTS.to_owned(), numbers.join(",")));
            }
            let predicted = predict(&templates, patterns.get(i).unwrap_or(&none), &shifts.followed, own);
            let actual = texts.get(i).into_iter().flatten();
            let corrections: Vec<Correction> = predicted
                .iter()
                .zip(actual)
                .enumerate()
                .filter(|(_, (predicted, actual))| predicted != actual)
                .map(|(j, (predicted, actual))| Correction::new(j, predicted, actual))
                .collect();
            if !corrections.is_empty() {
                // Numbers and strings always serialise.
                let text = serde_json::to_string(&corrections).unwrap_or_default();
                call.metadata.push((record::TEXTS.to_owned(), text));
            }
            if let Some(slot) = plan.groups.get(i).and_then(|at| self.calls.get_mut(*at)) {
                *slot = Some(call);
            }
        }
        let first = plan.groups.first().copied().unwrap_or_default();
        let mut metadata: Metadata = Vec::new();
        if let Some(call) = calls.first() {
            metadata.push((record::FUNCTION.to_owned(), call.name.to_string()));
            metadata.extend(call.metadata.iter().cloned());
        }
        let slots = record::slots_to_text(&shifts.followed);
        if !slots.is_empty() {
            metadata.push((record::SLOTS.to_owned(), slots));
        }
        Ok(self.proto(plan, first, sharing, metadata))
    }

    /// The function itself, with the texts of its first call.
    fn proto(&self, plan: &Plan, first: usize, sharing: &Sharing, metadata: Metadata) -> Function {
        let empty = Group { scope: ScopeId(0), items: Vec::new(), inputs: Vec::new(), outputs: Vec::new() };
        let group = self.group(first).unwrap_or(&empty);
        let mut nodes = self.nodes(&group.items);
        let formal = self.formal_names(group, &nodes);
        let new_name = |name: &Name| formal.get(name).cloned();
        rename_values(&mut nodes, &new_name);
        let renamed = |names: &[Name]| -> Vec<Name> {
            names.iter().map(|name| new_name(name).unwrap_or_else(|| name.clone())).collect()
        };
        let imports = &self.file.model.opset_imports;
        let mut opset_imports: Vec<OpsetImport> = Vec::new();
        let mut add = |domain: &str| {
            let is_default = |domain: &str| matches!(domain, "" | "ai.onnx");
            let known = imports
                .iter()
                .find(|import| import.domain == domain || (is_default(domain) && is_default(&import.domain)));
            match known {
                Some(known) => import(&mut opset_imports, &known.domain, known.version),
                None => import(&mut opset_imports, domain, FUNCTION_DOMAIN_VERSION),
            }
        };
        add("");
        for node in &nodes {
            add(&node.domain);
            node.subgraphs().for_each(|graph| graph.for_each_node(&mut |inner| add(&inner.domain)));
        }
        Function {
            name: plan.name.clone(),
            domain: plan.domain.clone(),
            inputs: renamed(&group.inputs),
            outputs: renamed(&group.outputs),
            nodes,
            opset_imports,
            value_infos: sharing.infos.get(first).cloned().unwrap_or_default(),
            metadata,
            ..Function::default()
        }
    }

    /// Names of inputs and outputs: weights by their names below the module, the rest by what they are.
    fn formal_names(&self, group: &Group, nodes: &[Node]) -> HashMap<Name, Name> {
        let mut taken: HashSet<Name> = HashSet::new();
        for node in nodes {
            taken.extend(node.outputs.iter().cloned());
            for graph in node.subgraphs() {
                taken.extend(crate::cut::defined_names(graph).cloned());
                graph.for_each_node(&mut |inner| taken.extend(inner.outputs.iter().cloned()));
            }
        }
        let module = self.file.hierarchy.scopes.module(group.scope);
        let path = self.file.hierarchy.tree.get(module).map_or("", |module| &module.path);
        let mut unique = |wanted: &str| {
            let mut name: Name = wanted.into();
            let mut number = 0;
            while !taken.insert(name.clone()) {
                number += 1;
                name = format!("{wanted}_{number}").into();
            }
            name
        };
        let mut formal = HashMap::new();
        for input in &group.inputs {
            let below = input.strip_prefix(path).and_then(|rest| rest.strip_prefix('.'));
            let wanted = match (self.weights.contains(input), below) {
                (true, Some(below)) => below,
                (true, None) => input,
                (false, _) => "input",
            };
            formal.insert(input.clone(), unique(wanted));
        }
        for output in &group.outputs {
            formal.insert(output.clone(), unique("output"));
        }
        formal
    }

    /// The texts of the nodes of a call, those of calls inside among them.
    fn texts(&self, at: usize) -> Vec<String> {
        let Some(group) = self.group(at) else { return Vec::new() };
        let mut nodes = self.nodes(&group.items);
        let given_out: HashSet<&Name> = group.outputs.iter().collect();
        let mut texts = Vec::new();
        for_each_text(&mut nodes, &|name| given_out.contains(name), &mut |_, text| {
            texts.push(text.to_owned());
            None
        });
        texts
    }

    /// The call of a group, without what tells its texts from those of the first.
    fn call(&mut self, plan: &Plan, at: usize) -> Option<Node> {
        let group = self.arrangement.groups.get(at)?;
        let hierarchy = &self.file.hierarchy;
        let module = hierarchy.scopes.module(group.scope);
        let path = hierarchy.tree.get(module).map_or_else(|| "".into(), |module| module.path.clone());
        let tag = self.file.tags.tag(module);
        let entries = self.scope_texts.entries(group.scope, &path, &plan.name);
        let mut call = Node { name: self.call_name(group), ..bare_call(plan, group) };
        call.metadata = embedding::entries(&call.metadata, tag, &path, entries);
        embedding::set_calls(&mut call.metadata, &hierarchy.scopes.calls(group.scope));
        let nodes = || {
            group.items.iter().filter_map(|item| match item {
                Item::Node(at) => self.file.model.graph.nodes.get(*at),
                Item::Group(at) => self.calls.get(*at).and_then(Option::as_ref),
            })
        };
        if nodes().any(|node| DocString::parse(&node.doc_string).is_some()) {
            call.doc_string = DocString::new(vec![tag.clone()], tag, Method::Direct, None).to_text();
        }
        Some(call)
    }

    /// The name of a call: what the names of its nodes have in common, up to a whole part.
    fn call_name(&mut self, group: &Group) -> Name {
        let nodes = self.nodes(&group.items);
        let mut common: Option<&str> = None;
        for node in &nodes {
            let shared = match common {
                None => node.name.rsplit_once('/').map_or("", |(scope, _)| scope),
                Some(known) => shared_parts(known, &node.name),
            };
            common = Some(shared);
        }
        let hierarchy = &self.file.hierarchy;
        let path = hierarchy.tree.get(hierarchy.scopes.module(group.scope)).map_or("", |module| &module.path);
        let wanted = common.filter(|name| !name.is_empty()).unwrap_or(path);
        let mut name: Name = wanted.into();
        let mut number = 0;
        while !self.names.insert(name.clone()) {
            number += 1;
            name = format!("{wanted}_{number}").into();
        }
        name
    }

    fn report(&self, plan: &Plan, function: &Function) -> FunctionReport {
        let call = |at: &usize| {
            let scope = self.file.hierarchy.scopes.get(self.group(*at)?.scope);
            let module = self.file.hierarchy.tree.get(scope.module)?.path.clone();
            Some(CallReport { module, call: scope.call })
        };
        FunctionReport {
            domain: plan.domain.clone(),
            name: plan.name.clone(),
            class: plan.class.clone(),
            nodes: function.nodes.len(),
            inputs: function.inputs.len(),
            outputs: function.outputs.len(),
            calls: plan.groups.iter().filter_map(call).collect(),
        }
    }
}

/// What two names have in common, in whole parts between `/`.
fn shared_parts<'n>(a: &'n str, b: &str) -> &'n str {
    let mut end = 0;
    let mut others = b.split('/');
    for part in a.split('/') {
        if others.next() != Some(part) {
            break;
        }
        end += part.len() + 1;
    }
    a.get(..end.saturating_sub(1)).unwrap_or_default()
}

/// The texts that templates and shifts give.
pub(super) fn predict(
    templates: &[Template],
    replacements: &[String],
    followed: &[u32],
    shifts: &[i64],
) -> Vec<String> {
    let mut numbers = followed.iter();
    let mut next = || {
        let shift = numbers.next().copied().unwrap_or(0).checked_sub(1);
        shift.and_then(|shift| shifts.get(shift as usize)).copied().unwrap_or(0)
    };
    templates.iter().map(|template| template.text(replacements, &mut next)).collect()
}
