//! Weights with other numbers, and with the same numbers in another form.

use super::*;

/// The same with all weights in memory, where a change can read them.
fn compared_in_memory(change: &dyn Fn(&mut Model)) -> Comparison {
    let folder = tempfile::tempdir().unwrap();
    let path = test_export::fixture(folder.path(), "bert_tiny");
    let sources = TaggedFile::open(&path).unwrap().sources;
    compared(&|model| {
        for tensor in &mut model.graph.initializers {
            let TensorData::Stored(view) = &tensor.data else { continue };
            let bits = tensor.dtype().and_then(|dtype| dtype.bits()).unwrap();
            let (start, length) = modelexport_io::stream::byte_range(view, bits).unwrap().unwrap();
            let mut bytes = vec![0; length as usize];
            sources.read_at(view.span.source, start, &mut bytes).unwrap();
            tensor.data = TensorData::Raw(bytes);
        }
        change(model);
    })
}

/// The bytes of a weight, its shape, and its bytes element by element in another order.
fn elements(model: &Model, name: &str) -> (Vec<Vec<u8>>, Vec<usize>) {
    let tensor = model.graph.initializers.iter().find(|tensor| &*tensor.name == name).unwrap();
    let TensorData::Raw(bytes) = &tensor.data else { panic!("{:?}", tensor.data) };
    (bytes.chunks(4).map(<[u8]>::to_vec).collect(), tensor.dims.iter().map(|&dim| dim as usize).collect())
}

/// Puts a matrix in its transposed layout.
fn transpose(model: &mut Model, name: &str) {
    let (found, dims) = elements(model, name);
    let [rows, columns] = dims[..] else { panic!("{dims:?}") };
    let turned = (0..rows * columns).flat_map(|at| found[at % rows * columns + at / rows].clone()).collect();
    let tensor = weight(model, name);
    (tensor.dims, tensor.data) = (vec![columns as i64, rows as i64], TensorData::Raw(turned));
}

/// Differences of weights alone.
fn weight_differences(comparison: &Comparison) -> Vec<&Difference> {
    let inner = comparison.modules.iter().flat_map(|module| &module.differences);
    let all = comparison.model.iter().chain(inner);
    all.filter(|difference| difference.kind.starts_with("weight")).collect()
}

const SQUARE: &str = "encoder.layer.0.attention.self.query.weight";
const WIDE: &str = "encoder.layer.0.intermediate.dense.weight";

#[test]
fn weights_in_another_layout_have_the_same_numbers() {
    // `(weight, what is done to it, after)`.
    type Case = (&'static str, fn(&mut Model, &str), &'static str);
    let cases: [Case; 4] = [
        (SQUARE, transpose, "float32[32, 32], the same numbers, transposed"),
        (WIDE, transpose, "float32[64, 32], the same numbers, transposed"),
        (
            WIDE,
            |model, name| weight(model, name).dims = vec![2048],
            "float32[2048], the same numbers, reshaped",
        ),
        (
            WIDE,
            |model, name| {
                transpose(model, name);
                weight(model, name).dims = vec![64, 1, 32];
            },
            "float32[64, 1, 32], the same numbers, transposed, reshaped",
        ),
    ];
    for (name, change, after) in cases {
        let comparison = compared_in_memory(&|model| change(model, name));
        let differences = weight_differences(&comparison);
        assert_eq!(differences.len(), 1, "{differences:?}");
        let found = differences[0];
        assert_eq!((found.category, found.kind), (Category::Structure, "weight layout changed"));
        assert_eq!(found.after.as_deref(), Some(after));
        assert_eq!(comparison.summary.weights, 0);
    }
}

#[test]
fn one_other_number_in_another_layout_is_another_weight() {
    let comparison = compared_in_memory(&|model| {
        transpose(model, SQUARE);
        let TensorData::Raw(bytes) = &mut weight(model, SQUARE).data else { panic!() };
        bytes[4000] ^= 1;
    });
    let differences = weight_differences(&comparison);
    assert_eq!(
        (differences.len(), differences[0].kind, comparison.summary.weights),
        (1, "weight changed", 1)
    );
}

