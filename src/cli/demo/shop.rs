//! Shop: what the demo's orders look like, and what must become of them. All of it follows from a change's number.
//!
//! In:        numbers, from 1     Out: records to send; what the output and the table must hold, made without the job's code
//! Not here:  when they are sent (feeder), what was found (proof)

use crate::model::{Destination, Outgoing};
use bytes::Bytes;

/// Customer, name and tier.
const CUSTOMERS: [(u64, &str, &str); 5] = [
    (4711, "Müller & Söhne", "gold"),
    (4712, "Ada Lovelace", "silver"),
    (4713, "Ole Østergård", "gold"),
    (4714, "\"Zur Linde\" <Basel>", "bronze"),
    (4715, "北京茶馆", "silver"),
];

/// The header that numbers what is planted; the job must keep it.
pub(super) const PLANTED_HEADER: &str = "demo-planted";

/// A demo's numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shop {
    /// How many different orders the changes belong to.
    pub(super) orders: u64,
    /// Behind each so many changes comes a record that cannot be read.
    pub(super) plant_every: u64,
}

/// One change of one order.
#[derive(Clone, Debug)]
pub(super) struct Change {
    /// From 1, in the order in which changes are sent.
    pub(super) number: u64,
    /// Which order it belongs to.
    pub(super) order: usize,
    customer: (u64, &'static str, &'static str),
    cents: u64,
}

impl Shop {
    /// About ten changes for each order, and about fifty unreadable records, more in a long demo.
    pub(super) fn new(events: u64) -> Shop {
        Shop { orders: (events / 10).clamp(10, 100_000), plant_every: (events / 50).clamp(10, 500) }
    }

    /// A change by its number.
    pub(super) fn change(&self, number: u64) -> Change {
        let random = mix(number);
        let order = usize::try_from(random % self.orders).unwrap_or(0);
        let customer = usize::try_from((random >> 20) % 5).ok().and_then(|index| CUSTOMERS.get(index));
        let customer = customer.copied().unwrap_or_default();
        Change { number, order, customer, cents: (random >> 24) % 100_000 + 1 }
    }

    /// The number of the unreadable record that comes behind this change, if one does.
    pub(super) fn planted_behind(&self, number: u64) -> Option<u64> {
        number.is_multiple_of(self.plant_every).then_some(number / self.plant_every)
    }

    /// How many unreadable records come with so many changes.
    pub(super) fn planted_within(&self, changes: u64) -> u64 {
        changes / self.plant_every
    }

    /// The unreadable record of this number.
    pub(super) fn planted(&self, number: u64) -> Outgoing {
        let change = self.change(number.saturating_mul(self.plant_every));
        let good = change.document();
        let value = match number % 8 {
            0 => good.split("<total").next().map(|cut| cut.as_bytes().to_vec()),
            1 => Some(good.replace("total", "sum").into_bytes()),
            2 => Some(good.replace(&change.total(), "a lot").into_bytes()),
            3 => None,
            4 => Some([b"\xff\xfd\x00", good.as_bytes()].concat()),
            5 => Some(format!("{{\"order\": \"{}\"}}", change.id()).into_bytes()),
            6 => Some(good.replace("urn:shop:1", "urn:shop:2").into_bytes()),
            _ => Some(good.replace(&change.total(), "12345678901.00").into_bytes()),
        };
        let headers = vec![(PLANTED_HEADER.to_owned(), Some(Bytes::from(number.to_string())))];
        let value = value.map(Bytes::from);
        Outgoing { to: Destination::Output(0), key: Some(change.key()), value, headers, timestamp_ms: None }
    }
}

impl Change {
    /// The order's name.
    pub(super) fn id(&self) -> String {
        format!("order-{:05}", self.order)
    }

    /// The record's key.
    pub(super) fn key(&self) -> Bytes {
        Bytes::from(self.id())
    }

    /// The customer's name, as the look-up finds it.
    pub(super) fn customer_name(&self) -> &'static str {
        self.customer.1
    }

    /// The total, with two digits behind the point.
    pub(super) fn total(&self) -> String {
        format!("{}.{:02}", self.cents / 100, self.cents % 100)
    }

    /// The record that the shop sends.
    pub(super) fn record(&self) -> Outgoing {
        let value = Some(Bytes::from(self.document()));
        Outgoing {
            to: Destination::Output(0),
            key: Some(self.key()),
            value,
            headers: Vec::new(),
            timestamp_ms: None,
        }
    }

    fn document(&self) -> String {
        self.write("/>")
    }

    /// The document that must come out, byte for byte.
    pub(super) fn enriched(&self) -> String {
        let (_, name, tier) = self.customer;
        let name = name.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        self.write(&format!("><name tier=\"{tier}\">{name}</name></customer>"))
    }

    fn write(&self, customer_end: &str) -> String {
        let (id, number, total) = (self.id(), self.number, self.total());
        let (hour, minute, second) = (number / 3600 % 24, number / 60 % 60, number % 60);
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <order xmlns=\"urn:shop:1\" id=\"{id}\" change=\"{number}\">\n  \
             <customer ref=\"{}\"{customer_end}\n  \
             <placedAt>2026-03-14T{hour:02}:{minute:02}:{second:02}</placedAt>\n  \
             <total currency=\"CHF\">{total}</total>\n  \
             <note>ring twice &amp; wait</note>\n\
             </order>\n",
            self.customer.0
        )
    }
}

/// The statement that fills the table of customers.
pub(super) fn insert_customers() -> String {
    let row =
        |(id, name, tier): &(u64, &str, &str)| format!("({id}, '{}', '{tier}')", name.replace('\'', "''"));
    let rows: Vec<String> = CUSTOMERS.iter().map(row).collect();
    format!("INSERT INTO customer (id, name, tier) VALUES\n    {};\n", rows.join(",\n    "))
}

/// The change's number as an output document carries it.
pub(super) fn number_in(document: &[u8]) -> Option<u64> {
    const BEFORE: &[u8] = b" change=\"";
    let at = document.windows(BEFORE.len()).position(|window| window == BEFORE)?;
    let digits = document.get(at + BEFORE.len()..)?.split(|byte| *byte == b'"').next()?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// A number that looks random, the same in each run (splitmix64).
fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
