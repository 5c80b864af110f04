//! A broker inside the process, for the demo and for tests: librdkafka's mock cluster.
//!
//! In:        topics to make
//! Out:       an address on the loopback interface
//! Holds:     every record in memory, at most 5 MB per partition: older ones are dropped silently
//! Fails:     only where librdkafka cannot start it
//! Not here:  what it cannot prove. It confirms transactions without keeping them: aborted records are visible to
//!            read-committed readers, a second producer fences nobody, offsets sent in a transaction are lost, no
//!            transaction times out, nothing survives the process. It has no request for creating or describing topics.
//!            Exactly once is proved against a real broker alone

use super::{LogError, LogErrorClass};
use rdkafka::error::KafkaError;
use rdkafka::mocking::MockCluster;
use rdkafka::producer::DefaultProducerContext;

/// One broker. It stops when this is dropped.
pub struct MockLogServer {
    cluster: MockCluster<'static, DefaultProducerContext>,
}

/// The mock cluster has a single broker, of this id.
const BROKER: i32 = 1;

impl MockLogServer {
    /// Starts it on a free port of the loopback interface.
    ///
    /// # Errors
    /// Where librdkafka cannot open a port.
    pub fn start() -> Result<MockLogServer, LogError> {
        let cluster =
            MockCluster::new(1).map_err(|error| LogError::by("starting the embedded broker", &error))?;
        Ok(MockLogServer { cluster })
    }

    /// Its address, for `bootstrap_servers`.
    pub fn bootstrap_servers(&self) -> String {
        self.cluster.bootstrap_servers()
    }

    /// Makes a topic.
    ///
    /// # Errors
    /// Where it exists.
    pub fn create_topic(&self, topic: &str, partitions: i32) -> Result<(), LogError> {
        self.cluster.create_topic(topic, partitions, 1).map_err(|error| refused("creating a topic", &error))
    }

    /// Closes all connections and refuses new ones, until [`MockLogServer::up`].
    ///
    /// # Errors
    /// Where the cluster does not take the order.
    pub fn down(&self) -> Result<(), LogError> {
        self.cluster.broker_down(BROKER).map_err(|error| refused("taking the broker down", &error))
    }

    /// Accepts connections again.
    ///
    /// # Errors
    /// Where the cluster does not take the order.
    pub fn up(&self) -> Result<(), LogError> {
        self.cluster.broker_up(BROKER).map_err(|error| refused("bringing the broker up", &error))
    }

    /// The cluster itself, for injecting errors.
    #[cfg(test)]
    pub(super) fn cluster(&self) -> &MockCluster<'static, DefaultProducerContext> {
        &self.cluster
    }
}

fn refused(doing: &str, error: &KafkaError) -> LogError {
    LogError::of(LogErrorClass::Unknown, format!("{doing} of the embedded broker: {error}"))
}
