//! Decisions of gate, sink and recovery as pure state machines.
