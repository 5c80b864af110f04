//! `check --sample`

/// Reads `NAME=VALUE`.
pub(super) fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    if name.is_empty() {
        Err("the name is empty".to_owned())
    } else {
        Ok((name.to_owned(), value.to_owned()))
    }
}
