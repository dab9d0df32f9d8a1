//! The rows for spreadsheets.

use std::io::{self, Write};

use modelexport::analyze::{Analysis, Figures, Rows, Share};

use crate::display::csv::{Value, row, titles};

const FIGURES: [&str; 12] = [
    "nodes",
    "parameters",
    "parameter_bytes",
    "constants",
    "constant_bytes",
    "multiply_adds",
    "unknown_multiply_adds",
    "activation_bytes",
    "unknown_activations",
    "share_nodes",
    "share_parameters",
    "share_multiply_adds",
];

fn figures(figures: &Figures, share: Share) -> [Value<'static>; 12] {
    [
        Value::Number(figures.nodes),
        Value::Number(figures.parameters.elements),
        Value::Number(figures.parameters.bytes),
        Value::Number(figures.constants.elements),
        Value::Number(figures.constants.bytes),
        Value::Number(figures.multiply_adds),
        Value::Number(figures.unknown_multiply_adds),
        Value::Number(figures.activation_bytes),
        Value::Number(figures.unknown_activations),
        Value::Share(share.nodes),
        Value::Share(share.parameters),
        Value::Share(share.multiply_adds),
    ]
}

/// `Add:2;MatMul:1`.
fn operators(figures: &Figures) -> String {
    let parts: Vec<String> =
        figures.operators.iter().map(|(operator, nodes)| format!("{operator}:{nodes}")).collect();
    parts.join(";")
}

pub fn write(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    match &analysis.rows {
        Rows::Modules(rows) => {
            let before = ["path", "class", "tag", "depth", "calls", "own_nodes"];
            let after = ["coverage", "method", "operators"];
            titles(out, &[&before[..], &FIGURES, &after].concat())?;
            for module in rows {
                let mut values = vec![
                    Value::Text(&module.path),
                    Value::Text(&module.class),
                    Value::Text(&module.tag),
                    Value::Number(module.depth as u64),
                    Value::Number(module.calls.into()),
                    Value::Number(module.own.nodes),
                ];
                values.extend(figures(&module.total, module.share));
                let operators = operators(&module.total);
                values.push(Value::Share(module.coverage));
                values.push(Value::Text(module.method.unwrap_or_default()));
                values.push(Value::Text(&operators));
                row(out, &values)?;
            }
        }
        Rows::Classes(rows) => {
            titles(out, &[&["class", "instances", "own_nodes"][..], &FIGURES, &["operators"]].concat())?;
            for class in rows {
                let mut values = vec![
                    Value::Text(&class.class),
                    Value::Number(class.instances),
                    Value::Number(class.own.nodes),
                ];
                values.extend(figures(&class.total, class.share));
                let operators = operators(&class.total);
                values.push(Value::Text(&operators));
                row(out, &values)?;
            }
        }
        Rows::Operators(rows) => {
            let names = [
                "operator",
                "nodes",
                "modules",
                "share_nodes",
                "multiply_adds",
                "unknown_multiply_adds",
                "activation_bytes",
                "unknown_activations",
            ];
            titles(out, &names)?;
            for operator in rows {
                let values = [
                    Value::Text(&operator.operator),
                    Value::Number(operator.nodes),
                    Value::Number(operator.modules),
                    Value::Share(operator.share),
                    Value::Number(operator.multiply_adds),
                    Value::Number(operator.unknown_multiply_adds),
                    Value::Number(operator.activation_bytes),
                    Value::Number(operator.unknown_activations),
                ];
                row(out, &values)?;
            }
        }
    }
    Ok(())
}
