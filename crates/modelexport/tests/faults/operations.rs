//! The operations that write, each on files of its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use modelexport::embedding::Embed;
use modelexport::functions::{Direction, Modules};
use modelexport::strip::{self, strip};
use modelexport::validate::repair;
use modelexport::{Error, Export, Functions, Tag, Target, weight_places};
use modelexport_io::weights::WeightsMode;

/// What all operations write.
pub const MODEL: &str = "m.onnx";

/// The programs that the old and the new files are made from.
const OLD: &str = "dynamic_batch_seq";
const NEW: &str = "shared_module";

pub struct Operation {
    pub name: &'static str,
    /// With `overwrite` and without, as far as both make sense.
    pub overwrite: &'static [bool],
    /// It reads what it replaces, so that it does not do the same twice.
    pub is_in_place: bool,
    /// Puts the input below `in`, or beside the output.
    prepare: fn(&Path),
    /// Puts the old output there.
    prepare_old: fn(&Path),
    pub run: fn(&Path, bool) -> Result<(), Error>,
}

pub fn operation(name: &str) -> &'static Operation {
    OPERATIONS.iter().find(|operation| operation.name == name).unwrap()
}

const BOTH: &[bool] = &[false, true];

pub const OPERATIONS: &[Operation] = &[
    Operation {
        name: "export-embed",
        overwrite: BOTH,
        is_in_place: false,
        prepare: |_| {},
        prepare_old: |folder| export(OLD, folder, WeightsMode::Embed, true).unwrap(),
        run: |folder, overwrite| export(NEW, folder, WeightsMode::Embed, overwrite),
    },
    Operation {
        name: "export-external",
        overwrite: BOTH,
        is_in_place: false,
        prepare: |_| {},
        prepare_old: |folder| export(OLD, folder, WeightsMode::External, true).unwrap(),
        run: |folder, overwrite| export(NEW, folder, WeightsMode::External, overwrite),
    },
    Operation {
        name: "export-reference",
        overwrite: BOTH,
        is_in_place: false,
        prepare: |folder| {
            fs::copy(program(NEW), folder.join("new.pt2")).unwrap();
        },
        prepare_old: |folder| export(OLD, folder, WeightsMode::Embed, true).unwrap(),
        run: |folder, overwrite| {
            let target = Target::new(folder.join(MODEL)).overwrite(overwrite);
            let source = folder.join("new.pt2");
            let export = Export::new(source, folder.join(MODEL));
            Export { target, weights: WeightsMode::Reference, ..export }.run(&mut ()).map(|_| ())
        },
    },
    Operation {
        name: "tag-in-place",
        overwrite: &[true],
        is_in_place: true,
        prepare: |folder| export(NEW, folder, WeightsMode::External, true).unwrap(),
        prepare_old: |_| {},
        run: |folder, overwrite| {
            let tag = Tag::new(folder.join(MODEL), folder.join(MODEL));
            let target = Target::new(folder.join(MODEL)).overwrite(overwrite);
            Tag { target, embed: Embed::NONE, force: true, ..tag }.run(&mut ()).map(|_| ())
        },
    },
    Operation {
        name: "tag-elsewhere",
        overwrite: BOTH,
        is_in_place: false,
        prepare: input,
        prepare_old: |folder| export(OLD, folder, WeightsMode::External, true).unwrap(),
        run: |folder, overwrite| {
            let tag = Tag::new(folder.join("in/m.onnx"), folder.join(MODEL));
            let target = Target::new(folder.join(MODEL)).overwrite(overwrite);
            Tag { target, force: true, ..tag }.run(&mut ()).map(|_| ())
        },
    },
    Operation {
        name: "strip-in-place",
        overwrite: &[true],
        is_in_place: true,
        prepare: |folder| export(NEW, folder, WeightsMode::External, true).unwrap(),
        prepare_old: |_| {},
        run: |folder, overwrite| {
            let options = strip::Options { overwrite, ..strip::Options::default() };
            strip(&folder.join(MODEL), &folder.join(MODEL), &options).map(|_| ())
        },
    },
    Operation {
        name: "repair-in-place",
        overwrite: &[true],
        is_in_place: true,
        prepare: |folder| {
            export(NEW, folder, WeightsMode::External, true).unwrap();
            let other = folder.join("in");
            fs::create_dir(&other).unwrap();
            export(OLD, &other, WeightsMode::External, true).unwrap();
            fs::rename(other.join("m_hierarchy.json"), folder.join("m_hierarchy.json")).unwrap();
        },
        prepare_old: |_| {},
        run: |folder, overwrite| repair(&folder.join(MODEL), &folder.join(MODEL), overwrite).map(|_| ()),
    },
    Operation {
        name: "functions",
        overwrite: BOTH,
        is_in_place: false,
        prepare: input,
        prepare_old: |folder| export(OLD, folder, WeightsMode::External, true).unwrap(),
        run: |folder, overwrite| {
            let direction = Direction::ToFunctions(Modules::All);
            let functions = Functions::new(folder.join("in/m.onnx"), direction, folder.join(MODEL));
            let target = Target::new(folder.join(MODEL)).overwrite(overwrite);
            Functions { target, weights: WeightsMode::External, ..functions }.run(&mut ()).map(|_| ())
        },
    },
    Operation {
        name: "weights-embed",
        overwrite: &[true],
        is_in_place: true,
        prepare: |folder| export(NEW, folder, WeightsMode::External, true).unwrap(),
        prepare_old: |_| {},
        run: |folder, overwrite| convert(folder, MODEL, WeightsMode::Embed, overwrite),
    },
    Operation {
        name: "weights-external",
        overwrite: BOTH,
        is_in_place: false,
        prepare: input,
        prepare_old: |folder| export(OLD, folder, WeightsMode::External, true).unwrap(),
        run: |folder, overwrite| convert(folder, "in/m.onnx", WeightsMode::External, overwrite),
    },
    Operation {
        name: "weights-reference",
        overwrite: BOTH,
        is_in_place: false,
        prepare: |folder| {
            input(folder);
            checkpoint(folder);
        },
        prepare_old: |folder| export(OLD, folder, WeightsMode::External, true).unwrap(),
        run: |folder, overwrite| {
            let target = Target::new(folder.join(MODEL)).overwrite(overwrite);
            weight_places::refer_to(&folder.join("in/m.onnx"), &target, folder, &mut ()).map(|_| ())
        },
    },
];

