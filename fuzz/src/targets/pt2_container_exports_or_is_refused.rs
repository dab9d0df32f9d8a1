use modelexport::Export;
use modelexport::export::Source;

use super::export;
use crate::mutate::{self, zip};
use crate::{Target, Verdict, files, seeds};

pub static TARGET: Target = Target {
    name: "pt2_container_exports_or_is_refused",
    property: "A .pt2 archive gives a valid model, twice the same, or an error that names it and leaves no file.",
    seeds: || seeds::archives().iter().map(|archive| archive.write()).collect(),
    mutate: |input, random| mutate::formatted(input, random, zip::mutate),
    check,
};

fn check(input: &[u8]) -> Verdict {
    let path = files::folder("in").join("model.pt2");
    files::write(&path, input);
    export::check("model.pt2", |target| Export::of(Source::Archive(path.clone()), target))
}
