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

/// What a code asks for, and what it says, as a sentence's second half.
pub(super) fn meaning(code: RDKafkaErrorCode) -> (LogErrorClass, &'static str) {
    outage(code)
        .map(|text| (LogErrorClass::Outage, text))
        .or_else(|| rights(code).map(|text| (LogErrorClass::Rights, text)))
        .or_else(|| misconfigured(code).map(|text| (LogErrorClass::Misconfigured, text)))
        .or_else(|| about_records(code))
        .unwrap_or((
            LogErrorClass::Unknown,
            "the broker or its client gave a code that Tidegate does not know",
        ))
}

fn outage(code: RDKafkaErrorCode) -> Option<&'static str> {
    use RDKafkaErrorCode as C;
    Some(match code {
        C::BrokerTransportFailure | C::NetworkException => "the connection to the broker failed",
        C::AllBrokersDown => "no broker can be reached",
        C::Resolve => "a broker's host name could not be resolved",
        C::OperationTimedOut | C::RequestTimedOut | C::TimedOutQueue => "the broker did not answer in time",
        C::MessageTimedOut => "a record could not be delivered in time",
        C::SSL => "the TLS connection failed",
        C::BrokerNotAvailable | C::BrokerDestroy | C::DestroyBroker | C::UnknownBroker => {
            "the broker is not available"
        }
        C::LeaderNotAvailable
        | C::NotLeaderForPartition
        | C::ReplicaNotAvailable
        | C::FencedLeaderEpoch
        | C::UnknownLeaderEpoch
        | C::OffsetNotAvailable
        | C::PreferredLeaderNotAvailable
        | C::EligibleLeadersNotAvailable
        | C::ListenerNotFound => "the partition has no leader at the moment",
        C::WaitingForCoordinator
        | C::CoordinatorLoadInProgress
        | C::CoordinatorNotAvailable
        | C::NotCoordinator
        | C::TransactionCoordinatorFenced => "the coordinator is not available at the moment",
        C::ConcurrentTransactions => "a transaction before this one is not finished yet",
        C::NotEnoughReplicas | C::NotEnoughReplicasAfterAppend | C::ISRInsufficient => {
            "too few replicas of the partition are in sync"
        }
        C::KafkaStorageError | C::LogDirNotFound => "the broker cannot use its disk",
        C::ThrottlingQuotaExceeded => "the broker's quota is used up",
        C::UnstableOffsetCommit => "a commit of the group's offsets is not finished yet",
        C::NotController | C::StaleControllerEpoch | C::StaleBrokerEpoch | C::OperationNotAttempted => {
            "the cluster is changing its controller"
        }
        C::InProgress | C::PreviousInProgress | C::Retry | C::WaitCache | C::Outdated | C::Interrupted => {
            "the client is busy with an earlier call"
        }
        C::QueueFull => "the client's queue is full: the broker takes records too slowly",
        C::PurgeQueue | C::PurgeInflight => "the record was given up before the broker had confirmed it",
        C::CriticalSystemResource => "the process lacks threads or memory for a broker client",
        C::FetchSessionIdNotFound | C::InvalidFetchSessionEpoch | C::RebootstrapRequired => {
            "the broker has forgotten the connection's session"
        }
        // After these a new producer begins anew; nothing of the transaction was committed, or its outcome is asked.
        C::OutOfOrderSequenceNumber | C::DuplicateSequenceNumber | C::GaplessGuarantee => {
            "the producer's numbering of records has a gap"
        }
        C::UnknownProducerId | C::InvalidProducerIdMapping => "the broker has forgotten the producer",
        C::InvalidTransactionalState | C::State | C::Fatal => "the transaction is not in a state to go on",
        C::Inconsistent => "not every record was delivered",
        _ => return None,
    })
}

fn rights(code: RDKafkaErrorCode) -> Option<&'static str> {
    use RDKafkaErrorCode as C;
    Some(match code {
        C::TopicAuthorizationFailed => "the account may not use this topic",
        C::GroupAuthorizationFailed => "the account may not use this consumer group",
        C::ClusterAuthorizationFailed => "the account may not do this on the cluster",
        C::TransactionalIdAuthorizationFailed => "the account may not use this transactional id",
        C::Authentication | C::SaslAuthenticationFailed => "the broker refused the credentials",
        C::UnsupportedSASLMechanism | C::IllegalSASLState => "the broker refused the way of logging in",
        C::SecurityDisabled => "the broker has no authorizer",
        C::DelegationTokenAuthDisabled
        | C::DelegationTokenNotFound
        | C::DelegationTokenOwnerMismatch
        | C::DelegationTokenRequestNotAllowed
        | C::DelegationTokenAuthorizationFailed
        | C::DelegationTokenExpired => "the delegation token was refused",
        _ => return None,
    })
}

fn misconfigured(code: RDKafkaErrorCode) -> Option<&'static str> {
    use RDKafkaErrorCode as C;
    Some(match code {
        C::UnknownTopic | C::UnknownTopicOrPartition | C::UnknownTopicId => "the topic does not exist",
        C::UnknownPartition => "the partition does not exist",
        C::InvalidTopic => "the topic's name is not allowed, or it is one of the broker's own",
        C::InvalidPartitions | C::InvalidReplicationFactor | C::InvalidReplicaAssignment => {
            "the cluster cannot have a topic with so many partitions or replicas"
        }
        C::InvalidConfig => "the topic's configuration does not allow it",
        C::PolicyViolation => "a policy of the cluster refuses it",
        C::InvalidTransactionTimeout => {
            "the broker allows no transaction time-out as long as transaction.timeout.ms (see its transaction.max.timeout.ms)"
        }
        C::InvalidTimestamp => "a record's timestamp is too far from the broker's clock for this topic",
        C::InvalidRecord => "the topic refuses the record (a compacted topic takes none without a key)",
        C::UnsupportedCompressionType | C::BadCompression => "the compression is not supported by both sides",
        C::UnsupportedVersion | C::UnsupportedFeature | C::UnsupportedForMessageFormat => {
            "the broker is too old for it"
        }
        C::UnknownGroup | C::InvalidGroupId => "the consumer group's name is not allowed",
        C::UnknownMemberId
        | C::IllegalGeneration
        | C::RebalanceInProgress
        | C::FencedInstanceId
        | C::FencedMemberEpoch
        | C::StaleMemberEpoch => {
            "somebody has subscribed with this consumer group, and while the group has members only they may commit"
        }
        C::InvalidArgument | C::NotConfigured | C::InvalidRequest | C::InvalidRequiredAcks => {
            "a setting is not accepted"
        }
        C::NotImplemented => "the client was built without it",
        _ => return None,
    })
}

fn about_records(code: RDKafkaErrorCode) -> Option<(LogErrorClass, &'static str)> {
    use RDKafkaErrorCode as C;
    Some(match code {
        C::MessageSizeTooLarge | C::InvalidMessageSize | C::MessageBatchTooLarge => (
            LogErrorClass::TooLarge,
            "a record is over a size limit: message.max.bytes of the client, max.message.bytes of the topic, or the broker's",
        ),
        C::Fenced | C::ProducerFenced | C::InvalidProducerEpoch => (
            LogErrorClass::Fenced,
            "the producer is fenced: a newer one has its transactional id, or a transaction outlived its time-out",
        ),
        C::AutoOffsetReset | C::OffsetOutOfRange | C::NoOffset | C::LogTruncation => {
            (LogErrorClass::PositionGone, "the log does not have this position")
        }
        _ => return None,
    })
}

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