fn program(fixture: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(fixture).join("model.pt2")
}

fn export(fixture: &str, folder: &Path, weights: WeightsMode, overwrite: bool) -> Result<(), Error> {
    let export = Export::new(program(fixture), folder.join(MODEL));
    let target = Target::new(folder.join(MODEL)).overwrite(overwrite);
    Export { target, weights, ..export }.run(&mut ()).map(|_| ())
}

/// A model with a data file, below `in`.
fn input(folder: &Path) {
    fs::create_dir(folder.join("in")).unwrap();
    export(NEW, &folder.join("in"), WeightsMode::External, true).unwrap();
    assert!(folder.join("in/m.onnx.data").exists());
}

/// The large weights of the input as a safetensors file in the folder.
fn checkpoint(folder: &Path) {
    let places = weight_places::list(&folder.join("in/m.onnx"), false).unwrap();
    let data = fs::read(folder.join("in/m.onnx.data")).unwrap();
    let (mut header, mut bytes) = (Vec::new(), Vec::new());
    for place in places {
        let Some((_, offset)) = place.external else { continue };
        let start = bytes.len();
        bytes.extend_from_slice(&data[offset as usize..][..place.bytes as usize]);
        let (name, dims, end) = (place.name, place.dims, bytes.len());
        header.push(format!(r#""{name}":{{"dtype":"F32","shape":{dims:?},"data_offsets":[{start},{end}]}}"#));
    }
    let header = format!("{{{}}}", header.join(","));
    let length = (header.len() as u64).to_le_bytes();
    fs::write(folder.join("model.safetensors"), [&length, header.as_bytes(), &bytes].concat()).unwrap();
}

fn convert(folder: &Path, source: &str, mode: WeightsMode, overwrite: bool) -> Result<(), Error> {
    let target = Target::new(folder.join(MODEL)).overwrite(overwrite);
    weight_places::convert(&folder.join(source), &target, mode, &mut ()).map(|_| ())
}

/// A folder in which an operation can run.
pub struct Bench(tempfile::TempDir);

impl Bench {
    pub fn new(operation: &Operation, has_old: bool) -> Bench {
        let bench = Bench::empty();
        (operation.prepare)(&bench.folder());
        if has_old {
            (operation.prepare_old)(&bench.folder());
        }
        bench
    }

    /// In memory where there is such a place: then nothing waits for the disk.
    fn empty() -> Bench {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        Bench(folder.unwrap())
    }

    /// Another folder with the same files.
    pub fn copy(&self) -> Bench {
        let copy = Bench::empty();
        copy_files(self.0.path(), copy.0.path());
        copy
    }

    pub fn folder(&self) -> PathBuf {
        self.0.path().to_owned()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// All files of the folder itself.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let entries = fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap());
        let files = entries.filter(|entry| entry.path().is_file());
        files.map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap())).collect()
    }

    pub fn names(&self) -> Vec<String> {
        self.files().into_keys().collect()
    }
}

fn copy_files(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let (path, target) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if path.is_dir() {
            fs::create_dir(&target).unwrap();
            copy_files(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}
