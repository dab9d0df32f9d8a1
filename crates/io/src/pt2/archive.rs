//! The zip container: the position of each entry's bytes in the file.
//!
//! Entries are stored uncompressed, so a weight is a range of bytes of the file. The central directory must agree with the
//! local headers.

use std::collections::HashMap;
use std::io;

use modelexport_graph::Name;
use rawzip::{CompressionMethod, ReaderAt, ZipArchive, ZipLocator};

use super::error::Problem;

/// Most entries that an archive may list. A model has a few for itself and one for each weight.
pub(super) const MAX_ENTRIES: usize = 4_000_000;
/// Largest JSON text that is read into memory. It also keeps the number of values, nodes and weights, each of which
/// takes more than two bytes of text, within ids of 32 bits.
pub(super) const MAX_JSON_BYTES: u64 = 8 << 30;
/// A zip archive ends in its directory's end record and a comment, which is no longer than this.
const END_SEARCH_BYTES: u64 = 22 + u16::MAX as u64;
/// Largest of the small entries (`byteorder`, `archive_version`).
const MAX_MARK_BYTES: u64 = 4096;

/// One entry of the archive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// First byte of the content, counted from the start of the file.
    pub offset: u64,
    pub length: u64,
    checksum: u32,
    is_stored: bool,
}

/// The entries by their full names.
pub(super) struct Archive<R> {
    reader: R,
    entries: HashMap<Name, Entry>,
    /// In the order of the central directory.
    names: Vec<Name>,
}

/// An entry that is not yet compared with the others.
struct Listed {
    name: Name,
    header: u64,
    end: u64,
}

impl<R: ReaderAt> Archive<R> {
    /// Reads the directory of a zip file of `length` bytes.
    pub fn open(reader: R, length: u64) -> Result<Self, Problem> {
        Self::open_limited(reader, length, MAX_ENTRIES)
    }

    pub fn open_limited(reader: R, length: u64, max_entries: usize) -> Result<Self, Problem> {
        let mut start = [0; 4];
        let starts_like_zip = length >= 4 && {
            reader.read_exact_at(&mut start, 0).map_err(Problem::Read)?;
            &start == b"PK\x03\x04"
        };
        let mut buffer = vec![0; rawzip::RECOMMENDED_BUFFER_SIZE];
        let zip = match ZipLocator::new().max_search_space(END_SEARCH_BYTES).locate_in_reader(
            reader,
            &mut buffer,
            length,
        ) {
            Ok(zip) => zip,
            Err((_, error)) if starts_like_zip => return Err(damaged(error)),
            Err((_, error)) => {
                return Err(match damaged(error) {
                    Problem::Truncated { .. } => Problem::NotZip,
                    problem => problem,
                });
            }
        };
        let (entries, names) = read_entries(&zip, length, max_entries)?;
        Ok(Archive { reader: zip.into_inner(), entries, names })
    }

    /// Full names, in the order of the central directory.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    pub fn contains(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    /// Where a stored entry is; `None` if there is none of this name.
    pub fn find(&self, name: &str) -> Result<Option<Entry>, Problem> {
        match self.entries.get(name) {
            Some(entry) if !entry.is_stored => Err(Problem::NotStored { entry: name.into() }),
            found => Ok(found.copied()),
        }
    }

    /// The content of an entry that must be there, checked against its checksum.
    pub fn read_json(&self, name: &str) -> Result<Vec<u8>, Problem> {
        self.read(name, MAX_JSON_BYTES)?.ok_or_else(|| Problem::MissingEntry { entry: name.into() })
    }

