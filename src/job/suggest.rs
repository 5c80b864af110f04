//! "Did you mean": the nearest of the words that are allowed.

/// The hint that names the nearest candidate, where one is near enough to be meant.
pub(super) fn did_you_mean<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<String> {
    nearest(word, candidates).map(|candidate| format!("did you mean `{candidate}`?"))
}

/// The nearest candidate; of two as near the first.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    const LIKE_ENOUGH: f64 = 0.75;
    // Names are short; a longer word is no slip of the fingers, and comparing costs its square.
    const WORD_CHARS_MAX: usize = 64;
    if word.chars().count() > WORD_CHARS_MAX {
        return None;
    }
    let lower = word.to_lowercase();
    let mut best: Option<(&str, f64)> = None;
    for candidate in candidates {
        let likeness = strsim::normalized_damerau_levenshtein(&lower, &candidate.to_lowercase());
        let close =
            strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()) <= 1 && lower.chars().count() > 2;
        let likeness = if close { likeness.max(LIKE_ENOUGH) } else { likeness };
        if likeness >= LIKE_ENOUGH && best.is_none_or(|(_, of_best)| likeness > of_best) {
            best = Some((candidate, likeness));
        }
    }
    best.map(|(candidate, _)| candidate)
}
