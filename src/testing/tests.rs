//! The fakes do what the real ones do: the same questions are asked of a real broker in `kafka/tests` and of real
//! engines in `database/conformance`.

mod database;
mod log;
mod parked;
