//! A small zip writer that can also write inconsistent archives.

/// One entry. `Default` and [`stored`] give an honest one.
#[derive(Clone, Default)]
pub struct ZipEntry {
    pub name: Vec<u8>,
    pub data: Vec<u8>,
    pub method: u16,
    pub flags: u16,
    /// What the local header says, where that differs.
    pub local_name: Option<Vec<u8>>,
    pub local_method: Option<u16>,
    pub local_size: Option<u32>,
    /// What the central directory says, where that differs.
    pub size: Option<u32>,
    pub uncompressed_size: Option<u32>,
    pub header_offset: Option<u32>,
    pub checksum: Option<u32>,
}

pub fn stored(name: &str, data: impl Into<Vec<u8>>) -> ZipEntry {
    ZipEntry { name: name.into(), data: data.into(), ..ZipEntry::default() }
}

/// The bytes of an archive with these entries.
pub fn zip(entries: &[ZipEntry]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut directory = Vec::new();
    for entry in entries {
        let offset = entry.header_offset.unwrap_or(file.len() as u32);
        let checksum = entry.checksum.unwrap_or_else(|| rawzip::crc32(&entry.data));
        let length = entry.data.len() as u32;
        let size = entry.size.unwrap_or(length);
        let name = entry.local_name.as_ref().unwrap_or(&entry.name);
        file.extend(b"PK\x03\x04\x14\x00");
        file.extend(entry.flags.to_le_bytes());
        file.extend(entry.local_method.unwrap_or(entry.method).to_le_bytes());
        file.extend([0; 4]);
        file.extend(checksum.to_le_bytes());
        file.extend(entry.local_size.unwrap_or(size).to_le_bytes());
        file.extend(entry.local_size.unwrap_or(size).to_le_bytes());
        file.extend((name.len() as u16).to_le_bytes());
        file.extend([0; 2]);
        file.extend(name);
        file.extend(&entry.data);

        directory.extend(b"PK\x01\x02\x14\x00\x14\x00");
        directory.extend(entry.flags.to_le_bytes());
        directory.extend(entry.method.to_le_bytes());
        directory.extend([0; 4]);
        directory.extend(checksum.to_le_bytes());
        directory.extend(size.to_le_bytes());
        directory.extend(entry.uncompressed_size.unwrap_or(size).to_le_bytes());
        directory.extend((entry.name.len() as u16).to_le_bytes());
        directory.extend([0; 12]);
        directory.extend(offset.to_le_bytes());
        directory.extend(&entry.name);
    }
    let start = file.len() as u32;
    file.extend(&directory);
    file.extend(b"PK\x05\x06\x00\x00\x00\x00");
    file.extend((entries.len() as u16).to_le_bytes());
    file.extend((entries.len() as u16).to_le_bytes());
    file.extend((directory.len() as u32).to_le_bytes());
    file.extend(start.to_le_bytes());
    file.extend([0; 2]);
    file
}