    /// Gives the content of an entry to `parse`, while another thread checks it against its checksum. What was parsed
    /// counts only if the checksum is right.
    pub fn parse_json<T>(
        &self,
        name: &str,
        parse: impl FnOnce(&[u8]) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let content = self.content(name, MAX_JSON_BYTES)?;
        let (bytes, checksum) = content.ok_or_else(|| Problem::MissingEntry { entry: name.into() })?;
        std::thread::scope(|threads| {
            let check = threads.spawn(|| rawzip::crc32(&bytes) == checksum);
            let parsed = parse(&bytes);
            match check.join() {
                Ok(true) => parsed,
                Ok(false) => Err(Problem::Checksum { entry: name.into() }),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }

    /// The content of a small text entry without the white space around it.
    pub fn read_mark(&self, name: &str) -> Result<Option<String>, Problem> {
        let bytes = self.read(name, MAX_MARK_BYTES)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned()))
    }

    /// The content of an entry, and the checksum that it must have.
    fn content(&self, name: &str, limit: u64) -> Result<Option<(Vec<u8>, u32)>, Problem> {
        let Some(entry) = self.find(name)? else { return Ok(None) };
        let length = check_length(name, entry.length, limit)?;
        // The entry lies inside the file, so this allocates no more than the file's length.
        let mut bytes = vec![0; length];
        self.reader.read_exact_at(&mut bytes, entry.offset).map_err(Problem::Read)?;
        Ok(Some((bytes, entry.checksum)))
    }

    fn read(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, Problem> {
        let Some((bytes, checksum)) = self.content(name, limit)? else { return Ok(None) };
        if rawzip::crc32(&bytes) != checksum {
            return Err(Problem::Checksum { entry: name.into() });
        }
        Ok(Some(bytes))
    }
}

fn check_length(name: &str, length: u64, limit: u64) -> Result<usize, Problem> {
    let fitting = usize::try_from(length).ok().filter(|_| length <= limit);
    fitting.ok_or_else(|| Problem::EntryTooLarge { entry: name.into(), length, limit })
}

type Directory = (HashMap<Name, Entry>, Vec<Name>);

fn read_entries<R: ReaderAt>(
    zip: &ZipArchive<R>,
    length: u64,
    max_entries: usize,
) -> Result<Directory, Problem> {
    let directory = zip.directory_offset();
    let mut buffer = vec![0; rawzip::MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
    let mut header_buffer = vec![0; 2 * usize::from(u16::MAX)];
    let mut records = zip.entries(&mut buffer);
    let mut entries = HashMap::new();
    let mut names = Vec::new();
    let mut listed = Vec::new();
    while let Some(record) = records.next_entry().map_err(damaged)? {
        if listed.len() == max_entries {
            return Err(Problem::TooManyEntries { limit: max_entries });
        }
        let bytes = record.file_path();
        let name = match std::str::from_utf8(bytes.as_bytes()) {
            Ok(name) => Name::from(name),
            Err(_) => {
                let entry = String::from_utf8_lossy(bytes.as_bytes()).into_owned();
                return Err(Problem::EntryNameNotUtf8 { entry });
            }
        };
        let header = record.local_header_offset();
        if header >= length {
            return Err(Problem::EntryOutside {
                entry: name.to_string(),
                start: header,
                end: header,
                length,
            });
        }
        let found = zip.get_entry(record.wayfinder()).map_err(damaged)?;
        let (start, end) = found.compressed_data_range();
        if end > directory {
            return Err(Problem::EntryOutside { entry: name.to_string(), start, end, length: directory });
        }
        let local = found.local_header(&mut header_buffer).map_err(damaged)?;
        let mismatch = |what| Problem::HeaderMismatch { entry: name.to_string(), what };
        if local.file_path().as_bytes() != name.as_bytes() {
            return Err(mismatch("its name"));
        }
        if local.compression_method() != record.compression_method() {
            return Err(mismatch("its compression"));
        }
        // A writer that streams leaves the sizes of the local header at zero and puts them behind the content.
        let has_sizes = !local.flags().has_data_descriptor();
        if has_sizes && local.compressed_size_hint() != record.compressed_size_hint() {
            return Err(mismatch("its size"));
        }
        let is_stored =
            record.compression_method() == CompressionMethod::STORE && !record.flags().is_encrypted();
        if is_stored && record.compressed_size_hint() != record.uncompressed_size_hint() {
            return Err(mismatch("its size"));
        }
        let entry = Entry { offset: start, length: end - start, checksum: record.crc32(), is_stored };
        if entries.insert(name.clone(), entry).is_some() {
            return Err(Problem::DuplicateEntry { entry: name.to_string() });
        }
        names.push(name.clone());
        listed.push(Listed { name, header, end });
    }
    refuse_overlaps(listed)?;
    Ok((entries, names))
}

/// Two entries on the same bytes could mean different things to different readers.
fn refuse_overlaps(mut listed: Vec<Listed>) -> Result<(), Problem> {
    listed.sort_by(|a, b| (a.header, a.end, &a.name).cmp(&(b.header, b.end, &b.name)));
    for pair in listed.windows(2) {
        if let [first, second] = pair
            && second.header < first.end
        {
            return Err(Problem::OverlappingEntries {
                first: first.name.to_string(),
                second: second.name.to_string(),
            });
        }
    }
    Ok(())
}

/// An operating system's error stays one; all else means that the archive is not whole.
fn damaged(error: rawzip::Error) -> Problem {
    match error.into_kind() {
        rawzip::ErrorKind::IO(error) if error.kind() != io::ErrorKind::UnexpectedEof => Problem::Read(error),
        kind => Problem::Truncated { reason: kind.to_string() },
    }
}