#[test]
fn a_weight_with_another_name_is_the_same_weight() {
    let comparison = compared_in_memory(&|model| {
        weight(model, SQUARE).name = "onnx::MatMul_1".into();
        for node in &mut model.graph.nodes {
            for input in &mut node.inputs {
                if &**input == SQUARE {
                    *input = "onnx::MatMul_1".into();
                }
            }
        }
        transpose(model, WIDE);
        weight(model, WIDE).name = "turned".into();
    });
    let told: Vec<_> = weight_differences(&comparison)
        .into_iter()
        .map(|one| (one.kind, &*one.subject, one.before.as_deref().unwrap(), one.after.as_deref().unwrap()))
        .collect();
    let (square, wide) = (format!("{SQUARE} float32[32, 32]"), format!("{WIDE} float32[32, 64]"));
    assert_eq!(
        told,
        [
            ("weight renamed", "onnx::MatMul_1", &*square, "float32[32, 32]"),
            ("weight renamed", "turned", &*wide, "float32[64, 32], the same numbers, transposed"),
        ]
    );
    // The node that reads it reads what it read before.
    assert!(
        !found(&comparison).iter().any(|(_, _, kind)| *kind == "inputs changed"),
        "{:?}",
        found(&comparison)
    );
    let module =
        comparison.modules.iter().find(|module| &*module.path == "encoder.layer.0.attention.self.query");
    assert_eq!(module.unwrap().differences.len(), 1);
}

#[test]
fn weights_may_be_joined_cast_and_quantised() {
    let of = |part: &str| format!("encoder.layer.0.attention.self.{part}.weight");
    let comparison = compared_in_memory(&|model| {
        let all: Vec<Vec<Vec<u8>>> =
            ["query", "key", "value"].map(|part| elements(model, &of(part)).0).into();
        // Beside each other, row by row, as runtimes join them.
        let joined =
            (0..32).flat_map(|row| all.iter().flat_map(move |one| one[row * 32..][..32].concat())).collect();
        model
            .graph
            .initializers
            .retain(|tensor| !["query", "key", "value"].map(of).contains(&tensor.name.to_string()));
        model.graph.initializers.push(Tensor {
            name: "qkv_weight".into(),
            data_type: 1,
            dims: vec![32, 96],
            data: TensorData::Raw(joined),
            ..Tensor::default()
        });
        let numbers = |model: &Model, name: &str| -> Vec<f32> {
            elements(model, name)
                .0
                .iter()
                .map(|bytes| f32::from_le_bytes(bytes[..].try_into().unwrap()))
                .collect()
        };
        let half = numbers(model, BIAS).iter().flat_map(|x| half::f16::from_f32(*x).to_le_bytes()).collect();
        (weight(model, BIAS).data_type, weight(model, BIAS).data) = (10, TensorData::Raw(half));
        let wide = numbers(model, WIDE);
        let step = wide.iter().fold(0.0f32, |most, x| most.max(x.abs())) / 127.0;
        let quantised = wide.iter().map(|x| (x / step).round() as i8 as u8).collect();
        let tensor = weight(model, WIDE);
        (tensor.data_type, tensor.data) = (3, TensorData::Raw(quantised));
        tensor.name = format!("{WIDE}_quantized").into();
    });
    let mut told: Vec<_> = weight_differences(&comparison)
        .into_iter()
        .map(|one| (one.kind, &*one.subject, one.before.as_deref().unwrap(), one.after.as_deref().unwrap()))
        .collect();
    told.sort();
    let [(_, quantised, _, steps), ..] = told[..] else { panic!("{told:?}") };
    assert_eq!((told[0].0, quantised), ("weight quantised", &*format!("{WIDE}_quantized")));
    assert!(steps.starts_with("int8[32, 64], the same numbers, quantised to int8 in steps of "), "{steps}");
    let parts = ["query", "key", "value"].map(of).join(", ");
    assert_eq!(
        told[1..],
        [
            ("weight type changed", BIAS, "float32[32]", "float16[32], the same numbers as float16"),
            ("weights joined", "qkv_weight", &*parts, "float32[32, 96], the same numbers"),
        ]
    );
}

#[test]
fn weights_differ_by_a_number() {
    let comparison = compared(&|model| {
        let tensor = weight(model, BIAS);
        tensor.data =
            TensorData::Raw([1.0e6f32; 32].iter().flat_map(|number| number.to_le_bytes()).collect());
    });
    let pooler = comparison.modules.iter().find(|module| &*module.path == "pooler.dense").unwrap();
    let after = pooler.differences[0].after.as_deref().unwrap();
    assert!(after.starts_with("32 numbers differ by up to 1.0000"), "{after}");
}
