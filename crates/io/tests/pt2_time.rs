//! Time of reading a `.pt2` archive, by the processor's clock of this thread.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod common;

use rustix::time::{ClockId, clock_gettime};

fn seconds() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

#[test]
#[ignore = "a ratio of times needs a quiet machine: cargo test --test pt2_time -- --ignored"]
fn time_grows_linearly_with_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let best = |nodes: usize| {
        let path = folder.path().join(format!("{nodes}.pt2"));
        common::write_chain(&path, nodes, 1 << 20);
        let runs = (0..4).map(|_| {
            let start = seconds();
            let archive = modelexport_io::pt2::read(&path).unwrap();
            let taken = seconds() - start;
            assert_eq!(archive.program.graph.nodes.len(), nodes);
            taken
        });
        runs.fold(f64::INFINITY, f64::min)
    };
    let (half, whole) = (best(50_000), best(100_000));
    assert!(whole / half <= 2.2, "{half} s for half the nodes, {whole} s for all");
}
