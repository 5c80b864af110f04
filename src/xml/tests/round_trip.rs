//! Values out and in again: what `text_of` writes, the field's type reads back as the same value.

use super::*;
use crate::job::{DurationUnit, FieldReader, FieldRules, Presence};
use crate::model::{Date, Decimal, Time, Timestamp, Zone};
use crate::xml::{Shown, Template, text_of};
use bytes::Bytes;
use proptest::prelude::*;

fn date() -> impl Strategy<Value = Date> {
    (0..=9999_u16, 1..=12_u8, 1..=28_u8).prop_map(|(year, month, day)| Date { year, month, day })
}

fn timestamp() -> impl Strategy<Value = Timestamp> {
    let micros = prop_oneof![Just(0), 0..1_000_000_u32, (0..1000_u32).prop_map(|ms| ms * 1000)];
    let zone = prop_oneof![Just(Zone::Utc), Just(Zone::Local)];
    (date(), 0..24_u8, 0..60_u8, 0..60_u8, micros, zone).prop_map(
        |(date, hour, minute, second, micros, zone)| Timestamp { date, hour, minute, second, micros, zone },
    )
}

fn time() -> impl Strategy<Value = Time> {
    timestamp().prop_map(|at| at.time())
}

fn decimal_number() -> impl Strategy<Value = Decimal> {
    "-?(0|[1-9][0-9]{0,27})(\\.[0-9]{1,10})?"
        .prop_filter_map("canonical", |text| Decimal::from_canonical(&text))
}

fn xml_text() -> impl Strategy<Value = String> {
    any::<String>().prop_map(|text| text.replace(|c| !crate::xml::chars::is_xml_char(c), ""))
}

/// A type and a value of it.
fn typed() -> impl Strategy<Value = (FieldType, Value)> {
    prop_oneof![
        xml_text().prop_map(|text| (FieldType::Text, Value::Text(text))),
        any::<i64>().prop_map(|number| (FieldType::Int64, Value::Int(number))),
        any::<u64>().prop_map(|number| (FieldType::UInt64, Value::UInt(number))),
        decimal_number().prop_map(|number| (decimal(38, 10), Value::Decimal(number))),
        any::<bool>().prop_map(|truth| (FieldType::Bool, Value::Bool(truth))),
        date().prop_map(|date| (FieldType::Date, Value::Date(date))),
        timestamp().prop_map(|time| (FieldType::Timestamp { zone: None }, Value::Timestamp(time))),
        time().prop_map(|time| (FieldType::Time, Value::Time(time))),
        any::<f64>()
            .prop_filter("finite", |number| number.is_finite())
            .prop_map(|number| (FieldType::Float64, Value::Float(number))),
        "-?P[0-9]{1,9}Y[0-9]{1,3}M([0-9]{1,30}D)?(T[0-9]{1,5}(\\.[0-9]{1,9})?S)?"
            .prop_map(|text| (FieldType::Duration(DurationUnit::Text), Value::Text(text))),
        proptest::collection::vec(any::<u8>(), 1..40)
            .prop_map(|bytes| (FieldType::Base64, Value::Bytes(Bytes::from(bytes)))),
    ]
}

/// Every type once.
fn any_type() -> impl Strategy<Value = FieldType> {
    proptest::sample::select(vec![
        FieldType::Text,
        FieldType::Int64,
        FieldType::UInt64,
        decimal(10, 2),
        FieldType::Bool,
        FieldType::Date,
        FieldType::Timestamp { zone: None },
        FieldType::Timestamp { zone: Some("America/Sao_Paulo".into()) },
        FieldType::Base64,
        FieldType::Hex,
        FieldType::Float64,
        FieldType::Time,
        FieldType::Duration(DurationUnit::Text),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn what_is_written_is_read((of_type, value) in typed()) {
        let written = text_of(&value).unwrap();
        let job = Job::new().add(".", "n").add(".", "m");
        let decoded = job.decode("<r/>");
        let added = [
            Added { text: Some(written.clone()), attributes: Vec::new() },
            Added { text: None, attributes: vec![("a".into(), written)] },
        ];
        let output = splice(b"<r/>", &decoded.reading.marks, &added).unwrap();
        let read = Job::new().field("n", of_type.clone()).field("m/@a", of_type);
        let again = read.decode(&String::from_utf8(output).unwrap());
        prop_assert_eq!(again.reading.values, vec![value.clone(), value]);
    }

    #[test]
    fn any_text_for_any_type_gives_an_answer(
        of_type in any_type(),
        raw in prop_oneof![
            any::<String>(),
            "[-+]?[0-9.eE,]{0,30}",
            "[0-9]{4}-[0-1][0-9]-[0-3][0-9]([T ][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{0,9})?)?(Z|[-+][01][0-9]:[0-5][0-9])?",
            "[A-Za-z0-9+/= \n]{0,30}",
        ],
    ) {
        let reader = FieldReader::new(&of_type, &FieldRules::required()).unwrap();
        // What is read is told again as a text that reads the same.
        if let Ok(value) = reader.read(Presence::Text(&raw))
            && of_type != FieldType::Hex
        {
            let written = text_of(&value).unwrap();
            prop_assert_eq!(reader.read(Presence::Text(&written)).unwrap(), value);
        }
    }

    #[test]
    fn whole_numbers_are_those_of_arithmetic(number in any::<i128>(), small in -20_000_i128..20_000) {
        for number in [number, small, i128::from(i64::MAX) + small, i128::from(u64::MAX) + small, i128::from(i64::MIN) + small] {
            let reader = |of_type| FieldReader::new(&of_type, &FieldRules::required()).unwrap();
            let read = |of_type| reader(of_type).read(Presence::Text(&number.to_string())).ok();
            prop_assert_eq!(read(FieldType::Int64), i64::try_from(number).ok().map(Value::Int));
            prop_assert_eq!(read(FieldType::UInt64), u64::try_from(number).ok().map(Value::UInt));
        }
    }

    #[test]
    fn what_a_template_writes_is_read(raw in any::<String>()) {
        let template = Template::compile("t", "<r b=\"{{ v }}\" c='{{ v }}'>{{ v }}</r>").unwrap();
        let written = template.render(&[("v".to_owned(), Shown::Value(Value::Text(raw.clone())))]);
        if raw.chars().all(crate::xml::chars::is_xml_char) {
            let job = Job::new().field("@b", FieldType::Text).field("@c", FieldType::Text).field(".", FieldType::Text);
            let read = job.decode(&written.unwrap()).reading.values;
            prop_assert_eq!(read, vec![Value::Text(raw); 3]);
        } else {
            prop_assert!(written.unwrap_err().to_string().ends_with("XML cannot express"));
        }
    }
}
