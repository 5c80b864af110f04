//! Conditions: the logic of three values, and what compares with what.

use super::*;
use crate::model::{Date, Decimal, Time};
use bytes::Bytes;
use proptest::prelude::*;

const A: ValueRef = ValueRef::Field(0);
const B: ValueRef = ValueRef::Field(1);

fn compare(left: Operand, by: Comparison, right: Operand) -> Condition {
    Condition::Compare { left, by, right }
}

/// `:a BY right`, of `a`.
fn of(a: &Value, by: Comparison, right: Operand) -> Option<bool> {
    truth(&compare(Operand::Value(A), by, right), &|_| a.clone())
}

/// `:a BY :b`
fn both(a: &Value, by: Comparison, b: &Value) -> Option<bool> {
    let condition = compare(Operand::Value(A), by, Operand::Value(B));
    truth(&condition, &|of| if *of == A { a.clone() } else { b.clone() })
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn decimal(text: &str) -> Value {
    Value::Decimal(Decimal::from_canonical(text).unwrap())
}

fn at(text: &str) -> Value {
    read_literal(&FieldType::Timestamp { zone: None }, text).unwrap()
}

const DATE: Value = Value::Date(Date { year: 2021, month: 2, day: 3 });
const TIME: Value = Value::Time(Time { hour: 4, minute: 5, second: 6, micros: 0 });

#[test]
fn numbers_compare_exactly_whatever_they_are() {
    let big = Value::UInt(u64::MAX);
    assert_eq!(both(&big, Comparison::Greater, &Value::Int(i64::MAX)), Some(true));
    assert_eq!(both(&big, Comparison::Less, &decimal("18446744073709551615.1")), Some(true));
    assert_eq!(both(&Value::Int(-1), Comparison::Less, &big), Some(true));
    assert_eq!(both(&decimal("1.50"), Comparison::Equal, &decimal("1.5")), Some(true));
    assert_eq!(both(&Value::Float(0.1), Comparison::Equal, &decimal("0.1")), Some(false));
    assert_eq!(both(&Value::Float(0.1), Comparison::Greater, &decimal("0.1")), Some(true));
    // One more than what a float can tell apart.
    let one_more = Value::Int(9_007_199_254_740_993);
    assert_eq!(both(&one_more, Comparison::Equal, &Value::Float(9_007_199_254_740_992.0)), Some(false));
    assert_eq!(of(&Value::Int(7), Comparison::GreaterOrEqual, Operand::Number("7.0".into())), Some(true));
    assert_eq!(of(&Value::Int(10), Comparison::Less, Operand::Number("9".into())), Some(false));
    assert_eq!(of(&text("10"), Comparison::Greater, Operand::Number("9".into())), Some(true));
    assert_eq!(of(&text("ten"), Comparison::Greater, Operand::Number("9".into())), None);
}

#[test]
fn text_compares_by_its_bytes() {
    let by = |left: &str, by, right: &str| of(&text(left), by, Operand::Text(right.to_owned()));
    assert_eq!(by("a", Comparison::Equal, "a"), Some(true));
    assert_eq!(by("a", Comparison::Equal, "A"), Some(false));
    assert_eq!(by("a", Comparison::Equal, "a "), Some(false));
    assert_eq!(by("10", Comparison::Less, "9"), Some(true));
    assert_eq!(by("Z", Comparison::Less, "a"), Some(true));
    assert_eq!(both(&Value::Bytes(Bytes::from_static(b"a")), Comparison::Equal, &text("a")), Some(true));
    assert_eq!(both(&Value::Bytes(Bytes::from_static(b"\xff")), Comparison::Greater, &text("ä")), Some(true));
}

#[test]
fn days_and_times_compare_with_their_kind_and_its_text() {
    let literal = |value: &Value, by, text: &str| of(value, by, Operand::Text(text.to_owned()));
    assert_eq!(literal(&DATE, Comparison::Equal, "2021-02-03"), Some(true));
    assert_eq!(literal(&DATE, Comparison::Greater, "2020-12-31"), Some(true));
    assert_eq!(literal(&DATE, Comparison::Equal, "3.2.2021"), None);
    assert_eq!(literal(&TIME, Comparison::Less, "04:05:06.000001"), Some(true));
    let instant = at("2021-02-03T04:05:06Z");
    assert_eq!(literal(&instant, Comparison::Equal, "2021-02-03T05:05:06+01:00"), Some(true));
    assert_eq!(literal(&instant, Comparison::Equal, "2021-02-03 04:05:06"), Some(true));
    assert_eq!(both(&instant, Comparison::Equal, &at("2021-02-03T04:05:06")), Some(true));
    assert_eq!(both(&instant, Comparison::Less, &at("2021-02-03T04:05:06.1")), Some(true));
    assert_eq!(both(&DATE, Comparison::Less, &instant), None);
    assert_eq!(both(&TIME, Comparison::Equal, &DATE), None);
}

#[test]
fn truth_values_are_also_what_databases_make_of_them() {
    let is = |value: &Value, truth| of(value, Comparison::Equal, Operand::Bool(truth));
    assert_eq!(is(&Value::Bool(true), true), Some(true));
    assert_eq!(is(&Value::Int(0), false), Some(true));
    assert_eq!(is(&Value::UInt(1), false), Some(false));
    assert_eq!(is(&Value::Int(2), true), None);
    assert_eq!(is(&text("true"), true), None);
    assert_eq!(both(&Value::Bool(true), Comparison::Equal, &Value::Int(1)), Some(true));
}

#[test]
fn null_is_unknown_and_unknown_does_not_hold() {
    let null = |by| of(&Value::Null, by, Operand::Number("1".into()));
    for by in [Comparison::Equal, Comparison::NotEqual, Comparison::Less, Comparison::GreaterOrEqual] {
        assert_eq!(null(by), None, "{by:?}");
        assert_eq!(both(&Value::Null, by, &Value::Null), None, "{by:?}");
    }
    assert_eq!(truth(&Condition::IsNull(A), &|_| Value::Null), Some(true));
    assert_eq!(truth(&Condition::IsNull(A), &|_| text("")), Some(false));
    let not = Condition::Not(Box::new(compare(Operand::Value(A), Comparison::Equal, Operand::Bool(true))));
    assert_eq!(truth(&not, &|_| Value::Null), None);
    assert!(!holds(&not, &|_| Value::Null));
}

#[test]
fn one_of_several() {
    let among =
        |value: &Value, among: Vec<Operand>| truth(&Condition::In { value: A, among }, &|_| value.clone());
    let texts = |texts: [&str; 2]| texts.map(|text| Operand::Text(text.to_owned())).to_vec();
    assert_eq!(among(&text("b"), texts(["a", "b"])), Some(true));
    assert_eq!(among(&text("c"), texts(["a", "b"])), Some(false));
    assert_eq!(among(&Value::Null, texts(["a", "b"])), None);
    assert_eq!(among(&DATE, texts(["x", "2021-02-03"])), Some(true));
    assert_eq!(among(&DATE, texts(["x", "2021-02-04"])), None);
    assert_eq!(among(&Value::Int(1), Vec::new()), Some(false));
}

/// A condition that is just this.
fn fixed(truth: Option<bool>) -> Condition {
    let left = Operand::Value(if truth.is_none() { B } else { A });
    let by = if truth == Some(false) { Comparison::NotEqual } else { Comparison::Equal };
    compare(left, by, Operand::Number("1".into()))
}

fn evaluated(condition: &Condition) -> Option<bool> {
    truth(condition, &|of| if *of == A { Value::Int(1) } else { Value::Null })
}

proptest! {
    #[test]
    fn and_or_and_not_are_those_of_sql(parts in proptest::collection::vec(proptest::option::of(any::<bool>()), 0..5)) {
        let conditions: Vec<Condition> = parts.iter().map(|part| fixed(*part)).collect();
        let all = if parts.contains(&Some(false)) { Some(false) } else if parts.contains(&None) { None } else { Some(true) };
        let one = if parts.contains(&Some(true)) { Some(true) } else if parts.contains(&None) { None } else { Some(false) };
        prop_assert_eq!(evaluated(&Condition::All(conditions.clone())), all);
        prop_assert_eq!(evaluated(&Condition::Any(conditions.clone())), one);
        let neither = Condition::Not(Box::new(Condition::Any(conditions)));
        prop_assert_eq!(evaluated(&neither), one.map(|one| !one));
    }

    #[test]
    fn a_comparison_and_its_opposite_never_both_hold(a in value(), b in value()) {
        for (by, opposite) in [
            (Comparison::Equal, Comparison::NotEqual),
            (Comparison::Less, Comparison::GreaterOrEqual),
            (Comparison::Greater, Comparison::LessOrEqual),
        ] {
            let (one, other) = (both(&a, by, &b), both(&a, opposite, &b));
            prop_assert_eq!(one.map(|one| !one), other);
            prop_assert_eq!(one.is_some(), both(&b, by, &a).is_some());
        }
        prop_assert_eq!(both(&a, Comparison::Less, &b), both(&b, Comparison::Greater, &a));
        prop_assert_eq!(both(&a, Comparison::Equal, &b), both(&b, Comparison::Equal, &a));
        if !matches!(a, Value::Null) {
            prop_assert_eq!(both(&a, Comparison::Equal, &a), Some(true));
        }
    }
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        "[a-c0-9.]{0,3}".prop_map(Value::Text),
        (-3_i64..3).prop_map(Value::Int),
        (0_u64..3).prop_map(Value::UInt),
        "-?[1-2]\\.[0-9]{1,2}".prop_map(|text| decimal(&text)),
        (-4_i8..4).prop_map(|quarters| Value::Float(f64::from(quarters) / 4.0)),
        any::<bool>().prop_map(Value::Bool),
        Just(DATE),
        Just(TIME),
        Just(at("2021-02-03T04:05:06Z")),
        Just(Value::Bytes(Bytes::from_static(b"a"))),
    ]
}
