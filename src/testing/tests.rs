//! The fakes keep what the real ones keep.
