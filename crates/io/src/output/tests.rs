//! What the module's description promises, played through on real files.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::{Durability, Error, Role, Settings, Transaction};
use crate::ErrorKind;

const OVERWRITE: Settings = Settings { overwrite: true, durability: Durability::PowerLoss };

/// A folder with a set of files in which each says which generation it belongs to, as a model's data does.
struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    fn new() -> Stage {
        Stage { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn model(&self) -> PathBuf {
        self.path("m.onnx")
    }

    fn put_old_set(&self) {
        fs::write(self.model(), "old m.onnx.data").unwrap();
        fs::write(self.path("m.onnx.data"), "old").unwrap();
        fs::write(self.path("m_hierarchy.json"), "old").unwrap();
    }

    /// A transaction with the new set staged, as the writer of models does it.
    fn stage_new_set(&self, settings: Settings) -> Transaction {
        self.stage_set_of("new", settings)
    }

    fn stage_set_of(&self, generation: &str, settings: Settings) -> Transaction {
        let mut transaction = Transaction::begin(&self.model(), settings).unwrap();
        let needs_bridge = transaction.needs_bridge();
        let data = transaction.create(&self.path("m.onnx.data"), Role::Data).unwrap();
        let alias = data.temporary_name().to_str().unwrap().to_string();
        let put = |transaction: &mut Transaction, name: &str, role, content: String| {
            let mut file = transaction.create(&self.path(name), role).unwrap();
            file.write_all(content.as_bytes()).unwrap();
            transaction.stage(file).unwrap();
        };
        if needs_bridge {
            put(&mut transaction, "m.onnx", Role::Bridge, format!("{generation} {alias}"));
        }
        put(&mut transaction, "m.onnx", Role::Model, format!("{generation} m.onnx.data"));
        put(&mut transaction, "m_hierarchy.json", Role::Companion, generation.into());
        let mut data = data;
        data.write_all(generation.as_bytes()).unwrap();
        transaction.stage(data).unwrap();
        transaction
    }

    /// The generation of the model that stands there, if any; fails if its data is of another.
    fn loaded(&self) -> Option<String> {
        let model = fs::read_to_string(self.model()).ok()?;
        let (generation, data) = model.split_once(' ').unwrap();
        assert_eq!(fs::read_to_string(self.path(data)).unwrap(), generation, "data of another model");
        Some(generation.into())
    }

    fn files(&self) -> BTreeMap<String, String> {
        let entries = fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap());
        entries
            .map(|e| (e.file_name().into_string().unwrap(), fs::read_to_string(e.path()).unwrap_or_default()))
            .collect()
    }

    fn assert_is_complete_new_set(&self) {
        let expected = [("m.onnx", "new m.onnx.data"), ("m.onnx.data", "new"), ("m_hierarchy.json", "new")];
        let expected: BTreeMap<_, _> = expected.map(|(k, v)| (k.to_string(), v.to_string())).into();
        assert_eq!(self.files(), expected);
    }
}

fn write_one(path: &Path, content: &str, settings: Settings) -> Result<(), Error> {
    let mut transaction = Transaction::begin(path, settings)?;
    let mut file = transaction.create(path, Role::Model)?;
    file.write_all(content.as_bytes())?;
    transaction.stage(file)?;
    transaction.commit().map(|_| ())
}

#[test]
fn a_set_appears_completely_and_nothing_else() {
    for durability in [Durability::PowerLoss, Durability::ProcessCrash] {
        let stage = Stage::new();
        let files = stage.stage_new_set(Settings { overwrite: false, durability }).commit().unwrap();
        stage.assert_is_complete_new_set();
        let order: Vec<_> = files.iter().map(|file| (file.role, file.bytes)).collect();
        assert_eq!(order, [(Role::Data, 3), (Role::Companion, 3), (Role::Model, 15)]);
        stage.put_old_set();
        stage.stage_new_set(Settings { overwrite: true, durability }).commit().unwrap();
        stage.assert_is_complete_new_set();
    }
}

/// A name as that of a temporary which a dead process left.
fn leftover(target: &str) -> String {
    format!(".{target}.0123456789abcdef.modelexport-tmp")
}

