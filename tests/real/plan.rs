//! What a topic holds, worked out from a seed before anything is sent: which event of which key lies where.

/// Every input topic has as many.
pub const PARTITIONS: i32 = 4;

/// An unreadable record follows each time after so many events.
const EVENTS_PER_UNREADABLE: u32 = 500;

/// How big an input is.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub events: u32,
    pub keys: u32,
}

/// An event's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Counts the events of the topic from 0, in the order in which they were sent.
    pub number: u32,
    pub key: u32,
    /// Counts the events of the key from 0.
    pub sequence: u32,
    pub partition: i32,
    pub offset: i64,
}

/// An unreadable record's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Counts the unreadable records of the topic from 0.
    pub number: u32,
    pub partition: i32,
    pub offset: i64,
}

/// One record, in the order of sending.
#[derive(Clone, Copy, Debug)]
pub enum Slot {
    Event(Event),
    Unreadable(Unreadable),
}

/// All of a topic.
pub struct Plan {
    pub seed: u64,
    pub keys: u32,
    pub events: Vec<Event>,
    pub unreadable: Vec<Unreadable>,
    /// Where each partition ends.
    pub ends: [i64; PARTITIONS as usize],
    pub slots: Vec<Slot>,
    /// The next event of each key.
    sequences: Vec<u32>,
}

impl Plan {
    pub fn new(size: Size, seed: u64) -> Plan {
        let mut plan = Plan {
            seed,
            keys: size.keys,
            events: vec![],
            unreadable: vec![],
            ends: [0; 4],
            slots: vec![],
            sequences: vec![0; size.keys as usize],
        };
        plan.grow(size.events);
        plan
    }

    /// Puts so many events behind what is there: a plan that has grown is the same as one made whole.
    pub fn grow(&mut self, events: u32) {
        let first = self.events.len() as u32;
        for number in first..first + events {
            let key = (mix(self.seed ^ u64::from(number)) % u64::from(self.keys)) as u32;
            let partition = (mix(u64::from(key)) % PARTITIONS as u64) as i32;
            let sequence = self.sequences[key as usize];
            self.sequences[key as usize] += 1;
            let event = Event { number, key, sequence, partition, offset: self.take_offset(partition) };
            self.events.push(event);
            self.slots.push(Slot::Event(event));
            if number % EVENTS_PER_UNREADABLE == EVENTS_PER_UNREADABLE - 1 {
                self.add_unreadable();
            }
        }
    }

    fn add_unreadable(&mut self) {
        let number = self.unreadable.len() as u32;
        let partition = (number % PARTITIONS as u32) as i32;
        let unreadable = Unreadable { number, partition, offset: self.take_offset(partition) };
        self.unreadable.push(unreadable);
        self.slots.push(Slot::Unreadable(unreadable));
    }

    /// A topic that one idempotent producer writes once has no gaps.
    fn take_offset(&mut self, partition: i32) -> i64 {
        let end = &mut self.ends[partition as usize];
        *end += 1;
        *end - 1
    }
}

/// SplitMix64: spreads a number over all bits.
pub fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
