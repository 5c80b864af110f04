//! The binary. Nothing here but the way in and the way out.
fn main() {}
