//! Changes to a zip file entry by entry. Checksums, sizes and offsets are right afterwards, mostly.

use super::{bytes, json};
use crate::random::Random;

/// The entries of a zip file: names and contents.
#[derive(Clone, Default)]
pub struct Zip(pub Vec<(String, Vec<u8>)>);

const NAMES: [&str; 10] = [
    "byteorder",
    "archive_version",
    "models/model.json",
    "model/models/other.json",
    "model/data/weights/model_weights_config.json",
    "model/data/constants/model_constants_config.json",
    "model/data/weights/weight_0",
    "../x",
    "",
    "model/",
];

/// Whether the bytes were a zip file and could be changed as such.
pub fn mutate(file: &mut Vec<u8>, random: &mut Random) -> bool {
    let Some(mut zip) = Zip::read(file) else { return false };
    for _ in 0..random.few() {
        zip.change(random);
    }
    *file = zip.write();
    if random.once_in(8) {
        spoil_headers(file, random);
    }
    true
}

/// Changes that the headers do not follow.
fn spoil_headers(file: &mut [u8], random: &mut Random) {
    let headers: Vec<usize> = (0..file.len().saturating_sub(46))
        .filter(|&at| file[at] == b'P' && file[at + 1] == b'K' && file[at + 2] < 9 && file[at + 3] < 9)
        .collect();
    if let Some(start) = random.choose(&headers) {
        let at = start + random.below(46);
        file[at] = [0, 1, 8, 0xff, random.number() as u8][random.below(5)];
    }
}

impl Zip {
    pub fn read(file: &[u8]) -> Option<Zip> {
        let archive = rawzip::ZipArchive::from_slice(file).ok()?;
        let mut entries = Vec::new();
        for record in archive.entries() {
            let record = record.ok()?;
            let name = std::str::from_utf8(record.file_path().as_bytes()).ok()?.to_owned();
            let entry = archive.get_entry(record.wayfinder()).ok()?;
            entries.push((name, entry.data().to_vec()));
        }
        Some(Zip(entries))
    }

    pub fn write(&self) -> Vec<u8> {
        let (mut file, mut directory) = (Vec::new(), Vec::new());
        for (name, content) in &self.0 {
            let offset = file.len() as u32;
            // Version, flags, method, time and date, then checksum, both sizes and the lengths of name and extra field.
            let mut common = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            common.extend(rawzip::crc32(content).to_le_bytes());
            common.extend((content.len() as u32).to_le_bytes());
            common.extend((content.len() as u32).to_le_bytes());
            common.extend((name.len() as u16).to_le_bytes());
            common.extend([0; 2]);
            file.extend(b"PK\x03\x04");
            file.extend(&common);
            file.extend(name.as_bytes());
            file.extend(content);
            directory.extend(b"PK\x01\x02\x14\x00");
            directory.extend(&common);
            directory.extend([0; 10]);
            directory.extend(offset.to_le_bytes());
            directory.extend(name.as_bytes());
        }
        let (start, count) = (file.len() as u32, self.0.len() as u16);
        let length = directory.len() as u32;
        file.extend(directory);
        file.extend(b"PK\x05\x06\0\0\0\0");
        file.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
        file.extend([length.to_le_bytes(), start.to_le_bytes()].concat());
        file.extend([0; 2]);
        file
    }

    fn change(&mut self, random: &mut Random) {
        let entries = &mut self.0;
        let (at, other) = (random.below(entries.len()), random.below(entries.len()));
        if entries.is_empty() {
            return;
        }
        match random.below(32) {
            0 => _ = entries.remove(at),
            1 => entries.insert(other, entries[at].clone()),
            2 => entries.swap(at, other),
            3 => entries[at].0 = NAMES[random.below(NAMES.len())].into(),
            4 => entries[at].1 = entries[other].1.clone(),
            5 => entries[at].0 = entries[other].0.clone(),
            6 => entries[at].0.push('x'),
            7 => bytes::mutate(&mut entries[at].1, random),
            _ => {
                let texts: Vec<usize> =
                    (0..entries.len()).filter(|&entry| entries[entry].0.ends_with(".json")).collect();
                let at = *random.choose(&texts).unwrap_or(&at);
                let content = &mut entries[at].1;
                if !json::mutate(content, random) {
                    bytes::mutate(content, random);
                }
            }
        }
    }
}
