//! Memory of reading a `.pt2` archive. Alone in its process, so that the peak is its own.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod common;

/// The most memory that this process ever held, in bytes.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[test]
fn ten_gigabytes_of_weights_and_many_nodes_fit_the_promise() {
    const WEIGHTS: u64 = 10_000_000_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.pt2");
    let json = common::write_chain(&path, 30_000, WEIGHTS);
    let archive = modelexport_io::pt2::read(&path).unwrap();
    assert_eq!(archive.program.graph.nodes.len(), 30_000);
    let weight = &archive.program.weights[0];
    assert_eq!(weight.sizes, [WEIGHTS / 4]);
    assert_eq!(weight.data.as_ref().unwrap().span.length, WEIGHTS);
    let (peak, promise) = (peak_memory(), (64 << 20) + 4 * json);
    assert!(peak <= promise, "{peak} bytes for {json} bytes of JSON, promised {promise}");
    // The fixed part is for small programs; a large one alone stays below four times its JSON.
    assert!(peak <= 4 * json, "{peak} bytes for {json} bytes of JSON");
}
