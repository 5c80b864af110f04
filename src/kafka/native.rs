//! The calls into librdkafka that `rdkafka` does not wrap, or wraps so that strange input would panic.
//!
//! In:        clients and messages that `rdkafka` owns
//! Out:       plain data, copied
//! Fails:     where there is nothing to give: `None`
//! Not here:  nothing that keeps a pointer: each call ends before its borrow does
#![allow(
    unsafe_code,
    reason = "calls of librdkafka that rdkafka does not wrap; this is the only file that may"
)]

use super::client::{ProducerClient, ReadingClient};
use crate::model::Headers;
use bytes::Bytes;
use rdkafka::bindings as sys;
use rdkafka::consumer::Consumer;
use rdkafka::error::RDKafkaErrorCode;
use rdkafka::message::BorrowedMessage;
use rdkafka::producer::Producer;
use rdkafka::topic_partition_list::TopicPartitionList;
use std::ffi::{CStr, CString, c_char, c_void};
use std::time::Duration;

/// Makes the client send what is queued now, without waiting for `linger.ms`, for a millisecond: what becomes ready within that
/// time (a partition that was added to the transaction) is sent, too. Waits that long where anything is left.
pub(super) fn send_now(producer: &ProducerClient) {
    const MILLISECONDS: i32 = 1;
    // SAFETY: the pointer is that of a live client, kept by the borrow; the call sets a flag, wakes the client's threads,
    // waits and clears the flag; it takes nothing and keeps nothing.
    let _not_yet_empty = unsafe { sys::rd_kafka_flush(producer.client().native_ptr(), MILLISECONDS) };
}

/// The end of a partition as the last fetch told it, without asking a broker.
pub(super) fn known_end(consumer: &ReadingClient, topic: &str, partition: i32) -> Option<i64> {
    let topic = CString::new(topic).ok()?;
    let (mut low, mut high) = (-1_i64, -1_i64);
    // SAFETY: the client is live, kept by the borrow; the name is a C string that outlives the call; both outputs are
    // valid for writes. The call only copies two numbers under the client's own lock.
    let result = unsafe {
        sys::rd_kafka_get_watermark_offsets(
            consumer.client().native_ptr(),
            topic.as_ptr(),
            partition,
            &raw mut low,
            &raw mut high,
        )
    };
    (result == sys::rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR_NO_ERROR && high >= 0).then_some(high)
}

/// Commits positions to the consumer's group and waits for the answer; `None`: none came in time. Neither of `rdkafka`'s
/// two ways will do: the synchronous one waits without end, the asynchronous one is never heard of again.
pub(super) fn commit(
    consumer: &ReadingClient,
    positions: &TopicPartitionList,
    wait: Duration,
) -> Option<Result<(), RDKafkaErrorCode>> {
    let wait_ms = i32::try_from(wait.as_millis()).unwrap_or(i32::MAX);
    let client = consumer.client().native_ptr();
    // SAFETY: the client is live, kept by the borrow, and so outlives the queue, which is destroyed below on every
    // path. The list is only read. Without a callback the answer comes to the queue as an event of its own; an answer
    // that comes later finds the queue gone and is dropped by the client.
    unsafe {
        let queue = sys::rd_kafka_queue_new(client);
        let sent = sys::rd_kafka_commit_queue(client, positions.ptr(), queue, None, std::ptr::null_mut());
        if sent != sys::rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR_NO_ERROR {
            sys::rd_kafka_queue_destroy(queue);
            return Some(Err(sent.into()));
        }
        let event = sys::rd_kafka_queue_poll(queue, wait_ms);
        let outcome = (!event.is_null()).then(|| committed(event));
        if !event.is_null() {
            sys::rd_kafka_event_destroy(event);
        }
        sys::rd_kafka_queue_destroy(queue);
        outcome
    }
}

