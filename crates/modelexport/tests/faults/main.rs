//! Every system call of every operation that writes fails once, is cut short once, and is the last one once: the files of
//! the output are then the old ones or the new ones, and after an error the old ones with nothing beside them.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod operations;

use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use modelexport::weight_places;
use modelexport_io::ErrorKind;
use modelexport_io::faults::{self, Fault};
use rustix::io::Errno;

use operations::{Bench, MODEL, OPERATIONS, Operation, operation};

/// One plan of faults at a time in this process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// What a call can meet.
const ERRORS: [Errno; 5] = [Errno::IO, Errno::NOSPC, Errno::ACCESS, Errno::MFILE, Errno::INTR];

/// Calls that only look or read. What they fail at may be left out: an input beside the model, a constant that could have
/// been folded.
fn is_reading(call: &str) -> bool {
    ["pread", "fstat", "statat", "stat", "readdir", "open", "openat", "openat2"].contains(&call)
}

/// Whether it makes sense for this call.
fn is_tried(call: &str, errno: Errno) -> bool {
    match errno {
        Errno::IO => true,
        Errno::NOSPC => !is_reading(call),
        Errno::MFILE => call.starts_with("open") || call == "creat",
        Errno::ACCESS => ["creat", "rename_new", "exchange", "link", "fchmod"].contains(&call),
        _ => ["pwrite", "fsync", "fdatasync", "fallocate", "copy_file_range", "flock"].contains(&call),
    }
}

/// An operation that succeeds.
struct Undisturbed {
    /// Before.
    old: Bench,
    /// Afterwards.
    new: Bench,
    calls: Vec<&'static str>,
}

impl Undisturbed {
    fn run(operation: &Operation, overwrite: bool) -> Undisturbed {
        let old = Bench::new(operation, overwrite);
        let new = old.copy();
        faults::start(None);
        (operation.run)(&new.folder(), overwrite).unwrap();
        let calls = faults::stop();
        assert_ne!(old.files(), new.files());
        Undisturbed { old, new, calls }
    }
}

fn fail_everywhere(name: &str) {
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let operation = operation(name);
    for &overwrite in operation.overwrite {
        let Undisturbed { old, new, calls } = Undisturbed::run(operation, overwrite);
        assert!(calls.contains(&"pwrite") && calls.contains(&"rename_new"), "{calls:?}");
        let mut failures = 0;
        for (at, call) in calls.iter().enumerate() {
            let errors = ERRORS.into_iter().filter(|errno| is_tried(call, *errno)).map(Fault::Error);
            let short = (*call == "pwrite").then_some(Fault::ShortWrite);
            for fault in errors.chain(short) {
                let bench = old.copy();
                faults::start(Some((at, fault)));
                let result = (operation.run)(&bench.folder(), overwrite);
                faults::stop();
                let place =
                    format!("{name}, overwrite {overwrite}, call {at} ({call}): {fault:?}, {result:?}");
                match &result {
                    Ok(()) if is_reading(call) => {
                        assert!(bench.names().iter().all(|name| !name.starts_with('.')), "{place}");
                        assert!(weights(&bench).is_some(), "{place}");
                    }
                    // It reads its result.
                    Err(_)
                        if is_reading(call) && name == "repair-in-place" && bench.files() == new.files() => {}
                    Ok(()) => assert!(bench.files() == new.files(), "{place}: {:?}", bench.names()),
                    Err(error) => {
                        assert!(bench.files() == old.files(), "{place}: {:?}", bench.names());
                        assert!(is_reading(call) || error.kind() == ErrorKind::Io, "{place}");
                        failures += 1;
                    }
                }
                assert!(fault != Fault::ShortWrite || result.is_ok(), "{place}");
            }
        }
        assert!(failures > calls.len() / 2, "{failures} failures of {} calls", calls.len());
    }
}

/// What a child of the tests of deaths does, in this order: name, overwrite, call, folder.
const CHILD: &str = "MODELEXPORT_TEST_DEATH";

#[test]
#[ignore = "a child of the tests of deaths"]
fn child() {
    let Ok(order) = std::env::var(CHILD) else { return };
    let mut parts = order.splitn(4, ' ');
    let mut next = || parts.next().unwrap();
    let (name, overwrite, at, folder) = (next(), next() == "true", next().parse().unwrap(), next());
    faults::start(Some((at, Fault::Death)));
    (operation(name).run)(Path::new(folder), overwrite).unwrap();
}

