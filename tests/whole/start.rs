//! start
