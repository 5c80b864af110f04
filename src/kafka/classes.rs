//! The table of the broker's and the client's error codes: what each asks for, and a sentence for a person.
//!
//! In:        a code of librdkafka, or an error of `rdkafka`
//! Out:       [`LogErrorClass`], a sentence, a [`LogError`]
//! Fails:     a code that the table does not name is [`LogErrorClass::Unknown`]: an outage with an alarm, never a skip
//! Not here:  whether a transaction can be aborted or is lost: the error's own flags say that (writer)

use super::{LogError, LogErrorClass, native};
use crate::model::TopicPartition;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::types::RDKafkaConfRes;
use std::fmt::Display;

/// An error code of the broker or its client, as the table has it.
#[derive(Clone, Debug)]
pub struct KnownCode {
    /// The protocol's number; negative: the client's own.
    pub number: i32,
    /// librdkafka's name.
    pub name: String,
    /// What it asks for.
    pub class: LogErrorClass,
    /// What it means, as a sentence's second half.
    pub sentence: &'static str,
    /// What a person does about it.
    pub advice: &'static str,
    /// A test provokes it on a real broker; else its class is believed.
    pub seen: bool,
}

/// What is known of some codes.
struct Known {
    codes: &'static [(RDKafkaErrorCode, bool)],
    class: LogErrorClass,
    sentence: &'static str,
    advice: &'static str,
}

fn known(code: RDKafkaErrorCode) -> Option<(&'static Known, bool)> {
    TABLE.iter().find_map(|row| {
        let (_, seen) = row.codes.iter().find(|(of, _)| *of == code)?;
        Some((row, *seen))
    })
}

/// What a code asks for, and what it says, as a sentence's second half.
pub(super) fn meaning(code: RDKafkaErrorCode) -> (LogErrorClass, &'static str) {
    known(code).map_or(
        (LogErrorClass::Unknown, "the broker or its client gave a code that Tidegate does not know"),
        |(row, _)| (row.class, row.sentence),
    )
}

/// The table, code by code, by number. Codes that it does not name are left out.
pub fn codes() -> Vec<KnownCode> {
    let mut codes: Vec<KnownCode> = native::numbered_codes()
        .into_iter()
        .filter_map(|(number, code, name)| {
            let (row, seen) = known(code)?;
            let Known { class, sentence, advice, .. } = *row;
            Some(KnownCode { number, name, class, sentence, advice, seen })
        })
        .collect();
    codes.sort_by_key(|code| code.number);
    codes
}

/// `Class [Code seen, ...] "sentence" => "advice";`, `seen` where a test provokes the code.
macro_rules! table {
    ($($class:ident [$($code:ident $($seen:ident)?),+ $(,)?] $sentence:literal => $advice:literal;)+) => {
        &[$(Known {
            codes: &[$((RDKafkaErrorCode::$code, !stringify!($($seen)?).is_empty())),+],
            class: LogErrorClass::$class,
            sentence: $sentence,
            advice: $advice,
        }),+]
    };
}

