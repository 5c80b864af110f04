//! The table of codes.

use super::super::classes::meaning;
use super::super::{LogError, LogErrorClass, native};
use rdkafka::error::RDKafkaErrorCode as C;

#[test]
fn codes_ask_for_what_they_should() {
    use LogErrorClass as L;
    let expected = [
        (C::AllBrokersDown, L::Outage, "_ALL_BROKERS_DOWN"),
        (C::OperationTimedOut, L::Outage, "_TIMED_OUT"),
        (C::NotEnoughReplicas, L::Outage, "NOT_ENOUGH_REPLICAS"),
        (C::MessageSizeTooLarge, L::TooLarge, "MSG_SIZE_TOO_LARGE"),
        (C::Fenced, L::Fenced, "_FENCED"),
        (C::InvalidProducerEpoch, L::Fenced, "INVALID_PRODUCER_EPOCH"),
        (C::AutoOffsetReset, L::PositionGone, "_AUTO_OFFSET_RESET"),
        (C::UnknownTopicOrPartition, L::Misconfigured, "UNKNOWN_TOPIC_OR_PART"),
        (C::UnknownMemberId, L::Misconfigured, "UNKNOWN_MEMBER_ID"),
        (C::TopicAuthorizationFailed, L::Rights, "TOPIC_AUTHORIZATION_FAILED"),
        (C::Authentication, L::Rights, "_AUTHENTICATION"),
        (C::Unknown, L::Unknown, "UNKNOWN"),
    ];
    for (code, class, name) in expected {
        assert_eq!(meaning(code).0, class, "{code:?}");
        assert_eq!(native::code_name(code), name);
    }
}

/// Every code of this librdkafka is decided on purpose: a code that a new version adds makes this test fail.
#[test]
fn codes_without_a_class_are_known_by_name() {
    let unknown: Vec<String> = native::named_codes()
        .into_iter()
        .filter(|(code, _)| meaning(*code).0 == LogErrorClass::Unknown)
        .map(|(_, name)| name)
        .collect();
    insta::assert_snapshot!(unknown.join(" "));
}

#[test]
fn an_error_says_what_was_done_and_what_was_said() {
    let error = LogError::by_code("sending record 3 to `out`", C::MessageSizeTooLarge, None);
    insta::assert_snapshot!(error.message, @"sending record 3 to `out`: a record is over a size limit: message.max.bytes of the client, max.message.bytes of the topic, or the broker's (MSG_SIZE_TOO_LARGE)");
    let error = LogError::by_code("committing", C::Fenced, Some("Producer fenced by newer instance"));
    insta::assert_snapshot!(error.message, @"committing: the producer is fenced: a newer one has its transactional id, or a transaction outlived its time-out (_FENCED: Producer fenced by newer instance)");
}
