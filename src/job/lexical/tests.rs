//! A field's rules as a whole: absent, nil and empty, white space, enumerations, defaults, and text that comes back.

use super::*;
use crate::model::{Date, Decimal, Time, Timestamp, Zone};
use proptest::prelude::*;

fn read(of_type: &FieldType, rules: &FieldRules, found: Presence<'_>) -> Result<Value, FieldFault> {
    FieldReader::new(of_type, rules).unwrap().read(found)
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[test]
fn absent_nil_and_empty_are_three_things() {
    let required = FieldRules::required();
    assert_eq!(read(&FieldType::Text, &required, Presence::Absent), Err(FieldFault::Absent));
    assert_eq!(read(&FieldType::Text, &required, Presence::Nil), Err(FieldFault::Nil));
    assert_eq!(read(&FieldType::Text, &required, Presence::Text("")), Ok(text("")));
    let empty = read(&FieldType::Int64, &required, Presence::Text(" "));
    assert_eq!(empty, Err(FieldFault::NotOfType("is empty, which only text can be".into())));

    let optional = FieldRules::optional();
    assert_eq!(read(&FieldType::Int64, &optional, Presence::Absent), Ok(Value::Null));
    assert_eq!(read(&FieldType::Int64, &optional, Presence::Nil), Ok(Value::Null));
    assert!(read(&FieldType::Int64, &optional, Presence::Text("")).is_err());
}

#[test]
fn each_gap_has_its_own_rule() {
    let gaps = [Gap::Reject, Gap::Null, Gap::Default];
    for (index, absent) in gaps.into_iter().enumerate() {
        let (nil, empty) = (gaps[(index + 1) % 3], gaps[(index + 2) % 3]);
        let default = Some(" 07 ".to_owned());
        let rules = FieldRules { absent, nil, empty, default, ..FieldRules::required() };
        for (found, gap, fault) in [
            (Presence::Absent, absent, FieldFault::Absent),
            (Presence::Nil, nil, FieldFault::Nil),
            (Presence::Text(" \n"), empty, FieldFault::Empty),
        ] {
            let expected = match gap {
                Gap::Reject => Err(fault),
                Gap::Null => Ok(Value::Null),
                _ => Ok(Value::Int(7)),
            };
            assert_eq!(read(&FieldType::Int64, &rules, found), expected, "{rules:?} {found:?}");
        }
        assert_eq!(read(&FieldType::Int64, &rules, Presence::Text("8")), Ok(Value::Int(8)));
    }
}

#[test]
fn empty_is_judged_behind_white_space() {
    let of = |white_space| FieldRules { empty: Gap::Null, white_space, ..FieldRules::required() };
    assert_eq!(read(&FieldType::Text, &of(WhiteSpace::Preserve), Presence::Text(" ")), Ok(text(" ")));
    assert_eq!(read(&FieldType::Text, &of(WhiteSpace::Collapse), Presence::Text(" ")), Ok(Value::Null));
    assert_eq!(read(&FieldType::Text, &of(WhiteSpace::Collapse), Presence::Text(" a\n b ")), Ok(text("a b")));
}

#[test]
fn enumerations() {
    let values = BTreeMap::from([("N".to_owned(), "1".to_owned()), ("U".to_owned(), "2".to_owned())]);
    let default = Some("0".to_owned());
    let rules = FieldRules { values, default, absent: Gap::Default, ..FieldRules::required() };
    assert_eq!(read(&FieldType::Int64, &rules, Presence::Text("\nU ")), Ok(Value::Int(2)));
    assert_eq!(read(&FieldType::Int64, &rules, Presence::Absent), Ok(Value::Int(0)));
    for other in ["u", "2", "X", ""] {
        let found = read(&FieldType::Int64, &rules, Presence::Text(other));
        let Err(FieldFault::NotOfType(why)) = found else { panic!("{other}") };
        assert!(why.contains("`values`"), "{other}: {why}");
    }
    let values = BTreeMap::from([("N".to_owned(), "new".to_owned())]);
    assert!(FieldReader::new(&FieldType::Int64, &FieldRules { values, ..FieldRules::required() }).is_err());
}

#[test]
fn text_of_so_many_characters() {
    let rules = FieldRules { chars_max: Some(3), ..FieldRules::required() };
    assert_eq!(read(&FieldType::Text, &rules, Presence::Text("äö😀")), Ok(text("äö😀")));
    let found = read(&FieldType::Text, &rules, Presence::Text("abcd"));
    assert_eq!(found, Err(FieldFault::NotOfType("has 4 characters; text(3) holds 3".into())));
}

#[test]
fn an_element_stays_byte_for_byte() {
    let element = " <a>\r\n</a>\t";
    assert_eq!(read(&FieldType::Xml, &FieldRules::optional(), Presence::Text(element)), Ok(text(element)));
    assert_eq!(read(&FieldType::Xml, &FieldRules::optional(), Presence::Absent), Ok(Value::Null));
}

#[test]
fn rules_that_cannot_be_carried_out() {
    let required = FieldRules::required();
    for (of_type, rules) in [
        (FieldType::Text, FieldRules { absent: Gap::Default, ..required.clone() }),
        (FieldType::Int64, FieldRules { default: Some("x".to_owned()), ..required.clone() }),
        (FieldType::Date, FieldRules { format: Some("%Y".to_owned()), ..required.clone() }),
        (FieldType::Timestamp { zone: Some("Nowhere".to_owned()) }, required.clone()),
        (FieldType::Decimal { precision: 2, scale: 3 }, required),
    ] {
        assert!(FieldReader::new(&of_type, &rules).is_err(), "{of_type:?} {rules:?}");
    }
}

fn date() -> impl Strategy<Value = Date> {
    (0..=9999_u16, 1..=12_u8, 1..=28_u8).prop_map(|(year, month, day)| Date { year, month, day })
}

fn time() -> impl Strategy<Value = Time> {
    let micros = prop_oneof![Just(0), 0..1_000_000_u32, (0..1000_u32).prop_map(|ms| ms * 1000)];
    (0..24_u8, 0..60_u8, 0..60_u8, micros).prop_map(|(hour, minute, second, micros)| Time {
        hour,
        minute,
        second,
        micros,
    })
}

/// A clock reading.
fn timestamp() -> impl Strategy<Value = Timestamp> {
    (date(), time()).prop_map(|(date, time)| {
        let Time { hour, minute, second, micros } = time;
        Timestamp { date, hour, minute, second, micros, zone: Zone::Local }
    })
}

fn civil(at: Timestamp) -> jiff::civil::DateTime {
    let small = |number: u8| i8::try_from(number).unwrap();
    let year = i16::try_from(at.date.year).unwrap();
    let date = jiff::civil::Date::new(year, small(at.date.month), small(at.date.day)).unwrap();
    let nanoseconds = i32::try_from(at.micros * 1000).unwrap();
    date.at(small(at.hour), small(at.minute), small(at.second), nanoseconds)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn formats_read_what_they_write(at in timestamp(), index in 0..5_usize) {
        // What each of these writes is whole, and to the microsecond.
        let formats =
            ["%Y%m%d%H%M%S%6f", "%d.%m.%Y %H:%M:%S%.6f", "%F %T%.f", "%b %d %Y %I:%M:%S%.f %p", "%Y-%j %H%M%S%.f"];
        let written = civil(at).strftime(formats[index]).to_string();
        let rules = FieldRules { format: Some(formats[index].to_owned()), ..FieldRules::required() };
        let found = read(&FieldType::Timestamp { zone: None }, &rules, Presence::Text(&written));
        prop_assert_eq!(found, Ok(Value::Timestamp(at)), "{}", written);
    }

    #[test]
    fn rounding_is_that_of_arithmetic(number in -99_999_999_i64..99_999_999, scale in 0..6_u8) {
        // Six digits behind the point, rounded to `scale`; in whole millionths, by division.
        let sign = if number < 0 { "-" } else { "" };
        let written = format!("{sign}{}.{:06}", number.abs() / 1_000_000, number.abs() % 1_000_000);
        let unit = 10_i64.pow(u32::from(6 - scale));
        let (down, rest) = (number.abs() / unit, number.abs() % unit);
        let half_up = down + i64::from(rest * 2 >= unit);
        let half_even = down + i64::from(rest * 2 > unit || (rest * 2 == unit && down % 2 == 1));
        for (round, expected) in [(Round::Down, down), (Round::HalfUp, half_up), (Round::HalfEven, half_even)] {
            let rules = FieldRules { round, ..FieldRules::required() };
            let of_type = FieldType::Decimal { precision: 10, scale };
            let Ok(Value::Decimal(found)) = read(&of_type, &rules, Presence::Text(&written)) else { panic!("{written}") };
            let digits: String = found.as_str().chars().filter(char::is_ascii_digit).collect();
            prop_assert_eq!(digits.parse::<i64>().unwrap(), expected, "{} to {} by {:?}", written, scale, round);
            prop_assert_eq!(found.as_str().starts_with('-'), number < 0 && expected != 0);
        }
    }

    #[test]
    fn any_text_gives_an_answer(raw in any::<String>(), index in 0..9_usize) {
        let of_type = [
            FieldType::Float64,
            FieldType::Time,
            FieldType::Duration(DurationUnit::Text),
            FieldType::Duration(DurationUnit::Seconds),
            FieldType::Duration(DurationUnit::Milliseconds),
            FieldType::Duration(DurationUnit::Months),
            FieldType::Text,
            FieldType::Json,
            FieldType::Xml,
        ][index].clone();
        let found = read(&of_type, &FieldRules::required(), Presence::Text(&raw));
        if let Err(FieldFault::NotOfType(why)) = found {
            prop_assert!(raw.len() < 8 || !why.contains(&raw), "a refusal quotes the text");
        }
    }

    #[test]
    fn any_format_gives_an_answer(format in "[%YmdHMSzfjs:. -]{0,12}", text in "[0-9:. +-]{0,20}") {
        for says in [Says::Date, Says::Time, Says::Timestamp] {
            if let Ok(format) = Format::new(&format, says) {
                // Neither may panic; what is read is a day and a time that exist.
                let date = format.date(&text).ok();
                let time = format.time(&text, Round::Never).ok();
                prop_assert!(date.is_none_or(|date| (1..=12).contains(&date.month)));
                prop_assert!(time.is_none_or(|time| time.hour < 24));
            }
        }
    }

    #[test]
    fn decimals_of_every_length(whole in "[1-9][0-9]{0,26}", fraction in "[0-9]{1,38}") {
        let written = format!("{whole}.{fraction}");
        let of_type = FieldType::Decimal { precision: 65, scale: 38 };
        let found = read(&of_type, &FieldRules::required(), Presence::Text(&written));
        prop_assert_eq!(found, Ok(Value::Decimal(Decimal::from_canonical(&written).unwrap())));
    }
}