/// The names and hashes of the weights of the model at the target, if all of them are found.
fn weights(bench: &Bench) -> Option<Vec<(String, Option<String>)>> {
    let places = weight_places::list(&bench.path(MODEL), true).ok()?;
    let is_found = places.iter().all(|weight| weight.problem.is_none());
    is_found.then(|| places.into_iter().map(|weight| (weight.name, weight.hash)).collect())
}

fn die_everywhere(name: &str) {
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let operation = operation(name);
    for &overwrite in operation.overwrite {
        let Undisturbed { old, new, calls } = Undisturbed::run(operation, overwrite);
        let (old_files, new_files) = (old.files(), new.files());
        let mut deaths = 0;
        // Between two calls that change something, all deaths are the same.
        let changing = calls.iter().enumerate().filter(|(_, call)| !is_reading(call) && **call != "flock");
        for (at, call) in changing {
            let bench = old.copy();
            let order = format!("{name} {overwrite} {at} {}", bench.folder().display());
            let mut child = Command::new(std::env::current_exe().unwrap());
            child.args(["--exact", "child", "--ignored"]).env(CHILD, order);
            deaths += usize::from(!child.output().unwrap().status.success());

            let place = format!("{name}, overwrite {overwrite}, death at call {at} ({call})");
            let left = bench.files();
            for (file, bytes) in left.iter().filter(|(file, _)| !file.starts_with('.')) {
                let was = old_files.get(file) == Some(bytes) || new_files.get(file) == Some(bytes);
                assert!(was || file == MODEL, "{place}: {file} is neither old nor new");
            }
            assert!(old_files.keys().all(|file| left.contains_key(file) || !new_files.contains_key(file)));
            if bench.path(MODEL).exists() {
                let found = weights(&bench);
                assert!(found.is_some(), "{place}");
                assert!([&old, &new].map(weights).contains(&found), "{place}: {:?}", bench.names());
            }

            // The next one needs no help. It may find that there is nothing to do.
            (operation.run)(&bench.folder(), true).unwrap_or_else(|error| panic!("{place}: {error}"));
            let names = bench.names();
            let has_hidden = names.iter().any(|name| name.starts_with('.'));
            assert!(!has_hidden || name == "repair-in-place", "{place}: {names:?}");
            assert!(operation.is_in_place || bench.files() == new.files(), "{place}: {names:?}");
        }
        assert!(deaths > 2, "{deaths} deaths");
    }
}

#[test]
fn hard_links_do_where_the_system_lacks_better_ways_to_rename() {
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let operation = operation("export-external");
    for (lacking, overwrite) in [("exchange", true), ("rename_new", true), ("rename_new", false)] {
        let Undisturbed { old, new, .. } = Undisturbed::run(operation, overwrite);
        let run = |fault| {
            let bench = old.copy();
            faults::start(fault);
            faults::lack(lacking);
            let result = (operation.run)(&bench.folder(), overwrite);
            (faults::stop(), result, bench)
        };
        let (calls, result, bench) = run(None);
        result.unwrap();
        assert!(bench.files() == new.files());
        let mut failures = 0;
        let tried = ["link", "rename", "exchange", "unlink", "fsync"];
        for (at, call) in calls.iter().enumerate().filter(|(_, call)| tried.contains(call)) {
            let (_, result, bench) = run(Some((at, Fault::Error(Errno::IO))));
            let expected = if result.is_ok() { &new } else { &old };
            failures += usize::from(result.is_err());
            assert!(
                bench.files() == expected.files(),
                "without {lacking}, call {at} ({call}): {result:?}, {:?}",
                bench.names()
            );
        }
        assert!(failures >= 3, "{failures}");
    }
}

macro_rules! tests_of_operations {
    ($($name:ident: $operation:literal,)*) => {
        mod an_error_anywhere_leaves_the_old_files {
            $(#[test] fn $name() { super::fail_everywhere($operation); })*
        }
        mod a_death_anywhere_leaves_old_or_new_files {
            $(#[test] fn $name() { super::die_everywhere($operation); })*
        }
        #[test]
        fn every_operation_has_its_tests() {
            let names: Vec<_> = OPERATIONS.iter().map(|operation| operation.name).collect();
            assert_eq!(names, [$($operation),*]);
        }
    };
}

tests_of_operations! {
    export_embed: "export-embed",
    export_external: "export-external",
    export_reference: "export-reference",
    tag_in_place: "tag-in-place",
    tag_elsewhere: "tag-elsewhere",
    strip_in_place: "strip-in-place",
    repair_in_place: "repair-in-place",
    functions: "functions",
    weights_embed: "weights-embed",
    weights_external: "weights-external",
    weights_reference: "weights-reference",
}
