//! One target in a process of its own. A property that does not hold ends the process.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use modelexport_fuzz::{Inputs, Verdict};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::arguments::Arguments;

/// Most memory that a process may have: more than a small input is worth. Asking for more aborts it.
const MEMORY: u64 = 512 << 20;
/// Stack of threads, unless somebody asks for more.
const STACK: usize = 2 << 20;

/// How far a worker is.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    /// The input in work, or the one after the last.
    pub index: u64,
    /// Inputs that are done, and how many of them were accepted.
    pub done: u64,
    pub accepted: u64,
    /// Time of the slowest input, and which it was.
    pub slowest_micros: u64,
    pub slowest: u64,
    pub is_finished: bool,
}

impl State {
    fn write(&self, file: &File) {
        let numbers = [
            self.index,
            self.done,
            self.accepted,
            self.slowest_micros,
            self.slowest,
            self.is_finished.into(),
        ];
        file.write_all_at(&numbers.map(u64::to_le_bytes).concat(), 0).expect("the state can be written");
    }

    /// `None` as long as the worker makes its seeds.
    pub fn read(file: &File) -> Option<State> {
        let mut bytes = [0; 48];
        file.read_exact_at(&mut bytes, 0).ok()?;
        let (numbers, _) = bytes.as_chunks::<8>();
        let [index, done, accepted, slowest_micros, slowest, is_finished] =
            numbers.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect::<Vec<_>>().try_into().ok()?;
        Some(State { index, done, accepted, slowest_micros, slowest, is_finished: is_finished == 1 })
    }
}

/// Runs until the time is over or the inputs are used up.
pub fn run(arguments: &Arguments, state: &Path) {
    let target = arguments.target().expect("the supervisor names one");
    let file = File::options().write(true).open(state).expect("the supervisor has made the file");
    let limit = Rlimit { current: Some(MEMORY), maximum: getrlimit(Resource::Data).maximum };
    setrlimit(Resource::Data, limit).expect("a limit can be lowered");
    let inputs = Inputs::new(target, arguments.seed);
    let seconds = if arguments.inputs.is_none() { arguments.seconds } else { u64::MAX };
    let end = arguments.inputs.map_or(u64::MAX, |count| arguments.first.saturating_add(count));
    let mut state = State { index: arguments.first, ..State::default() };
    let work = move || {
        let began = Instant::now();
        while state.index < end && began.elapsed().as_secs() < seconds {
            state.write(&file);
            let input = inputs.get(state.index);
            let start = Instant::now();
            let verdict = (target.check)(&input);
            let micros = start.elapsed().as_micros() as u64;
            if micros > state.slowest_micros {
                (state.slowest_micros, state.slowest) = (micros, state.index);
            }
            state.accepted += u64::from(verdict == Verdict::Accepted);
            state.done += 1;
            state.index += 1;
        }
        state.is_finished = true;
        state.write(&file);
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work).expect("a thread can be started");
    if thread.join().is_err() {
        // The message was printed by the thread.
        std::process::exit(101);
    }
}
