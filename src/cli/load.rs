//! Load: a job file from disk, with its variables, its password file and its templates.
//!
//! In:        a path     Out: a checked job
//! Fails:     with everything that is wrong, one entry a line
//! Not here:  what is right or wrong (job)

mod templates;

use crate::job::{Checked, JobSpec, check};
use crate::xml::Decoder;
use sha2::{Digest, Sha256};
use std::path::Path;

/// Loads a job, or says everything that is wrong.
pub(super) fn load(path: &Path) -> Result<Checked, String> {
    load_with_hash(path).map(|(checked, _)| checked)
}

/// The same, and the SHA-256 of the file's bytes in hexadecimal digits.
pub(super) fn load_with_hash(path: &Path) -> Result<(Checked, String), String> {
    let label = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| format!("{label}: cannot be read: {error}"))?;
    let mut checked =
        check(&label, &text, &|name| std::env::var(name).ok()).map_err(|errors| errors.to_string())?;
    let folder = path.parent().unwrap_or(Path::new(""));
    templates::fill(&mut checked.spec, folder)
        .map_err(|why| why.lines().map(|line| format!("{label}: {line}")).collect::<Vec<_>>().join("\n"))?;
    // What the checks of keys let through would else be found by a worker.
    let JobSpec { event, outputs, limits, .. } = &checked.spec;
    Decoder::new(event, outputs, *limits).map_err(|error| format!("{label}: {error}"))?;
    if let Some(file) = checked.spec.password_file().map(str::to_owned) {
        let file = folder.join(&file);
        let shown = file.display();
        let password = std::fs::read_to_string(&file)
            .map_err(|error| format!("{label}: database.password_file: {shown} cannot be read: {error}"))?;
        checked
            .spec
            .fill_password(&password)
            .map_err(|error| format!("{label}: database.password_file: {shown}: {error}"))?;
    }
    Ok((checked, hex::encode(Sha256::digest(&text))))
}
