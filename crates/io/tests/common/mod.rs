//! Large `.pt2` archives, written straight to a file.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

/// Writes a chain of `nodes` additions of a weight that takes `weight_bytes` of the file, all of them a hole.
/// Returns how long the program's JSON is.
pub fn write_chain(path: &Path, nodes: usize, weight_bytes: u64) -> u64 {
    let mut zip = Zip::create(path);
    zip.hole("m/data/weights/weight_0", weight_bytes);
    let weight_meta = tensor_meta(weight_bytes / 4);
    zip.entry("m/data/weights/model_weights_config.json", |out| {
        write!(
            out,
            r#"{{"config": {{"block.w": {{"path_name": "weight_0", "is_param": true, "use_pickle": false, "tensor_meta": {weight_meta}}}}}}}"#
        )
        .unwrap();
    });
    zip.entry("m/data/constants/model_constants_config.json", |out| {
        out.write_all(br#"{"config": {}}"#).unwrap()
    });
    let json = zip.entry("m/models/model.json", |out| write_program(out, nodes, &weight_meta));
    zip.entry("m/archive_version", |out| out.write_all(b"0").unwrap());
    zip.entry("m/byteorder", |out| out.write_all(b"little").unwrap());
    zip.finish();
    json
}

fn tensor_meta(elements: u64) -> String {
    format!(
        r#"{{"dtype": 7, "sizes": [{{"as_int": {elements}}}], "requires_grad": true, "device": {{"type": "cpu", "index": null}}, "strides": [{{"as_int": 1}}], "storage_offset": {{"as_int": 0}}, "layout": 7}}"#
    )
}

fn tensor(name: &str) -> String {
    format!(r#"{{"as_tensor": {{"name": "{name}"}}}}"#)
}

fn write_program(out: &mut dyn Write, nodes: usize, meta: &str) {
    let input =
        |name: &str, value: &str| format!(r#"{{"name": "{name}", "arg": {}, "kind": 1}}"#, tensor(value));
    let mut last = "x".to_owned();
    write!(
        out,
        r#"{{"graph_module": {{"graph": {{"inputs": [{}, {}], "outputs": [{}], "nodes": ["#,
        tensor("p_block_w"),
        tensor("x"),
        tensor(&format!("add_{}", nodes - 1))
    )
    .unwrap();
    for index in 0..nodes {
        let name = format!("add_{index}");
        let comma = if index == 0 { "" } else { ", " };
        // As many stack traces as a model has lines, and as many modules as it has layers.
        let (line, layer) = (index % 997, index / 50);
        write!(
            out,
            r#"{comma}{{"target": "torch.ops.aten.add.Tensor", "inputs": [{}, {}], "outputs": [{}], "metadata": {{"stack_trace": "File \"model.py\", line {line}, in forward\n    x = x + self.w\n  File \"layer.py\", line {line}, in forward\n    return a + b", "nn_module_stack": "L__self__,,app.Model;L__self__layers.{layer},layers.{layer},app.Layer", "torch_fn": "add_1;method_descriptor.add"}}, "is_hop_single_tensor_return": null, "name": "{name}"}}"#,
            input("self", &last),
            input("other", "p_block_w"),
            tensor(&name)
        )
        .unwrap();
        last = name;
    }
    write!(out, r#"], "tensor_values": {{"p_block_w": {meta}, "x": {meta}"#).unwrap();
    for index in 0..nodes {
        write!(out, r#", "add_{index}": {meta}"#).unwrap();
    }
    write!(
        out,
        r#"}}, "sym_int_values": {{}}, "sym_bool_values": {{}}}}, "signature": {{"input_specs": [{{"parameter": {{"arg": {{"name": "p_block_w"}}, "parameter_name": "block.w"}}}}, {{"user_input": {{"arg": {}}}}}], "output_specs": [{{"user_output": {{"arg": {}}}}}]}}, "module_call_graph": [{{"fqn": "", "signature": null}}]}}, "opset_version": {{}}, "range_constraints": {{}}, "schema_version": {{"major": 8, "minor": 20}}, "torch_version": "2.15.0"}}"#,
        tensor("x"),
        tensor(&last)
    )
    .unwrap();
}

/// A zip file with 64-bit sizes that may have holes.
struct Zip {
    file: BufWriter<File>,
    directory: Vec<u8>,
    count: u64,
}

/// Counts and sums up what passes through.
struct Summed<'a> {
    out: &'a mut BufWriter<File>,
    length: u64,
    checksum: rawzip::Crc32,
}

impl Write for Summed<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.checksum.update(&bytes[..written]);
        self.length += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

impl Zip {
    fn create(path: &Path) -> Zip {
        Zip { file: BufWriter::new(File::create(path).unwrap()), directory: Vec::new(), count: 0 }
    }

    fn entry(&mut self, name: &str, content: impl FnOnce(&mut dyn Write)) -> u64 {
        let header = self.header(name);
        let mut out = Summed { out: &mut self.file, length: 0, checksum: rawzip::Crc32::new() };
        content(&mut out);
        let (length, checksum) = (out.length, out.checksum.checksum());
        self.list(name, header, length, checksum);
        length
    }

    fn hole(&mut self, name: &str, length: u64) {
        let header = self.header(name);
        let end = self.file.stream_position().unwrap() + length;
        self.file.seek(SeekFrom::Start(end)).unwrap();
        self.list(name, header, length, 0);
    }

    /// Sizes stand behind the content and in the directory.
    fn header(&mut self, name: &str) -> u64 {
        let offset = self.file.stream_position().unwrap();
        self.file.write_all(b"PK\x03\x04\x2d\x00\x08\x08").unwrap();
        self.file.write_all(&[0; 18]).unwrap();
        self.file.write_all(&(name.len() as u32).to_le_bytes()).unwrap();
        self.file.write_all(name.as_bytes()).unwrap();
        offset
    }

    fn list(&mut self, name: &str, header: u64, length: u64, checksum: u32) {
        self.directory.extend(b"PK\x01\x02\x2d\x00\x2d\x00\x08\x08\x00\x00\x00\x00\x00\x00");
        self.directory.extend(checksum.to_le_bytes());
        self.directory.extend([0xff; 8]);
        self.directory.extend((name.len() as u16).to_le_bytes());
        self.directory.extend(28u16.to_le_bytes());
        self.directory.extend([0; 10]);
        self.directory.extend([0xff; 4]);
        self.directory.extend(name.as_bytes());
        self.directory.extend([1, 0, 24, 0]);
        self.directory.extend(length.to_le_bytes());
        self.directory.extend(length.to_le_bytes());
        self.directory.extend(header.to_le_bytes());
        self.count += 1;
    }

    fn finish(mut self) {
        let start = self.file.stream_position().unwrap();
        let length = self.directory.len() as u64;
        let mut end = b"PK\x06\x06".to_vec();
        end.extend(44u64.to_le_bytes());
        end.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        end.extend([self.count, self.count, length, start].map(u64::to_le_bytes).concat());
        end.extend(b"PK\x06\x07\0\0\0\0");
        end.extend((start + length).to_le_bytes());
        end.extend(1u32.to_le_bytes());
        end.extend(b"PK\x05\x06\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0");
        self.file.write_all(&self.directory).unwrap();
        self.file.write_all(&end).unwrap();
        self.file.flush().unwrap();
    }
}
