//! A `.pt2` archive in memory, to be changed and written again. Its entries are stored, not compressed.

use std::path::Path;

use serde_json::Value;

pub struct Archive {
    entries: Vec<(String, Vec<u8>)>,
}

fn number(bytes: &[u8], at: usize, length: usize) -> usize {
    bytes[at..at + length].iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte))
}

impl Archive {
    pub fn read(path: &Path) -> Archive {
        let bytes = std::fs::read(path).unwrap();
        let end = bytes.windows(4).rposition(|window| window == b"PK\x05\x06").unwrap();
        let mut at = number(&bytes, end + 16, 4);
        let entries = (0..number(&bytes, end + 10, 2)).map(|_| {
            let (size, name) = (number(&bytes, at + 20, 4), number(&bytes, at + 28, 2));
            let (extra, comment) = (number(&bytes, at + 30, 2), number(&bytes, at + 32, 2));
            let header = number(&bytes, at + 42, 4);
            let start = header + 30 + number(&bytes, header + 26, 2) + number(&bytes, header + 28, 2);
            let entry = (
                String::from_utf8(bytes[at + 46..at + 46 + name].to_vec()).unwrap(),
                bytes[start..start + size].to_vec(),
            );
            at += 46 + name + extra + comment;
            entry
        });
        Archive { entries: entries.collect() }
    }

    fn entry(&mut self, name: &str) -> &mut Vec<u8> {
        &mut self.entries.iter_mut().find(|(found, _)| found == name).unwrap().1
    }

    pub fn json(&mut self, name: &str) -> Value {
        serde_json::from_slice(self.entry(name)).unwrap()
    }

    pub fn set_json(&mut self, name: &str, value: &Value) {
        *self.entry(name) = value.to_string().into_bytes();
    }

    pub fn write(&self, path: &Path) {
        let mut file = Vec::new();
        let mut directory = Vec::new();
        for (name, data) in &self.entries {
            let offset = file.len() as u32;
            // Version, flags, method, time and date; then checksum, both sizes, and the lengths of name and extra field.
            let mut common = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            common.extend(rawzip::crc32(data).to_le_bytes());
            common.extend((data.len() as u32).to_le_bytes());
            common.extend((data.len() as u32).to_le_bytes());
            common.extend((name.len() as u16).to_le_bytes());
            common.extend([0; 2]);
            file.extend(b"PK\x03\x04");
            file.extend(&common);
            file.extend(name.as_bytes());
            file.extend(data);
            directory.extend(b"PK\x01\x02\x14\x00");
            directory.extend(&common);
            directory.extend([0; 10]);
            directory.extend(offset.to_le_bytes());
            directory.extend(name.as_bytes());
        }
        let (start, count) = (file.len() as u32, self.entries.len() as u16);
        file.extend(&directory);
        file.extend(b"PK\x05\x06\x00\x00\x00\x00");
        file.extend(count.to_le_bytes());
        file.extend(count.to_le_bytes());
        file.extend((directory.len() as u32).to_le_bytes());
        file.extend(start.to_le_bytes());
        file.extend([0; 2]);
        std::fs::write(path, file).unwrap();
    }
}