/// The outcome in an answer to a commit: of the whole, or the first partition's that failed.
fn committed(event: *mut sys::rd_kafka_event_t) -> Result<(), RDKafkaErrorCode> {
    let fine = sys::rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR_NO_ERROR;
    // SAFETY: the event is live: the caller destroys it after this call. The list is the event's own; librdkafka says
    // how many entries stand in it.
    let (whole, entries) = unsafe {
        let list = sys::rd_kafka_event_topic_partition_list(event);
        let entries = match list.as_ref() {
            Some(list) if !list.elems.is_null() => {
                std::slice::from_raw_parts(list.elems, usize::try_from(list.cnt).unwrap_or(0))
            }
            _ => &[],
        };
        (sys::rd_kafka_event_error(event), entries)
    };
    let failed =
        std::iter::once(whole).chain(entries.iter().map(|entry| entry.err)).find(|code| *code != fine);
    failed.map_or(Ok(()), |code| Err(code.into()))
}

/// A topic's id, as one number; `None`: the broker knows no such topic, or does not tell.
pub(super) type TopicId = (String, Option<u128>);

/// Asks for the ids of topics and waits for the answer; `None`: none came in time.
pub(super) fn topic_ids(
    consumer: &ReadingClient,
    topics: &[String],
    wait: Duration,
) -> Option<Result<Vec<TopicId>, RDKafkaErrorCode>> {
    let wait_ms = i32::try_from(wait.as_millis()).unwrap_or(i32::MAX).max(1);
    let client = consumer.client().native_ptr();
    let names: Vec<CString> = topics.iter().filter_map(|topic| CString::new(topic.as_str()).ok()).collect();
    let mut pointers: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
    // SAFETY: the client is live, kept by the borrow, and so outlives everything made here, all of which is destroyed
    // below on every path. The names outlive the calls, which copy them. The answer comes to the queue as an event of
    // its own; one that comes later finds the queue gone and is dropped by the client. A time-out that is refused leaves
    // the default of a minute, and the wait below is bounded all the same.
    unsafe {
        let wanted = sys::rd_kafka_TopicCollection_of_topic_names(pointers.as_mut_ptr(), pointers.len());
        let describe = sys::rd_kafka_admin_op_t::RD_KAFKA_ADMIN_OP_DESCRIBETOPICS;
        let options = sys::rd_kafka_AdminOptions_new(client, describe);
        let _refused =
            sys::rd_kafka_AdminOptions_set_request_timeout(options, wait_ms, std::ptr::null_mut(), 0);
        let queue = sys::rd_kafka_queue_new(client);
        sys::rd_kafka_DescribeTopics(client, wanted, options, queue);
        let event = sys::rd_kafka_queue_poll(queue, wait_ms);
        let answer = (!event.is_null()).then(|| described(event));
        if !event.is_null() {
            sys::rd_kafka_event_destroy(event);
        }
        sys::rd_kafka_queue_destroy(queue);
        sys::rd_kafka_AdminOptions_destroy(options);
        sys::rd_kafka_TopicCollection_destroy(wanted);
        answer
    }
}

/// Names and ids in an answer to the question for topics.
fn described(event: *mut sys::rd_kafka_event_t) -> Result<Vec<TopicId>, RDKafkaErrorCode> {
    // SAFETY: the event is live: the caller destroys it after this call.
    let whole = unsafe { sys::rd_kafka_event_error(event) };
    if whole != sys::rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR_NO_ERROR {
        return Err(whole.into());
    }
    // SAFETY: as above; an event of another kind gives null. The list and its entries are the event's own, librdkafka
    // says how many there are, and everything is copied before this returns.
    unsafe {
        let result = sys::rd_kafka_event_DescribeTopics_result(event);
        let mut count = 0_usize;
        let list = if result.is_null() {
            std::ptr::null_mut()
        } else {
            sys::rd_kafka_DescribeTopics_result_topics(result, &raw mut count)
        };
        if list.is_null() {
            return Ok(Vec::new());
        }
        Ok(std::slice::from_raw_parts(list, count).iter().filter_map(|topic| named_id(*topic)).collect())
    }
}

