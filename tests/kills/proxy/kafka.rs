//! What the proxy knows of Kafka: who asks what, and which answer belongs to it.
//!
//! The broker tells its clients to connect to the address that it knows of itself: in the answers that hold it, its port
//! becomes the proxy's. And where it is told to, producers get a shorter transaction time-out than they ask for, so that one
//! that stands still outlives it in seconds.

use super::{Proxy, Verdict, Watch, lock};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// A transaction's time-out where it is to be short.
pub const TRANSACTION_TIMEOUT_MS: i32 = 4_000;

/// A request whose answer can be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    Produce,
    InitProducerId,
    AddPartitionsToTxn,
    EndTxn,
}

const METADATA: i16 = 3;
const FIND_COORDINATOR: i16 = 10;
const INIT_PRODUCER_ID: i16 = 22;

impl Api {
    fn number(self) -> i16 {
        match self {
            Api::Produce => 0,
            Api::InitProducerId => INIT_PRODUCER_ID,
            Api::AddPartitionsToTxn => 24,
            Api::EndTxn => 26,
        }
    }
}

/// Whose answers are to be lost.
#[derive(Default)]
struct Plan {
    /// The next answer to each of these.
    once: Vec<Api>,
    /// Every answer to it, until a producer is initialised: the one before has been given up.
    always: Option<Api>,
    /// How many `always` has taken.
    taken: usize,
    /// Whether what decides a transaction is kept from the broker.
    undecided: bool,
    /// Whether producers that are initialised get the short time-out.
    short: bool,
}

/// The answers that will be lost.
#[derive(Clone, Default)]
pub struct Answers(Arc<Mutex<Plan>>);

impl Answers {
    /// Lets the next answer to this be lost.
    pub fn lose(&self, api: Api) {
        lock(&self.0).once.push(api);
    }

    /// Lets every answer to this be lost until somebody gives up his producer for a new one.
    pub fn lose_until_given_up(&self, api: Api) {
        let mut plan = lock(&self.0);
        plan.always = Some(api);
        plan.taken = 0;
    }

    /// Whether everything that was to be lost is lost.
    pub fn are_lost(&self) -> bool {
        let plan = lock(&self.0);
        plan.once.is_empty() && plan.always.is_none()
    }

    /// How many answers the last [`Answers::lose_until_given_up`] has taken.
    pub fn taken(&self) -> usize {
        lock(&self.0).taken
    }

    /// Whether nothing that decides a transaction reaches the broker: connections that try are cut.
    pub fn keep_undecided(&self, undecided: bool) {
        lock(&self.0).undecided = undecided;
    }

    /// Whether producers that are initialised from now on get a short time-out.
    pub fn shorten_time_outs(&self, short: bool) {
        lock(&self.0).short = short;
    }

    fn keeps(&self, api: i16) -> bool {
        lock(&self.0).undecided && (api == INIT_PRODUCER_ID || api == Api::EndTxn.number())
    }

    /// A request passes by: is its answer to be lost?
    fn takes(&self, api: i16) -> bool {
        let mut plan = lock(&self.0);
        if api == INIT_PRODUCER_ID && plan.taken > 0 {
            plan.always = None;
        }
        if plan.always.is_some_and(|always| always.number() == api) {
            plan.taken += 1;
            return true;
        }
        let found = plan.once.iter().position(|once| once.number() == api);
        found.map(|at| plan.once.remove(at)).is_some()
    }
}

/// Starts a proxy in front of the broker.
pub fn start(broker: &str, answers: &Answers) -> Proxy {
    let answers = answers.clone();
    let (host, port) = broker.rsplit_once(':').expect("host:port");
    let port: u16 = port.parse().expect("a port");
    let itself = address(host, port);
    let host = host.to_owned();
    Proxy::start(broker, move |front| Connection {
        answers: answers.clone(),
        asked: VecDeque::new(),
        itself: itself.clone(),
        front: address(&host, front),
    })
}

/// A broker's address as its answers hold it: the host's bytes, and the port in four.
fn address(host: &str, port: u16) -> Vec<u8> {
    [host.as_bytes(), &i32::from(port).to_be_bytes()].concat()
}

/// A request that has no answer yet.
struct Asked {
    correlation: i32,
    api: i16,
    is_lost: bool,
}

struct Connection {
    answers: Answers,
    asked: VecDeque<Asked>,
    itself: Vec<u8>,
    front: Vec<u8>,
}

impl Watch for Connection {
    fn length(head: [u8; 4]) -> usize {
        u32::from_be_bytes(head) as usize
    }

