//! Which names are legal: jobs, topics, fields, XML names.
//!
//! In:        a name
//! Out:       nothing, or what is wrong with it
//! Not here:  no key, no place: the callers know them

/// Most characters of a job's name: it goes into names of topics, transactional ids and rows.
const JOB_NAME_CHARS_MAX: usize = 63;
/// Kafka's own limit.
const TOPIC_CHARS_MAX: usize = 249;
/// Most characters of a field's or step's name.
const IDENTIFIER_CHARS_MAX: usize = 64;

/// `[a-z0-9][a-z0-9._-]{0,62}`
pub(super) fn job_name_problem(name: &str) -> Option<String> {
    let starts = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let goes_on = |c: char| starts(c) || matches!(c, '.' | '_' | '-');
    let chars = name.chars().count();
    if chars == 0 || chars > JOB_NAME_CHARS_MAX {
        return Some(format!("must have 1 to {JOB_NAME_CHARS_MAX} characters, has {chars}"));
    }
    let legal = name.starts_with(starts) && name.chars().all(goes_on);
    (!legal).then(|| "must be of a-z, 0-9, `.`, `_`, `-`, and begin with a letter or digit".to_owned())
}

/// Kafka's rule for names of topics, and ours: the progress topic belongs to the sink alone.
pub(super) fn topic_problem(name: &str) -> Option<String> {
    let chars = name.chars().count();
    if chars == 0 || chars > TOPIC_CHARS_MAX {
        return Some(format!("a topic's name has 1 to {TOPIC_CHARS_MAX} characters, this one has {chars}"));
    }
    if name == "." || name == ".." {
        return Some("`.` and `..` are not names that Kafka allows".to_owned());
    }
    if name.starts_with("tidegate-") && name.ends_with("-progress") {
        return Some("topics named tidegate-JOB-progress are Tidegate's own".to_owned());
    }
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (!name.chars().all(legal)).then(|| "a topic's name is of a-z, A-Z, 0-9, `.`, `_`, `-`".to_owned())
}

/// Names of fields and steps: what can stand behind the `:` of a parameter and is no meta field.
pub(super) fn identifier_problem(name: &str) -> Option<String> {
    let chars = name.chars().count();
    if chars == 0 || chars > IDENTIFIER_CHARS_MAX {
        return Some(format!("a name has 1 to {IDENTIFIER_CHARS_MAX} characters, this one has {chars}"));
    }
    if name.starts_with('_') {
        return Some("names that begin with `_` are meta fields".to_owned());
    }
    (!is_identifier(name))
        .then(|| "a name is of letters a-z, A-Z, digits and `_`, and begins with a letter".to_owned())
}

/// Whether a text is one word of a parameter.
pub(super) fn is_identifier(text: &str) -> bool {
    text.starts_with(is_identifier_start) && text.chars().all(is_identifier_char)
}

/// Begins a word of a parameter.
pub(super) fn is_identifier_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

/// Goes on a word of a parameter.
pub(super) fn is_identifier_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether a text is an XML name without a colon (Namespaces in XML 1.0, production NCName).
pub(super) fn is_nc_name(text: &str) -> bool {
    text.starts_with(is_name_start) && text.chars().all(is_name_char)
}

fn is_name_start(c: char) -> bool {
    matches!(c,
        'A'..='Z' | '_' | 'a'..='z' | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}'
        | '\u{370}'..='\u{37D}' | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}' | '\u{2070}'..='\u{218F}'
        | '\u{2C00}'..='\u{2FEF}' | '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}'
        | '\u{10000}'..='\u{EFFFF}')
}

fn is_name_char(c: char) -> bool {
    is_name_start(c)
        || matches!(c, '-' | '.' | '0'..='9' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}
