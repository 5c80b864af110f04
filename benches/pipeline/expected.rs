//! Expected: what must come of an input, made from the orders themselves and by no contender.
//!
//! In:        orders, in the order in which they are sent; records that came out; rows that are stored
//! Out:       numbers that are equal where bytes, rows and the order within each key are
//! Holds:     per key a number, per row a number
//! Not here:  who made what is compared (scenarios)

use crate::inputs::Order;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Numbers for outputs, by key: a value that is other, missing, doubled or out of turn gives another.
#[derive(Debug, Default)]
pub(crate) struct Chains {
    of: HashMap<Box<[u8]>, u64>,
}

impl Chains {
    /// The next record of its key.
    pub(crate) fn add(&mut self, key: &[u8], value: &[u8]) {
        let before = self.of.get_mut(key);
        let chain = hash(&(before.as_deref().copied().unwrap_or(0), value));
        match before {
            Some(place) => *place = chain,
            None => _ = self.of.insert(key.into(), chain),
        }
    }

    /// One number for all keys.
    pub(crate) fn digest(&self) -> u64 {
        self.of.iter().map(|each| hash(&each)).fold(0, u64::wrapping_add)
    }
}

fn hash(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

/// Rows of a table: how many, and the sum of the CRC-32 of each one's columns, joined by `|`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) count: u64,
    pub(crate) digest: u64,
}

impl Rows {
    pub(crate) fn add(&mut self, row: u32) {
        self.count += 1;
        self.digest += u64::from(row);
    }
}

/// What an input comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) outputs: u64,
    pub(crate) orders: Rows,
    /// The same as SQLite keeps them: a time is ISO 8601 there.
    pub(crate) orders_sqlite: Rows,
    pub(crate) lines: Rows,
    pub(crate) journal: Rows,
}

/// Takes orders one by one, as a correct job would.
#[derive(Debug, Default)]
pub(crate) struct Expecting {
    outputs: Chains,
    orders: HashMap<usize, (u32, u32)>,
    lines: HashMap<(usize, usize), u32>,
    journal: Rows,
}

impl Expecting {
    pub(crate) fn add(&mut self, order: &Order) {
        self.outputs.add(order.id.as_bytes(), &output(order));
        let Order { id, customer, total, placed_at: (day, time), .. } = order;
        let row = |at: &str| crc32(format!("{id}|{customer}|{total}|EUR|{at}").as_bytes());
        let rows = (row(&format!("{day} {time}.000000")), row(&format!("{day}T{time}Z")));
        self.orders.insert(order.key, rows);
        for (index, line) in order.lines.iter().enumerate() {
            let (article, quantity, price) = line;
            let row = format!("{id}|{index}|{article}|{quantity}|{price}");
            self.lines.insert((order.key, index), crc32(row.as_bytes()));
        }
        self.journal.add(crc32(format!("{id}|{customer}|{total}").as_bytes()));
    }

    pub(crate) fn end(self) -> Expected {
        let sum = |rows: &mut dyn Iterator<Item = u32>| {
            rows.fold(Rows::default(), |mut all, row| {
                all.add(row);
                all
            })
        };
        Expected {
            outputs: self.outputs.digest(),
            orders: sum(&mut self.orders.values().map(|row| row.0)),
            orders_sqlite: sum(&mut self.orders.values().map(|row| row.1)),
            lines: sum(&mut self.lines.values().copied()),
            journal: self.journal,
        }
    }
}

/// The document with what the look-up found, as the last child of its customer.
fn output(order: &Order) -> Vec<u8> {
    let empty = format!(r#"<s:customer ref="{}"/>"#, order.customer);
    let at = order.document.windows(empty.len()).position(|window| window == empty.as_bytes());
    let at = at.expect("the document has its customer");
    let (before, behind) = (&order.document[..at], &order.document[at + empty.len()..]);
    let customer = order.customer;
    let found = format!(
        r#"<s:customer ref="{customer}"><s:name tier="gold">Customer number {customer}</s:name></s:customer>"#
    );
    [before, found.as_bytes(), behind].concat()
}

/// As MariaDB's `CRC32()`.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |crc, byte| {
        let place = usize::from(crc.to_le_bytes()[0] ^ byte);
        (crc >> 8) ^ CRC_TABLE[place]
    })
}

const CRC_TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut place = 0;
    while place < 256 {
        let (mut crc, mut bit) = (place as u32, 0);
        while bit < 8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & 0_u32.wrapping_sub(crc & 1));
            bit += 1;
        }
        table[place] = crc;
        place += 1;
    }
    table
};