#[test]
fn leftovers_are_removed_by_the_next_commit_of_their_target_alone() {
    let stage = Stage::new();
    stage.put_old_set();
    let names = ["m.onnx", "m.onnx.data", "m_hierarchy.json"].map(leftover);
    names.iter().for_each(|name| fs::write(stage.path(name), "half").unwrap());
    write_one(&stage.path("other.onnx"), "other", Settings::default()).unwrap();
    drop(stage.stage_new_set(OVERWRITE));
    assert!(names.iter().all(|name| stage.path(name).exists()));
    fs::remove_file(stage.path("other.onnx")).unwrap();
    stage.stage_new_set(OVERWRITE).commit().unwrap();
    stage.assert_is_complete_new_set();
}

#[test]
fn what_only_looks_like_a_leftover_stays() {
    let stage = Stage::new();
    fs::write(stage.path("precious"), "precious").unwrap();
    symlink("precious", stage.path(&leftover("m.onnx"))).unwrap();
    fs::create_dir(stage.path(".m.onnx.fedcba9876543210.modelexport-tmp")).unwrap();
    let others = [leftover("m.onnx.data"), leftover("m"), ".m.onnx.0-1-2.modelexport-tmp".into()];
    let alive = ".m.onnx.00000000000000ff.modelexport-tmp";
    others.iter().for_each(|name| fs::write(stage.path(name), "theirs").unwrap());
    fs::write(stage.path(alive), "of a living process").unwrap();
    let lock = fs::File::open(stage.path(alive)).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let before = stage.files();
    write_one(&stage.model(), "new", Settings::default()).unwrap();
    let mut after = stage.files();
    assert_eq!(after.remove("m.onnx").as_deref(), Some("new"));
    assert_eq!(after, before);
}

#[test]
fn no_file_in_the_folder_is_taken_for_an_instruction() {
    let stage = Stage::new();
    fs::write(stage.path("precious"), "precious").unwrap();
    let planted = stage.path(".m.onnx.modelexport-commit");
    let source = leftover("q");
    fs::write(stage.path(&source), "evil").unwrap();
    let list = format!("modelexport commit 1\0move\0{source}\0precious\0remove\0{source}\0end\0");
    fs::write(&planted, list).unwrap();
    let before = stage.files();
    write_one(&stage.model(), "new", Settings::default()).unwrap();
    let mut after = stage.files();
    assert_eq!(after.remove("m.onnx").as_deref(), Some("new"));
    assert_eq!(after, before);
}

#[test]
fn an_error_between_two_renames_puts_everything_back() {
    for settings in [OVERWRITE, Settings::default()] {
        let stage = Stage::new();
        if settings.overwrite {
            stage.put_old_set();
        }
        let before = stage.files();
        let transaction = stage.stage_new_set(settings);
        let is_of_model = |name: &String| {
            let is_final = fs::read_to_string(stage.path(name)).unwrap() == "new m.onnx.data";
            name.starts_with(".m.onnx.") && is_final
        };
        let temporary = stage.files().into_keys().find(is_of_model).unwrap();
        fs::remove_file(stage.path(&temporary)).unwrap();
        let error = transaction.commit().unwrap_err();
        assert!(matches!(&error, Error::Write { path, .. } if *path == stage.model()), "{error}");
        assert_eq!(stage.files(), before);
    }
}

#[test]
fn a_file_that_goes_comes_back_if_the_others_cannot_come() {
    let stage = Stage::new();
    stage.put_old_set();
    let before = stage.files();
    for fails in [true, false] {
        let mut transaction = Transaction::begin(&stage.model(), OVERWRITE).unwrap();
        let mut file = transaction.create(&stage.model(), Role::Model).unwrap();
        file.write_all(b"alone").unwrap();
        let temporary = file.temporary_name().to_owned();
        transaction.stage(file).unwrap();
        transaction.remove(&stage.path("m_hierarchy.json")).unwrap();
        transaction.remove(&stage.path("nothing")).unwrap();
        if fails {
            fs::remove_file(stage.folder.path().join(temporary)).unwrap();
            transaction.commit().unwrap_err();
            assert_eq!(stage.files(), before);
        } else {
            transaction.commit().unwrap();
            let expected = [("m.onnx", "alone"), ("m.onnx.data", "old")];
            let expected: BTreeMap<_, _> = expected.map(|(k, v)| (k.to_string(), v.to_string())).into();
            assert_eq!(stage.files(), expected);
        }
    }
}

