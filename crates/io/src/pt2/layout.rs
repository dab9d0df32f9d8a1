//! Finds the entries of the archive, and rejects unsupported layouts.

use rawzip::ReaderAt;

use super::archive::Archive;
use super::error::Problem;

/// Version of the archive's layout, in the entry `archive_version`.
const ARCHIVE_VERSION: &str = "0";
const BYTE_ORDER: &str = "little";

/// Full names of the entries that are read.
#[derive(Debug)]
pub(super) struct Layout {
    pub program: String,
    /// Folder of the weights, with a slash behind.
    pub weights: String,
    pub weights_config: String,
    pub constants: String,
    pub constants_config: String,
}

/// Finds the one model of the archive.
pub(super) fn find<R: ReaderAt>(archive: &Archive<R>) -> Result<Layout, Problem> {
    let mut models = archive.names().filter_map(|name| {
        let (root, inner) = name.split_once('/')?;
        Some((root, inner.strip_prefix("models/")?.strip_suffix(".json")?))
    });
    let Some((root, model)) = models.next() else { return Err(no_model(archive)) };
    let others: Vec<String> = models.map(|(_, model)| model.to_owned()).collect();
    if !others.is_empty() {
        let names = std::iter::once(model.to_owned()).chain(others).collect();
        return Err(Problem::SeveralModels { names });
    }
    for old in [format!("{root}/data/weights/{model}.pt"), format!("{root}/data/constants/{model}.pt")] {
        if archive.contains(&old) {
            return Err(Problem::OldLayout { found: format!("the pickle {old:?}") });
        }
    }
    if let Some(found) = archive.read_mark(&format!("{root}/byteorder"))?
        && found != BYTE_ORDER
    {
        return Err(Problem::ByteOrder { found });
    }
    if let Some(found) = archive.read_mark(&format!("{root}/archive_version"))?
        && found != ARCHIVE_VERSION
    {
        return Err(Problem::ArchiveVersion { found });
    }
    Ok(Layout {
        program: format!("{root}/models/{model}.json"),
        weights: format!("{root}/data/weights/"),
        weights_config: format!("{root}/data/weights/{model}_weights_config.json"),
        constants: format!("{root}/data/constants/"),
        constants_config: format!("{root}/data/constants/{model}_constants_config.json"),
    })
}

/// What the file is instead.
fn no_model<R: ReaderAt>(archive: &Archive<R>) -> Problem {
    let has = |what: &dyn Fn(&str) -> bool| archive.names().any(what);
    if has(&|name| {
        name == "serialized_exported_program.json" || name.ends_with("/serialized_exported_program.json")
    }) {
        return Problem::OldLayout { found: "\"serialized_exported_program.json\"".into() };
    }
    let found = if has(&|name| name.contains("/data/aotinductor/")) {
        "it is a package compiled by AOTInductor"
    } else if has(&|name| name.ends_with("/constants.pkl")) {
        "it is a TorchScript archive"
    } else if has(&|name| name.ends_with("/data.pkl")) {
        "it is a checkpoint of torch.save"
    } else {
        "it is some other zip archive"
    };
    Problem::NoModel { found }
}
