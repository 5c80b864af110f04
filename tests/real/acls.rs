//! What an account may do in Kafka, changed within milliseconds: Kafka's own tool takes longer than a job is patient.
//!
//! Two requests of the protocol, as bytes: CreateAcls (30) and DeleteAcls (31), both in version 1.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const CREATE: u16 = 30;
const DELETE: u16 = 31;

/// A kind of resource, by its number.
#[derive(Clone, Copy)]
pub enum Kind {
    Topic = 2,
    Group = 3,
    TransactionalId = 5,
}

/// A rule about the account `app`.
pub struct Rule<'a> {
    kind: Kind,
    name: &'a str,
    pattern: u8,
    operation: u8,
    permission: u8,
}

/// The account may do everything with whatever has a name that begins so.
pub fn all_of<'a>(kind: Kind, prefix: &'a str) -> Rule<'a> {
    Rule { kind, name: prefix, pattern: 4, operation: 2, permission: 3 }
}

/// The account may not write to this topic, whatever other rules say.
pub fn no_write(topic: &str) -> Rule<'_> {
    Rule { kind: Kind::Topic, name: topic, pattern: 3, operation: 4, permission: 2 }
}

/// Adds a rule.
pub fn add(kafka: &str, rule: &Rule<'_>) {
    change(kafka, CREATE, rule);
}

/// Takes a rule back.
pub fn remove(kafka: &str, rule: &Rule<'_>) {
    change(kafka, DELETE, rule);
}

fn change(kafka: &str, request: u16, rule: &Rule<'_>) {
    let mut bytes = Vec::new();
    bytes.extend(request.to_be_bytes());
    bytes.extend(1_u16.to_be_bytes());
    bytes.extend(7_u32.to_be_bytes());
    bytes.extend((-1_i16).to_be_bytes());
    bytes.extend(1_u32.to_be_bytes());
    bytes.push(rule.kind as u8);
    put(&mut bytes, rule.name);
    bytes.push(rule.pattern);
    put(&mut bytes, "User:app");
    put(&mut bytes, "*");
    bytes.extend([rule.operation, rule.permission]);

    let mut broker = TcpStream::connect(kafka).expect("the broker listens");
    broker.set_read_timeout(Some(Duration::from_secs(30))).expect("a time-out");
    broker.write_all(&(bytes.len() as u32).to_be_bytes()).expect("sent");
    broker.write_all(&bytes).expect("sent");
    let mut length = [0; 4];
    broker.read_exact(&mut length).expect("the broker answers");
    let mut answer = vec![0; u32::from_be_bytes(length) as usize];
    broker.read_exact(&mut answer).expect("the broker answers");
    // Correlation, throttle time, one result, which begins with its error code.
    assert_eq!(answer[8..14], [0, 0, 0, 1, 0, 0], "the broker refuses the rule: {answer:?}");
}

fn put(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u16).to_be_bytes());
    bytes.extend(text.as_bytes());
}