fn named_id(topic: *const sys::rd_kafka_TopicDescription_t) -> Option<TopicId> {
    // SAFETY: the description is live, kept by the event of the caller; its name ends with a zero byte, name and id live
    // in it and are copied here. Null ids and names are looked for.
    unsafe {
        let name = sys::rd_kafka_TopicDescription_name(topic);
        if name.is_null() {
            return None;
        }
        let name = CStr::from_ptr(name).to_string_lossy().into_owned();
        let error = sys::rd_kafka_error_code(sys::rd_kafka_TopicDescription_error(topic));
        let id = sys::rd_kafka_TopicDescription_topic_id(topic);
        if id.is_null() || error != sys::rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR_NO_ERROR {
            return Some((name, None));
        }
        let most = sys::rd_kafka_Uuid_most_significant_bits(id).to_be_bytes();
        let least = sys::rd_kafka_Uuid_least_significant_bits(id).to_be_bytes();
        let number = u128::from(u64::from_be_bytes(most)) << 64 | u128::from(u64::from_be_bytes(least));
        Some((name, Some(number)))
    }
}

/// All headers of a message, copied, in order, null values kept. A name that is not UTF-8 is read with replacement
/// characters: `rdkafka`'s own reading would panic, and one such record would stop the job for ever.
pub(super) fn headers(message: &BorrowedMessage<'_>) -> Headers {
    let mut native = std::ptr::null_mut();
    // SAFETY: the message is live, kept by the borrow; the output is valid for a write. The list belongs to the message.
    let result = unsafe { sys::rd_kafka_message_headers(message.ptr(), &raw mut native) };
    if result != sys::rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR_NO_ERROR || native.is_null() {
        return Headers::new();
    }
    // SAFETY: `native` is the message's own list, which lives as long as the message.
    let count = unsafe { sys::rd_kafka_header_cnt(native) };
    (0..count).map_while(|index| header(native, index)).collect()
}

fn header(native: *mut sys::rd_kafka_headers_t, index: usize) -> Option<(String, Option<Bytes>)> {
    let mut name: *const c_char = std::ptr::null();
    let mut value: *const c_void = std::ptr::null();
    let mut value_bytes = 0_usize;
    // SAFETY: the list is live (the caller holds its message); the three outputs are valid for writes. An index beyond
    // the end gives an error and writes nothing.
    let result = unsafe {
        sys::rd_kafka_header_get_all(native, index, &raw mut name, &raw mut value, &raw mut value_bytes)
    };
    if result != sys::rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR_NO_ERROR || name.is_null() {
        return None;
    }
    // SAFETY: librdkafka ends each name with a zero byte; it lives in the list.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
    let value = (!value.is_null()).then(|| {
        // SAFETY: librdkafka says that so many bytes stand there; they live in the list and are copied here.
        Bytes::copy_from_slice(unsafe { std::slice::from_raw_parts(value.cast::<u8>(), value_bytes) })
    });
    Some((name, value))
}

/// librdkafka's name of a code, as `MSG_SIZE_TOO_LARGE` or `_ALL_BROKERS_DOWN`.
pub(super) fn code_name(code: RDKafkaErrorCode) -> String {
    named_codes()
        .into_iter()
        .find_map(|(known, name)| (known == code).then_some(name))
        .unwrap_or_else(|| format!("{code:?}"))
}

/// All codes that librdkafka knows, with their names.
pub(super) fn named_codes() -> Vec<(RDKafkaErrorCode, String)> {
    numbered_codes().into_iter().map(|(_, code, name)| (code, name)).collect()
}

/// The same, each with its number.
#[allow(clippy::as_conversions, reason = "an enum of C: its number has no other way out")]
pub(super) fn numbered_codes() -> Vec<(i32, RDKafkaErrorCode, String)> {
    let mut descriptions: *const sys::rd_kafka_err_desc = std::ptr::null();
    let mut count = 0_usize;
    // SAFETY: both outputs are valid for writes; the table is static in the library.
    unsafe { sys::rd_kafka_get_err_descs(&raw mut descriptions, &raw mut count) };
    if descriptions.is_null() {
        return Vec::new();
    }
    // SAFETY: librdkafka says that so many entries stand in its static table.
    let table = unsafe { std::slice::from_raw_parts(descriptions, count) };
    table
        .iter()
        .filter(|entry| !entry.name.is_null() && !entry.desc.is_null())
        // SAFETY: names in the static table end with a zero byte.
        .map(|entry| {
            (
                entry.code as i32,
                entry.code.into(),
                unsafe { CStr::from_ptr(entry.name) }.to_string_lossy().into_owned(),
            )
        })
        .collect()
}
