//! One event's content: its document as it goes in, the document as it must come out, and the values that the database
//! must hold. The output is written by the writer of the input, which puts the addition in as it passes the place.

use super::customers::{self, CUSTOMERS};
use super::plan::{Event, mix};
use std::fmt::Write;

/// How a document is written: the same order in four hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// Declared, prefix `s`, one element a line.
    Lines,
    /// Default namespace, all in one line, the customer an empty tag.
    OneLine,
    /// Another prefix for the same namespace, comments, CDATA, a nil note.
    Foreign,
    /// Default namespace, single quotes, a customer without content, no note.
    Bare,
}

/// An order.
pub struct Order {
    event: Event,
    random: u64,
    shape: Shape,
    pub id: String,
    pub customer: i64,
    total_cents: i64,
}

impl Order {
    pub fn new(seed: u64, event: Event) -> Order {
        let random = mix(seed.rotate_left(32) ^ u64::from(event.number));
        let shape = match random % 4 {
            0 => Shape::Lines,
            1 => Shape::OneLine,
            2 => Shape::Foreign,
            _ => Shape::Bare,
        };
        Order {
            event,
            random,
            shape,
            id: id_of_key(event.key),
            customer: ((random >> 8) % CUSTOMERS as u64) as i64,
            total_cents: ((random >> 20) % 2_000_000) as i64 - 100_000,
        }
    }

    /// The document that is sent.
    pub fn document(&self) -> String {
        self.write(false)
    }

    /// The document that must come out.
    pub fn enriched(&self) -> String {
        self.write(true)
    }

    /// `total` as `DECIMAL(12,2)` prints it.
    pub fn total(&self) -> String {
        let sign = if self.total_cents < 0 { "-" } else { "" };
        let cents = self.total_cents.abs();
        format!("{sign}{}.{:02}", cents / 100, cents % 100)
    }

    /// `placed_at` as `DATETIME(3)` prints it, in UTC.
    pub fn placed_at(&self) -> String {
        self.clock(0).replace('T', " ")
    }

    /// `note`, or NULL.
    pub fn note(&self) -> Option<String> {
        match self.shape {
            Shape::Lines => Some(format!("say \"{}\" & <thanks>", self.event.number)),
            Shape::OneLine => Some(format!("Grüße {}", self.event.sequence)),
            Shape::Foreign if self.random & 64 == 0 => Some("a < b && c > d".to_owned()),
            Shape::Foreign | Shape::Bare => None,
        }
    }

    /// A clock reading in January 2026, so many hours ahead of UTC.
    fn clock(&self, ahead_h: u64) -> String {
        let s = u64::from(self.event.number) + ahead_h * 3600;
        let (day, hour, minute, second) = (5 + s / 86_400, s / 3600 % 24, s / 60 % 60, s % 60);
        format!("2026-01-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}", self.random % 1000)
    }

    /// The same instant in three spellings; without a zone it is Zurich's winter time.
    fn placed_at_text(&self) -> String {
        match self.random / 4 % 3 {
            0 => format!("{}Z", self.clock(0)),
            1 => format!("{}+02:00", self.clock(2)),
            _ => self.clock(1),
        }
    }

    fn prefix(&self) -> &'static str {
        match self.shape {
            Shape::Lines => "s:",
            Shape::Foreign => "ord:",
            Shape::OneLine | Shape::Bare => "",
        }
    }

    /// What the job adds to the customer.
    fn addition(&self) -> String {
        let p = self.prefix();
        let name = customers::name(self.customer).replace('&', "&amp;").replace('<', "&lt;");
        let tier = customers::tier(self.customer).map_or(String::new(), |tier| {
            format!(" tier=\"{}\"", tier.replace('&', "&amp;").replace('"', "&quot;"))
        });
        format!("<{p}name{tier}>{name}</{p}name>")
    }

    fn write(&self, enriched: bool) -> String {
        let mut out = String::with_capacity(1200);
        let addition = if enriched { self.addition() } else { String::new() };
        let Order { id, customer, .. } = self;
        let Event { number, sequence, .. } = self.event;
        let (total, placed_at) = (self.total(), self.placed_at_text());
        match self.shape {
            Shape::Lines => write!(
                out,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<s:order xmlns:s=\"urn:shop:1\" id=\"{id}\" \
                 number=\"{number}\" sequence=\"{sequence}\">\n  <s:customer ref=\"{customer}\">\n    \
                 <s:email>a{customer}@example.org</s:email>\n  {addition}</s:customer>\n  \
                 <s:placedAt>{placed_at}</s:placedAt>\n  <s:total currency=\"CHF\">{total}</s:total>\n  \
                 <s:note>say \"{number}\" &amp; &lt;thanks&gt;</s:note>\n"
            ),
            Shape::OneLine => {
                let customer = if enriched {
                    format!("<customer ref=\"{customer}\">{addition}</customer>")
                } else {
                    format!("<customer ref=\"{customer}\"/>")
                };
                write!(
                    out,
                    "<order xmlns=\"urn:shop:1\" sequence=\"{sequence}\" id=\"{id}\" number=\"{number}\">{customer}\
                     <placedAt>{placed_at}</placedAt><total>{total}</total><note>Grüße {sequence}</note>"
                )
            }
            Shape::Foreign => {
                let note = if self.note().is_some() {
                    "<ord:note><![CDATA[a < b && c > d]]></ord:note>"
                } else {
                    "<ord:note xsi:nil=\"true\"/>"
                };
                write!(
                    out,
                    "<!-- <order id=\"none\"/> -->\n<ord:order number=\"{number}\" id=\"{id}\" \
                     xmlns:ord=\"urn:shop:1\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
                     sequence=\"{sequence}\"><customer xmlns=\"urn:other\" ref=\"999999\"/>\n\t<ord:customer \
                     ref=\"{customer}\"><![CDATA[</ord:customer>]]>{addition}</ord:customer>{note}\
                     <ord:placedAt>{placed_at}</ord:placedAt><!-- now the money --><ord:total>{total}</ord:total>"
                )
            }
            Shape::Bare => write!(
                out,
                "<order xmlns='urn:shop:1' id='{id}' number='{number}' sequence='{sequence}'>\n<total>{total}</total>\
                 <customer ref='{customer}'>{addition}</customer><placedAt>{placed_at}</placedAt>"
            ),
        }
        .expect("memory");
        self.write_lines(&mut out);
        out
    }

    /// The order's lines and its end: some 400 to 700 bytes that the job only passes on.
    fn write_lines(&self, out: &mut String) {
        let p = self.prefix();
        write!(out, "<{p}lines>").expect("memory");
        for line in 0..5 + (self.random >> 40) % 4 {
            let sku = mix(self.random ^ line);
            write!(
                out,
                "<{p}line sku=\"{sku:016x}\" qty=\"{}\"><{p}text>Ware &#x2116; {line}</{p}text></{p}line>",
                sku % 90
            )
            .expect("memory");
        }
        writeln!(out, "</{p}lines></{p}order>").expect("memory");
    }
}

/// The ordering key as it stands in the document.
pub fn id_of_key(key: u32) -> String {
    format!("K{key:06}")
}
