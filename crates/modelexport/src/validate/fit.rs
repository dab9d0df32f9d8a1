//! Whether the tags are of this model: the fit that was recorded when it was tagged, else what the sidecar tells.

use modelexport_io::sidecar::{self, Fit};

use super::finding::{Findings, Group, Severity};
use crate::diagnosis::PARTIAL;
use crate::strategies::{Anchors, Context, GraphView, evidence, fit};
use crate::tagged_file::TaggedFile;

pub(super) fn check(file: &TaggedFile, findings: &mut Findings) {
    partly_tagged(file, findings);
    let Some(sidecar) = &file.sidecar else { return };
    let place = sidecar::path_beside(&file.path).display().to_string();
    let measured = match &sidecar.statistics.fit {
        Some(recorded) if recorded.is_enough() && !recorded.forced => return,
        Some(recorded) => recorded.clone(),
        // An export needs no evidence.
        None if sidecar.source.kind != "onnx" => return,
        None => measure(file, sidecar.clone()),
    };
    if measured.forced || !measured.is_enough() {
        findings.add(Group::Tags, "fit", Severity::Warning, place, text(&measured));
    }
}

/// The sidecar as evidence for the file that it lies beside.
fn measure(file: &TaggedFile, sidecar: sidecar::Sidecar) -> Fit {
    let evidence = evidence::of_sidecar(sidecar);
    let graph = GraphView::new(&file.model);
    let anchors = Anchors::new(&graph, &file.sources, &evidence);
    let context = Context { graph: &graph, evidence: &evidence, anchors: &anchors, boundaries: &[] };
    fit::measure(&context, &Vec::new())
}

fn text(fit: &Fit) -> String {
    let percent = (100.0 * fit.score).floor();
    let forced = if fit.forced { "tagged with --force: " } else { "" };
    let mut text = format!("{forced}the tags may be those of another model, the fit is {percent}%");
    for reason in fit.reasons.iter().take(1) {
        text.push_str(&format!(": {reason}"));
    }
    match fit.contradictions {
        0 | 1 => {}
        more => text.push_str(&format!(", and {} more", more - 1)),
    }
    text
}

/// An optimiser that makes new nodes does not tag them.
fn partly_tagged(file: &TaggedFile, findings: &mut Findings) {
    let untold = file.hierarchy.unattributed_nodes;
    let nodes = file.hierarchy.attributed_nodes() + untold;
    if untold as f64 >= PARTIAL * nodes as f64 && untold > 0 && untold < nodes {
        let message = format!(
            "{untold} of {nodes} nodes say nothing of their module, as after an optimiser: `modelexport tag --from` with \
             the tagged file that this one was made from gives their tags back"
        );
        let place = file.path.display().to_string();
        findings.add(Group::Tags, "partly-tagged", Severity::Warning, place, message);
    }
}
