use std::path::Path;

use modelexport_io::{sidecar, trace};

use crate::mutate::{self, json};
use crate::{Target, Verdict, files, seeds};

pub static TARGET: Target = Target {
    name: "documents_read_back",
    property: "A sidecar or trace that is read can be written, read again and written to the same bytes.",
    seeds: seeds::documents,
    mutate: |input, random| mutate::formatted(input, random, json::mutate),
    check,
};

fn check(input: &[u8]) -> Verdict {
    let file = Path::new("document.json");
    let sidecar = sidecar::parse(input, file).map_err(|error| error.to_string());
    let trace = trace::parse(input, file).map_err(|error| error.to_string());
    for message in [sidecar.as_ref().err(), trace.as_ref().err()].into_iter().flatten() {
        files::assert_names(message, "document.json");
    }
    let accepted = sidecar.is_ok() || trace.is_ok();
    if let Ok(sidecar) = sidecar {
        let written = sidecar.to_bytes().expect("a sidecar can be written");
        let again = sidecar::parse(&written, file).expect("what was written can be read");
        assert!(
            again.to_bytes().expect("a sidecar can be written") == written,
            "a sidecar is written in two ways"
        );
    }
    if let Ok(trace) = trace {
        let written = serde_json::to_vec(&trace).expect("a trace can be written");
        let again = trace::parse(&written, file).expect("what was written can be read");
        assert!(again == trace, "a trace is another one when it is read again");
    }
    if accepted { Verdict::Accepted } else { Verdict::Refused }
}