#[test]
fn writers_of_one_target_never_mix_their_results() {
    let stage = Stage::new();
    let settings = Settings { overwrite: true, durability: Durability::ProcessCrash };
    std::thread::scope(|scope| {
        for writer in 0..16 {
            let stage = &stage;
            scope.spawn(move || {
                for _ in 0..10 {
                    let generation = format!("by{writer}");
                    stage.stage_set_of(&generation, settings).commit().unwrap();
                }
            });
        }
    });
    let generation = stage.loaded().unwrap();
    let names: Vec<_> = stage.files().into_keys().collect();
    assert_eq!(names, ["m.onnx", "m.onnx.data", "m_hierarchy.json"]);
    assert_eq!(stage.files()["m_hierarchy.json"], generation);
}

#[test]
fn temporaries_of_a_living_process_are_left_alone() {
    let stage = Stage::new();
    let transaction = stage.stage_new_set(Settings::default());
    drop(Transaction::begin(&stage.path("other.onnx"), Settings::default()).unwrap());
    transaction.commit().unwrap();
    stage.assert_is_complete_new_set();
}

#[test]
fn many_outputs_into_one_folder_at_once_all_succeed() {
    let settings = Settings { overwrite: false, durability: Durability::ProcessCrash };
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let folder = folder.path();
            scope.spawn(move || {
                for count in 0..50 {
                    write_one(&folder.join(format!("{thread}_{count}.onnx")), "model", settings).unwrap();
                }
            });
        }
    });
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 8 * 50);
}

#[test]
fn a_dropped_transaction_leaves_no_trace() {
    let stage = Stage::new();
    stage.put_old_set();
    let before = stage.files();
    let mut transaction = stage.stage_new_set(OVERWRITE);
    let mut unstaged = transaction.create(&stage.path("report.txt"), Role::Companion).unwrap();
    unstaged.write_all(b"half").unwrap();
    drop(transaction);
    drop(unstaged);
    assert_eq!(stage.files(), before);
}

#[test]
fn an_existing_file_is_refused_unless_asked_for_and_stays_as_it_is() {
    let stage = Stage::new();
    fs::write(stage.model(), "old").unwrap();
    let error = write_one(&stage.model(), "new", Settings::default()).unwrap_err();
    assert!(matches!(error, Error::Exists { .. }), "{error}");
    assert_eq!(error.kind(), ErrorKind::Exists);
    assert_eq!(fs::read_to_string(stage.model()).unwrap(), "old");
    write_one(&stage.model(), "new", OVERWRITE).unwrap();
    assert_eq!(fs::read_to_string(stage.model()).unwrap(), "new");
}

#[test]
fn a_file_that_appears_meanwhile_is_not_replaced_and_nothing_of_the_set_remains() {
    let stage = Stage::new();
    let transaction = stage.stage_new_set(Settings::default());
    fs::write(stage.model(), "theirs").unwrap();
    let error = transaction.commit().unwrap_err();
    assert!(matches!(error, Error::Exists { .. }), "{error}");
    let expected: BTreeMap<_, _> = [("m.onnx".to_string(), "theirs".to_string())].into();
    assert_eq!(stage.files(), expected);
}

#[test]
fn a_temporary_that_vanished_is_an_error() {
    let stage = Stage::new();
    let mut transaction = Transaction::begin(&stage.model(), Settings::default()).unwrap();
    let file = transaction.create(&stage.model(), Role::Model).unwrap();
    fs::remove_file(stage.path(file.temporary_name().to_str().unwrap())).unwrap();
    transaction.stage(file).unwrap();
    let error = transaction.commit().unwrap_err();
    assert!(matches!(error, Error::Write { .. }), "{error}");
}

#[test]
fn output_onto_an_own_input_reads_the_old_bytes_to_the_end() {
    let stage = Stage::new();
    fs::write(stage.model(), "input").unwrap();
    let mut sources = crate::source::Sources::new();
    let input = sources.add_file(&stage.model()).unwrap();
    write_one(&stage.model(), "out", OVERWRITE).unwrap();
    let mut buffer = [0; 5];
    sources.read_at(input, 0, &mut buffer).unwrap();
    assert_eq!(&buffer, b"input");
}

#[test]
fn a_replaced_file_keeps_its_permissions() {
    let stage = Stage::new();
    fs::write(stage.model(), "old").unwrap();
    fs::set_permissions(stage.model(), fs::Permissions::from_mode(0o640)).unwrap();
    write_one(&stage.model(), "new", OVERWRITE).unwrap();
    assert_eq!(fs::metadata(stage.model()).unwrap().mode() & 0o777, 0o640);
}