    /// length 4, api 2, version 2, correlation 4
    fn request(&mut self, frame: &mut [u8]) -> Verdict {
        let api = i16::from_be_bytes([frame[4], frame[5]]);
        let correlation = i32::from_be_bytes([frame[8], frame[9], frame[10], frame[11]]);
        if self.answers.keeps(api) {
            return Verdict::Cut;
        }
        if api == INIT_PRODUCER_ID && lock(&self.answers.0).short {
            shorten(frame);
        }
        self.asked.push_back(Asked { correlation, api, is_lost: self.answers.takes(api) });
        Verdict::Pass
    }

    /// length 4, correlation 4. A broker answers the requests of a connection in their order.
    fn answer(&mut self, frame: &mut [u8]) -> Verdict {
        let correlation = i32::from_be_bytes([frame[4], frame[5], frame[6], frame[7]]);
        let asked = self.asked.pop_front().expect("nobody answers what nobody asked");
        assert_eq!(asked.correlation, correlation, "answers in the order of the requests");
        if asked.is_lost {
            return Verdict::Cut;
        }
        if matches!(asked.api, METADATA | FIND_COORDINATOR) {
            replace(frame, &self.itself, &self.front);
        }
        Verdict::Pass
    }
}

fn replace(frame: &mut [u8], old: &[u8], new: &[u8]) {
    let mut at = 0;
    while at + old.len() <= frame.len() {
        if frame[at..].starts_with(old) {
            frame[at..at + new.len()].copy_from_slice(new);
            at += new.len();
        } else {
            at += 1;
        }
    }
}

/// Puts the short time-out into an `InitProducerId`: behind the head the client's id, and behind it the transactional
/// id, each with its length in front.
fn shorten(frame: &mut [u8]) {
    let version = i16::from_be_bytes([frame[6], frame[7]]);
    let short = |at: usize| i16::from_be_bytes([frame[at], frame[at + 1]]).max(0) as usize;
    let mut at = 12;
    at += 2 + short(at);
    if version < 2 {
        at += 2 + short(at);
    } else {
        // Tagged fields of the head: none. A compact text has its length plus one in front; ours are short.
        assert_eq!(frame[at], 0, "a head without tagged fields");
        at += 1;
        assert!(frame[at] < 0x80, "a transactional id below 127 bytes");
        at += 1 + usize::from(frame[at].max(1) - 1);
    }
    let asked = i32::from_be_bytes([frame[at], frame[at + 1], frame[at + 2], frame[at + 3]]);
    assert!((1_000..=900_000).contains(&asked), "no time-out: {asked}");
    frame[at..at + 4].copy_from_slice(&TRANSACTION_TIMEOUT_MS.min(asked).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn init(version: i16, id: &[u8]) -> Vec<u8> {
        let head = [&[0, 0, 0, 0, 0, 22][..], &version.to_be_bytes(), &[0, 0, 0, 9], b"\x00\x03abc"].concat();
        [&head, id, &60_000_i32.to_be_bytes(), &[7, 7, 7]].concat()
    }

    #[test]
    fn the_time_out_is_shortened_in_both_layouts() {
        for (version, id) in [(1, &b"\x00\x04id-0"[..]), (4, &b"\x00\x05id-0"[..])] {
            let mut frame = init(version, id);
            let whole = frame.clone();
            shorten(&mut frame);
            let at = frame.len() - 7;
            assert_eq!(frame[at..at + 4], TRANSACTION_TIMEOUT_MS.to_be_bytes(), "version {version}");
            assert_eq!((&frame[..at], &frame[at + 4..]), (&whole[..at], &whole[at + 4..]));
        }
    }

    #[test]
    fn the_brokers_port_becomes_the_proxys() {
        let answer =
            |port| [&[1, 2][..], &address("127.0.0.1", port), &[3], &address("127.0.0.1", port)].concat();
        let mut frame = answer(9092);
        replace(&mut frame, &address("127.0.0.1", 9092), &address("127.0.0.1", 31_000));
        assert_eq!(frame, answer(31_000));
    }

    #[test]
    fn answers_are_lost_once_or_until_the_producer_is_given_up() {
        let answers = Answers::default();
        answers.lose(Api::EndTxn);
        assert!(!answers.takes(0) && answers.takes(26) && !answers.takes(26) && answers.are_lost());
        answers.lose_until_given_up(Api::EndTxn);
        assert!(answers.takes(26) && answers.takes(26) && !answers.are_lost());
        assert!(!answers.takes(INIT_PRODUCER_ID) && answers.are_lost() && !answers.takes(26));
        assert_eq!(answers.taken(), 2);
        answers.keep_undecided(true);
        assert!(answers.keeps(26) && answers.keeps(INIT_PRODUCER_ID) && !answers.keeps(0));
    }
}
