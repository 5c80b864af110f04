//! liars