#[test]
fn links_folders_and_pipes_are_refused_as_targets() {
    let stage = Stage::new();
    fs::write(stage.path("real"), "real").unwrap();
    symlink("real", stage.path("link")).unwrap();
    symlink("nowhere", stage.path("dangling")).unwrap();
    fs::create_dir(stage.path("folder")).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, stage.path("pipe"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    for (name, expected) in [
        ("link", "a symbolic link"),
        ("dangling", "a symbolic link"),
        ("folder", "a folder"),
        ("pipe", "a named pipe"),
    ] {
        let error = write_one(&stage.path(name), "x", OVERWRITE).unwrap_err();
        assert!(matches!(error, Error::NotRegular { what, .. } if what == expected), "{name}: {error}");
    }
    assert_eq!(fs::read_to_string(stage.path("real")).unwrap(), "real");
}

#[test]
fn a_missing_folder_and_a_path_without_a_name_are_told_apart() {
    let stage = Stage::new();
    let error = write_one(&stage.path("none/m.onnx"), "x", OVERWRITE).unwrap_err();
    assert!(matches!(error, Error::FolderMissing { .. }), "{error}");
    fs::write(stage.path("file"), "").unwrap();
    let error = write_one(&stage.path("file/m.onnx"), "x", OVERWRITE).unwrap_err();
    assert!(matches!(error, Error::FolderMissing { .. }), "{error}");
    for path in ["..", "new/", "/"] {
        let error = write_one(&stage.path(path), "x", OVERWRITE).unwrap_err();
        assert!(matches!(error, Error::NoFileName { .. }), "{path}: {error}");
    }
}

#[test]
fn failures_of_the_system_are_sorted_by_what_to_do() {
    use rustix::io::Errno;
    let path = Path::new("m.onnx");
    assert!(matches!(Error::of_write(path, Errno::NOSPC), Error::DiskFull { .. }));
    assert!(matches!(Error::of_write(path, Errno::DQUOT), Error::DiskFull { .. }));
    assert!(matches!(Error::of_write(path, Errno::ACCESS), Error::NoPermission { .. }));
    assert!(matches!(Error::of_write(path, Errno::ROFS), Error::NoPermission { .. }));
    assert!(matches!(Error::of_write(path, Errno::IO), Error::Write { .. }));
}

#[test]
fn one_target_cannot_be_written_twice() {
    let stage = Stage::new();
    let mut transaction = Transaction::begin(&stage.model(), Settings::default()).unwrap();
    let _file = transaction.create(&stage.model(), Role::Model).unwrap();
    let error = transaction.create(&stage.path("./m.onnx"), Role::Companion).unwrap_err();
    assert!(matches!(error, Error::Twice { .. }), "{error}");
}

#[test]
fn files_in_other_folders_join_the_transaction() {
    let stage = Stage::new();
    fs::create_dir(stage.path("reports")).unwrap();
    let mut transaction = Transaction::begin(&stage.model(), Settings::default()).unwrap();
    for (name, role) in [("m.onnx", Role::Model), ("reports/r.txt", Role::Companion)] {
        let mut file = transaction.create(&stage.path(name), role).unwrap();
        file.write_all(name.as_bytes()).unwrap();
        transaction.stage(file).unwrap();
    }
    transaction.commit().unwrap();
    assert_eq!(fs::read_to_string(stage.path("reports/r.txt")).unwrap(), "reports/r.txt");
    assert_eq!(fs::read_dir(stage.path("reports")).unwrap().count(), 1);
}

#[test]
fn a_folder_that_stays_locked_makes_a_commit_wait_and_then_give_up() {
    let stage = Stage::new();
    stage.put_old_set();
    let before = stage.files();
    let waiting = stage.stage_new_set(OVERWRITE);
    let lock = fs::File::open(stage.folder.path()).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let error = waiting.commit().unwrap_err();
    assert!(matches!(error, Error::Busy { .. }), "{error}");
    assert_eq!(error.kind(), ErrorKind::Io);
    assert_eq!(stage.files(), before);
}

#[test]
fn other_names_of_a_target_keep_the_old_file() {
    let stage = Stage::new();
    stage.put_old_set();
    fs::hard_link(stage.path("m.onnx.data"), stage.path("kept")).unwrap();
    stage.stage_new_set(OVERWRITE).commit().unwrap();
    assert_eq!(fs::read_to_string(stage.path("kept")).unwrap(), "old");
    fs::remove_file(stage.path("kept")).unwrap();
    stage.assert_is_complete_new_set();
}

#[test]
fn long_names_get_temporaries_too() {
    let stage = Stage::new();
    let name = "n".repeat(255);
    write_one(&stage.path(&name), "x", Settings::default()).unwrap();
    assert_eq!(stage.files().keys().collect::<Vec<_>>(), [&name]);
}

#[test]
fn writes_of_all_sizes_join_in_order_with_padding_between() {
    let stage = Stage::new();
    let mut transaction = Transaction::begin(&stage.model(), Settings::default()).unwrap();
    let mut file = transaction.create(&stage.model(), Role::Model).unwrap();
    let mut expected = Vec::new();
    for (i, length) in [1usize, 300_000, 5, 262_144, 262_143, 70, 0, 1].into_iter().enumerate() {
        let bytes = vec![i as u8 + 1; length];
        file.write_all(&bytes).unwrap();
        expected.extend_from_slice(&bytes);
        file.align(64).unwrap();
        expected.resize(expected.len().next_multiple_of(64), 0);
        assert_eq!(file.position(), expected.len() as u64);
    }
    let start = file.allocate(3).unwrap();
    file.write_all(b"after").unwrap();
    file.writer().write_at(start, b"mid").unwrap();
    expected.extend_from_slice(b"midafter");
    transaction.stage(file).unwrap();
    transaction.commit().unwrap();
    assert_eq!(fs::read(stage.model()).unwrap(), expected);
}

#[test]
fn a_file_with_bytes_that_nobody_wrote_is_not_staged() {
    let stage = Stage::new();
    let mut transaction = Transaction::begin(&stage.model(), Settings::default()).unwrap();
    let mut file = transaction.create(&stage.model(), Role::Model).unwrap();
    let start = file.allocate(5).unwrap();
    file.writer().write_at(start, b"mid").unwrap();
    let error = transaction.stage(file).unwrap_err();
    let path = stage.model().display().to_string();
    assert_eq!(error.to_string(), format!("{path}: cannot write: 2 of its bytes were never written"));
}

#[test]
fn a_file_is_as_long_as_what_was_written_however_much_was_reserved() {
    let stage = Stage::new();
    for reserved in [0, 3, 5 << 20] {
        let mut transaction = Transaction::begin(&stage.model(), OVERWRITE).unwrap();
        let mut file = transaction.create(&stage.model(), Role::Model).unwrap();
        file.reserve(reserved).unwrap();
        file.write_all(&[7; 4 << 20]).unwrap();
        transaction.stage(file).unwrap();
        transaction.commit().unwrap();
        assert_eq!(fs::read(stage.model()).unwrap(), vec![7; 4 << 20], "{reserved} reserved");
    }
}

#[test]
fn a_disk_that_is_too_small_is_known_before_anything_is_written() {
    let stage = Stage::new();
    let mut transaction = Transaction::begin(&stage.model(), Settings::default()).unwrap();
    let mut file = transaction.create(&stage.model(), Role::Model).unwrap();
    let error = file.reserve(1 << 60).unwrap_err();
    assert!(matches!(&error, Error::DiskFull { path, .. } if *path == stage.model()), "{error}");
}

#[test]
fn a_flag_stops_the_writing_and_leaves_the_old_files() {
    let stage = Stage::new();
    stage.put_old_set();
    let before = stage.files();
    let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let mut transaction = Transaction::begin(&stage.model(), OVERWRITE).unwrap();
    transaction.stop_on(flag.clone());
    let mut file = transaction.create(&stage.model(), Role::Model).unwrap();
    file.write_all(&[0; 1 << 20]).unwrap();
    flag.store(true, std::sync::atomic::Ordering::Relaxed);
    let error = file.write_all(&[0; 1 << 20]).unwrap_err();
    assert!(matches!(&error, Error::Stopped { path } if *path == stage.model()), "{error}");
    drop(file);
    drop(transaction);
    assert_eq!(stage.files(), before);
}

#[test]
fn a_flag_that_is_set_after_the_last_write_stops_the_commit() {
    let stage = Stage::new();
    stage.put_old_set();
    let before = stage.files();
    let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let mut transaction = stage.stage_new_set(OVERWRITE);
    transaction.stop_on(flag);
    let error = transaction.commit().unwrap_err();
    assert!(matches!(error, Error::Stopped { .. }), "{error}");
    assert_eq!(stage.files(), before);
}
