//! The words of the system. Plain data, no behaviour beyond keeping its own invariants.
//!
//! Holds:     nothing that runs; imports nothing of ours
//! Order:     as the data meets them: position, record, value, event, what goes out
//! Not here:  how any of it is read, stored or sent

mod position;
pub use position::{
    BatchNumber, Coordinates, Epoch, Incarnation, KeyGroup, KeyId, NextOffset, Offset, TopicPartition,
};

mod place;
pub use place::{BadPlaces, Place, Places, Stranger};

mod record;
pub use record::{Headers, Record};

mod value;
pub use value::{Date, Decimal, Time, Timestamp, Value, Zone};

mod event;
pub use event::{Body, Event, Reading, Reason, ReasonCode, Row};

mod mark;
pub use mark::{ElementSpan, Mark};

mod outgoing;
pub use outgoing::{Destination, Outgoing};

mod limits;
pub use limits::RecordLimits;
