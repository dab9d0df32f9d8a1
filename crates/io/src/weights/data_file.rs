//! The data file of a model: its contents and their positions.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use modelexport_graph::{SourceId, StridedView};

use super::{ALIGNMENT, Error};
use crate::external_data::Entry;
use crate::output::{OutputFile, Transaction};
use crate::stream::{self, Streamer};

/// A data file that is planned, then written.
pub(super) struct DataFile {
    pub path: PathBuf,
    /// How the model refers to it.
    pub location: String,
    pieces: Vec<Piece>,
    offsets: HashMap<Key, u64>,
    length: u64,
    /// How many additions found their bytes there already.
    pub shared: usize,
}

enum Piece {
    View { view: StridedView, bits: u64 },
    Bytes(Vec<u8>),
}

/// What makes two weights the same bytes.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    /// One run of a source, whatever its shape.
    Run {
        source: SourceId,
        start: u64,
        length: u64,
    },
    Strided {
        view: StridedView,
        bits: u64,
    },
}

/// Where the data file of the model at `model` is.
pub fn data_beside(model: &Path) -> PathBuf {
    let mut path = model.as_os_str().to_os_string();
    path.push(".data");
    path.into()
}

impl DataFile {
    /// For the model that the transaction is for.
    pub(super) fn beside(transaction: &Transaction) -> DataFile {
        let path = data_beside(transaction.model());
        let location = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        DataFile { path, location, pieces: Vec::new(), offsets: HashMap::new(), length: 0, shared: 0 }
    }

    /// A model can refer to the file only if its name is text.
    pub(super) fn check_name(&self) -> Result<(), Error> {
        match self.path.file_name().is_some_and(|name| name.to_str().is_some()) {
            true => Ok(()),
            false => Err(Error::NotUtf8 { path: self.path.clone() }),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub(super) fn len(&self) -> u64 {
        self.length
    }

    /// Takes a place for the elements of a view, or the one that the same elements have.
    pub(super) fn add_view(&mut self, view: &StridedView, bits: u64) -> Result<Entry, stream::Error> {
        let length = stream::byte_length(view, bits)?;
        let key = match stream::byte_range(view, bits)? {
            Some((start, length)) => Key::Run { source: view.span.source, start, length },
            None => Key::Strided { view: view.clone(), bits },
        };
        if let Some(&offset) = self.offsets.get(&key) {
            self.shared += 1;
            return Ok(self.entry(offset, length));
        }
        let offset = self.take(length);
        self.offsets.insert(key, offset);
        self.pieces.push(Piece::View { view: view.clone(), bits });
        Ok(self.entry(offset, length))
    }

    pub(super) fn add_bytes(&mut self, bytes: Vec<u8>) -> Entry {
        let length = bytes.len() as u64;
        let offset = self.take(length);
        self.pieces.push(Piece::Bytes(bytes));
        self.entry(offset, length)
    }

    fn take(&mut self, length: u64) -> u64 {
        let offset = self.length.next_multiple_of(ALIGNMENT);
        self.length = offset.saturating_add(length);
        offset
    }

    fn entry(&self, offset: u64, length: u64) -> Entry {
        Entry { location: self.location.clone(), offset, length: Some(length) }
    }

    /// Writes all pieces. A failure says which view it is about.
    pub(super) fn write(
        &self,
        output: &mut OutputFile,
        streamer: &mut Streamer<'_>,
    ) -> Result<(), Box<stream::Failure>> {
        for piece in &self.pieces {
            output.align(ALIGNMENT).map_err(|error| stream::Error::from(error).about(None))?;
            match piece {
                Piece::View { view, bits } => {
                    streamer.append(output, view, *bits).map_err(|error| error.about(Some(view)))?;
                }
                Piece::Bytes(bytes) => {
                    streamer.append_bytes(output, bytes).map_err(|error| error.about(None))?;
                }
            }
        }
        Ok(())
    }
}