const TABLE: &[Known] = table! {
    Outage [InvalidReplicationFactor]
        "fewer brokers take part at the moment than the new topic is to have replicas: the job asks for no more than there are"
        => "nothing while brokers start; else see which of them the controller has fenced, or create the progress topic by hand";
    Outage [BrokerTransportFailure seen, NetworkException]
        "the connection to the broker failed"
        => "bring the broker back; where it stays: source.bootstrap_servers, advertised.listeners, a firewall";
    Outage [AllBrokersDown]
        "no broker can be reached"
        => "bring the brokers back; where it stays: source.bootstrap_servers";
    Outage [Resolve]
        "a broker's host name could not be resolved"
        => "see source.bootstrap_servers, and the name service";
    Outage [OperationTimedOut seen, RequestTimedOut, TimedOutQueue]
        "the broker did not answer in time"
        => "bring it back, or see why it is slow";
    Outage [MessageTimedOut]
        "a record could not be delivered in time"
        => "bring the broker back, or see why it is slow";
    Outage [SSL]
        "the TLS connection failed"
        => "see source.client (ssl.*), and whether the listener speaks TLS";
    Outage [BrokerNotAvailable, BrokerDestroy, DestroyBroker, UnknownBroker]
        "the broker is not available"
        => "bring it back";
    Outage [
        LeaderNotAvailable, NotLeaderForPartition, ReplicaNotAvailable, FencedLeaderEpoch, UnknownLeaderEpoch,
        OffsetNotAvailable, PreferredLeaderNotAvailable, EligibleLeadersNotAvailable, ListenerNotFound,
    ]
        "the partition has no leader at the moment"
        => "nothing during an election; where it stays, bring the partition's brokers back";
    Outage [
        WaitingForCoordinator, CoordinatorLoadInProgress, CoordinatorNotAvailable, NotCoordinator,
        TransactionCoordinatorFenced,
    ]
        "the coordinator is not available at the moment"
        => "nothing; where it stays, see the replicas of __transaction_state and __consumer_offsets";
    Outage [ConcurrentTransactions]
        "a transaction before this one is not finished yet"
        => "nothing; where it stays, read decision 0010 before you end a transaction by hand";
    Outage [NotEnoughReplicas, NotEnoughReplicasAfterAppend, ISRInsufficient]
        "too few replicas of the partition are in sync"
        => "bring the other brokers back, or see min.insync.replicas of the topic";
    Outage [KafkaStorageError, LogDirNotFound]
        "the broker cannot use its disk"
        => "make room on the broker's disk, or repair it";
    Outage [ThrottlingQuotaExceeded]
        "the broker's quota is used up"
        => "raise the quota of the account or the client";
    Outage [UnstableOffsetCommit]
        "a commit of the group's offsets is not finished yet"
        => "nothing";
    Outage [NotController, StaleControllerEpoch, StaleBrokerEpoch, OperationNotAttempted]
        "the cluster is changing its controller"
        => "nothing; where it stays, see the controllers' quorum";
    Outage [InProgress, PreviousInProgress, Retry, WaitCache, Outdated, Interrupted]
        "the client is busy with an earlier call"
        => "nothing";
    Outage [QueueFull]
        "the client's queue is full: the broker takes records too slowly"
        => "see why the broker is slow";
    Outage [PurgeQueue, PurgeInflight]
        "the record was given up before the broker had confirmed it"
        => "nothing: it is sent again";
    Outage [CriticalSystemResource]
        "the process lacks threads or memory for a broker client"
        => "give the process more of them";
    Outage [FetchSessionIdNotFound, InvalidFetchSessionEpoch, RebootstrapRequired]
        "the broker has forgotten the connection's session"
        => "nothing";
    // After these a new producer begins anew; nothing of the transaction was committed, or its outcome is asked.
    Outage [OutOfOrderSequenceNumber, DuplicateSequenceNumber, GaplessGuarantee]
        "the producer's numbering of records has a gap"
        => "nothing: a new producer begins anew";
    Outage [UnknownProducerId, InvalidProducerIdMapping]
        "the broker has forgotten the producer"
        => "nothing: a new producer begins anew";
    Outage [InvalidTransactionalState, State, Fatal]
        "the transaction is not in a state to go on"
        => "nothing: a new producer begins anew";
    Outage [Inconsistent]
        "not every record was delivered"
        => "nothing; where it stays, see that the topics of the job exist";

    Rights [TopicAuthorizationFailed seen]
        "the account may not use this topic"
        => "allow Read and Describe on inputs, Write and Describe on what the job sends to, both on the progress topic";
    Rights [GroupAuthorizationFailed seen]
        "the account may not use this consumer group"
        => "allow Read and Describe on the group source.group_id";
    Rights [ClusterAuthorizationFailed]
        "the account may not do this on the cluster"
        => "allow IdempotentWrite (before Kafka 2.8), and Create for the progress topic, or create it";
    Rights [TransactionalIdAuthorizationFailed seen]
        "the account may not use this transactional id"
        => "allow Write and Describe on the ids that begin with the job's name and a hyphen";
    Rights [Authentication seen, SaslAuthenticationFailed]
        "the broker refused the credentials"
        => "see source.client (sasl.*)";
    Rights [UnsupportedSASLMechanism, IllegalSASLState]
        "the broker refused the way of logging in"
        => "see source.client (sasl.mechanism, security.protocol)";
    Rights [SecurityDisabled]
        "the broker has no authorizer"
        => "nothing that this job needs asks for one: report it";
    Rights [
        DelegationTokenAuthDisabled, DelegationTokenNotFound, DelegationTokenOwnerMismatch,
        DelegationTokenRequestNotAllowed, DelegationTokenAuthorizationFailed, DelegationTokenExpired,
    ]
        "the delegation token was refused"
        => "renew the token";

    Misconfigured [UnknownTopic, UnknownTopicOrPartition seen, UnknownTopicId]
        "the topic does not exist"
        => "create it, or mend the job file";
    Misconfigured [UnknownPartition]
        "the partition does not exist"
        => "see whether the topic was made anew with fewer partitions";
    Misconfigured [InvalidTopic seen]
        "the topic's name is not allowed, or it is one of the broker's own"
        => "mend the job file";
    Misconfigured [InvalidPartitions, InvalidReplicaAssignment]
        "the cluster cannot have a topic with so many partitions or replicas"
        => "create the progress topic by hand: one partition, compacted";
    Misconfigured [InvalidConfig]
        "the topic's configuration does not allow it"
        => "see the topic's configuration";
    Misconfigured [PolicyViolation]
        "a policy of the cluster refuses it"
        => "create the progress topic by hand: one partition, compacted";
    Misconfigured [InvalidTransactionTimeout seen]
        "the broker allows no transaction time-out as long as transaction.timeout.ms (see its transaction.max.timeout.ms)"
        => "raise transaction.max.timeout.ms of the broker to 60 s at least";
    Misconfigured [InvalidTimestamp]
        "a record's timestamp is too far from the broker's clock for this topic"
        => "widen message.timestamp.before.max.ms and message.timestamp.after.max.ms of the topic";
    Misconfigured [InvalidRecord seen]
        "the topic refuses the record (a compacted topic takes none without a key)"
        => "give output.key, or a topic that is not compacted";
    Misconfigured [UnsupportedCompressionType, BadCompression]
        "the compression is not supported by both sides"
        => "see compression.type in source.client and on the topic";
    Misconfigured [UnsupportedVersion, UnsupportedFeature, UnsupportedForMessageFormat]
        "the broker is too old for it"
        => "a broker with transactions: 0.11 or newer";
    Misconfigured [UnknownGroup, InvalidGroupId]
        "the consumer group's name is not allowed"
        => "mend source.group_id";
    Misconfigured [
        UnknownMemberId seen, IllegalGeneration, RebalanceInProgress, FencedInstanceId, FencedMemberEpoch,
        StaleMemberEpoch,
    ]
        "somebody has subscribed with this consumer group, and while the group has members only they may commit"
        => "give the other consumer another group, or this job another source.group_id";
    Misconfigured [InvalidArgument, NotConfigured, InvalidRequest, InvalidRequiredAcks]
        "a setting is not accepted"
        => "see source.client";
    Misconfigured [NotImplemented]
        "the client was built without it"
        => "build with the feature `tls`, or leave the option out";

    TooLarge [MessageSizeTooLarge seen, InvalidMessageSize, MessageBatchTooLarge]
        "a record is over a size limit: message.max.bytes of the client, max.message.bytes of the topic, or the broker's"
        => "raise max.message.bytes of the topic; the output is stored, and is sent at the next start";
    Fenced [Fenced seen, ProducerFenced, InvalidProducerEpoch]
        "the producer is fenced: a newer one has its transactional id, or a transaction outlived its time-out"
        => "nothing: where another instance runs, this one ends";
    PositionGone [AutoOffsetReset seen, OffsetOutOfRange, NoOffset, LogTruncation]
        "the log does not have this position"
        => "`tidegate offsets show` and `offsets reset`: records were deleted before they were read, or the topic was made anew";
};

