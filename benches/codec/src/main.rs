//! Codec: what a bundle costs on its way to another process, by what timely uses now and by what it used once.
//!
//! In:        `cargo run --release --features abomonation --manifest-path benches/codec/Cargo.toml [-- BUNDLES [TURNS]]`;
//!            200000 and 5 where nothing is given
//! Out:       ns per bundle to write and to read, and bytes, of each codec; the ratio to bincode; the median of the turns, and
//!            their spread
//! Order:     codec by codec, turn by turn: whatever else the machine does meets all of them
//! Not here:  no sockets, no exchange
//!
//! timely writes what goes to another process by bincode. Before, it used abomonation, which copies memory as it lies and
//! reads it by correcting the pointers in place: fast, and unsound (RUSTSEC-2021-0120): padding is read, and what comes off a
//! wire is believed to be a value. It is measured on a twin of the bundle that is made of `Vec`s and `String`s, since it cannot
//! express shared bytes; its reading gives a reference into the buffer, where the others give a value of their own, and `read,
//! owned` has the copy in it that the gate would need to keep an event.

use bytes::Bytes;
use std::hint::black_box;
use std::time::Instant;
use tidegate::model::{Body, KeyGroup, Offset, Reading, Record, TopicPartition, Value};
use tidegate::operator::bundle::{Bundle, Part};

/// Codec, and per turn ns to write, ns to read and bytes.
type Line = (&'static str, Vec<[f64; 3]>);

fn main() {
    let given: Vec<u32> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let number = |place: usize, default: u32| given.get(place).copied().unwrap_or(default);
    let (bundles, turns) = (number(0, 200_000), number(1, 5));
    let mut lines: Vec<Line> = Vec::new();
    for _ in 0..turns {
        let mut put = |name, [write, read, bytes]: [f64; 3]| match lines.iter_mut().find(|line| line.0 == name) {
            Some(line) => line.1.push([write, read, bytes]),
            None => lines.push((name, vec![[write, read, bytes]])),
        };
        put("bincode, as timely does it", by_bincode(bundles));
        put("postcard", by_postcard(bundles));
        #[cfg(feature = "abomonation")]
        {
            put("abomonation (unsound), read in place", unsound::run(bundles, false));
            put("abomonation (unsound), read, owned", unsound::run(bundles, true));
        }
    }
    println!("{:40} {:>24} {:>24} {:>8} {:>18}", "codec", "write, ns", "read, ns", "bytes", "of bincode's time");
    let base = lines.first().map_or(f64::NAN, |line| median(&line.1, |t| t[0] + t[1]));
    for (name, turns) in &lines {
        let shown = |of: fn(&[f64; 3]) -> f64| {
            let values: Vec<f64> = turns.iter().map(of).collect();
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(0.0, f64::max);
            format!("{:.0} ({least:.0}..{most:.0})", median(turns, of))
        };
        let ratio = median(turns, |t| t[0] + t[1]) / base;
        println!("{name:40} {:>24} {:>24} {:>8.0} {ratio:>18.2}", shown(|t| t[0]), shown(|t| t[1]), median(turns, |t| t[2]));
    }
}

fn median(turns: &[[f64; 3]], of: fn(&[f64; 3]) -> f64) -> f64 {
    let mut values: Vec<f64> = turns.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn by_bincode(bundles: u32) -> [f64; 3] {
    let bundle = bundle();
    timed(
        bundles,
        |buffer| bincode::serialize_into(buffer, &bundle).expect("it is written"),
        |buffer| drop(black_box(bincode::deserialize::<Bundle>(buffer).expect("it is read"))),
    )
}

fn by_postcard(bundles: u32) -> [f64; 3] {
    let bundle = bundle();
    timed(
        bundles,
        |buffer| *buffer = postcard::to_extend(&bundle, std::mem::take(buffer)).expect("it is written"),
        |buffer| drop(black_box(postcard::from_bytes::<Bundle>(buffer).expect("it is read"))),
    )
}

/// Writes into one buffer that is used again, as timely does, and reads it.
fn timed(bundles: u32, mut write: impl FnMut(&mut Vec<u8>), mut read: impl FnMut(&mut [u8])) -> [f64; 3] {
    let mut buffer = Vec::new();
    let (mut written, mut was_read) = (0.0, 0.0);
    for _ in 0..bundles {
        buffer.clear();
        let begun = Instant::now();
        write(black_box(&mut buffer));
        written += begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        read(black_box(&mut buffer));
        was_read += begun.elapsed().as_secs_f64();
    }
    let ns = |seconds: f64| seconds * 1e9 / f64::from(bundles);
    [ns(written), ns(was_read), buffer.len() as f64]
}

fn values() -> Vec<Value> {
    vec![
        Value::Text("order-0000417".to_owned()),
        Value::Int(4711),
        Value::Text("1234.50".to_owned()),
        Value::Text("EUR".to_owned()),
    ]
}

/// A record of 1 KB with one event.
fn bundle() -> Bundle {
    let part = Part {
        index: 0,
        last_of_record: true,
        key_group: KeyGroup(7),
        key: Bytes::from_static(b"order-0000417"),
        body: Body::Readable(Reading { values: values(), ..Reading::default() }),
    };
    let record = Record {
        timestamp_ms: Some(1_700_000_000_000),
        key: Some(Bytes::from_static(b"order-0000417")),
        headers: Vec::new(),
        value: Some(Bytes::from(vec![b'x'; 1024])),
    };
    Bundle { at: TopicPartition { topic: 0, partition: 1 }, offset: Offset(42), record, parts: vec![part] }
}

#[cfg(feature = "abomonation")]
mod unsound {
    //! The twin of a bundle, and the codec that is gone.

    use super::timed;
    use abomonation::{Abomonation, decode, encode, unsafe_abomonate};
    use std::hint::black_box;

    #[derive(Clone)]
    struct Twin {
        topic: u16,
        partition: i32,
        offset: i64,
        timestamp_ms: Option<i64>,
        record_key: Option<Vec<u8>>,
        value: Option<Vec<u8>>,
        parts: Vec<TwinPart>,
    }

    #[derive(Clone)]
    struct TwinPart {
        index: u32,
        last_of_record: bool,
        key_group: u32,
        key: Vec<u8>,
        number: i64,
        texts: Vec<String>,
    }

    unsafe_abomonate!(Twin: topic, partition, offset, timestamp_ms, record_key, value, parts);
    unsafe_abomonate!(TwinPart: index, last_of_record, key_group, key, number, texts);

    pub(crate) fn run(bundles: u32, owned: bool) -> [f64; 3] {
        let twin = twin();
        timed(
            bundles,
            // SAFETY: none that would hold for a program: padding is written out as it lies. Here nobody looks at it.
            |buffer| unsafe { encode(&twin, buffer) }.expect("it is written"),
            |buffer| {
                // SAFETY: the buffer was written by this process a moment ago and not touched since; off a wire nobody
                // could say that.
                let (read, _rest) = unsafe { decode::<Twin>(buffer) }.expect("it is read");
                if owned { drop(black_box(read.clone())) } else { black_box(read.offset); }
            },
        )
    }

    fn twin() -> Twin {
        let key = b"order-0000417".to_vec();
        let texts = ["order-0000417", "1234.50", "EUR"].map(str::to_owned).to_vec();
        Twin {
            topic: 0,
            partition: 1,
            offset: 42,
            timestamp_ms: Some(1_700_000_000_000),
            record_key: Some(key.clone()),
            value: Some(vec![b'x'; 1024]),
            parts: vec![TwinPart { index: 0, last_of_record: true, key_group: 7, key, number: 4711, texts }],
        }
    }
}
