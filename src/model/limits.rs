//! How large a record may be, per topic that the job sends to.

use super::Destination;

/// Most bytes of one record, counted as [`super::Outgoing::batch_bytes`] counts; `None`: nobody says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordLimits {
    /// Of each topic that outputs go to, in the order of [`Destination::Output`].
    pub output_bytes: Vec<Option<usize>>,
    /// Of `rejects.dead_letter_topic`.
    pub dead_letter_bytes: Option<usize>,
}

impl RecordLimits {
    /// The limit of the topic that a record goes to.
    pub fn of(&self, to: Destination) -> Option<usize> {
        match to {
            Destination::Output(topic) => self.output_bytes.get(usize::from(topic)).copied().flatten(),
            Destination::DeadLetter => self.dead_letter_bytes,
        }
    }
}