impl LogError {
    /// An error that no broker named.
    pub(super) fn of(class: LogErrorClass, message: impl Into<String>) -> LogError {
        LogError { class, code: None, message: message.into(), at: None }
    }

    /// An error by its code; `said` is the client's own text, where it says more than the code.
    pub(super) fn by_code(doing: impl Display, code: RDKafkaErrorCode, said: Option<&str>) -> LogError {
        let (class, sentence) = meaning(code);
        let name = native::code_name(code);
        let said = said.map(|text| format!(": {text}")).unwrap_or_default();
        LogError { class, message: format!("{doing}: {sentence} ({name}{said})"), code: Some(name), at: None }
    }

    /// An error of `rdkafka`.
    pub(super) fn by(doing: impl Display, error: &KafkaError) -> LogError {
        match error {
            KafkaError::Transaction(inner) => {
                LogError::by_code(doing, inner.code(), Some(inner.string().as_str()))
            }
            // Neither the value nor librdkafka's text, which quotes it: it may be a secret.
            KafkaError::ClientConfig(result, _, option, _) => LogError::of(
                LogErrorClass::Misconfigured,
                match result {
                    RDKafkaConfRes::RD_KAFKA_CONF_UNKNOWN => {
                        format!("{doing}: the client does not know the option `{option}`: remove it")
                    }
                    _ => format!(
                        "{doing}: the client refuses the value of the option `{option}` (it is not shown, as it may be a secret): see librdkafka's CONFIGURATION.md"
                    ),
                },
            ),
            KafkaError::ClientCreation(text) => LogError::of(
                LogErrorClass::Misconfigured,
                format!("{doing}: the client's options do not go together: {text}"),
            ),
            // `rdkafka` keeps this code to itself.
            KafkaError::AdminOp(code) => LogError::by_code(doing, *code, None),
            other => match other.rdkafka_error_code() {
                Some(code) => LogError::by_code(doing, code, None),
                None => LogError::of(LogErrorClass::Unknown, format!("{doing}: {other}")),
            },
        }
    }

    /// The same, about a partition.
    pub(super) fn at(mut self, at: TopicPartition) -> LogError {
        self.at = Some(at);
        self
    }
}
