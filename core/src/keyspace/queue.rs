//! Names that queues can have.

use std::error::Error;
use std::fmt;

use memchr::memchr3;

use super::slot::slot;

/// The hash tag of the reserve.
const RESERVE: &[u8] = b"emq";

/// The name of a queue: not empty, without `{`, `}` and `:`, and not `emq`.
///
/// As the hash tag of the queue's keys it ends where it should, so that all of them share a slot; as the part
/// before the next `:` it can be read back; and no queue mixes with the reserve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueName<'a>(&'a [u8]);

impl<'a> QueueName<'a> {
    /// The queue called `name`. O(name), no allocation.
    ///
    /// # Errors
    /// [`InvalidQueue`] says what is wrong with the name.
    ///
    /// ```
    /// use echo_data_core::keyspace::{InvalidQueue, QueueName};
    ///
    /// assert_eq!(QueueName::new(b"orders").unwrap().slot(), 105);
    /// assert_eq!(QueueName::new(b"a{b").unwrap_err(), InvalidQueue::Byte(b'{'));
    /// assert_eq!(QueueName::new(b"emq").unwrap_err(), InvalidQueue::Reserved);
    /// ```
    pub fn new(name: &'a [u8]) -> Result<Self, InvalidQueue> {
        if name.is_empty() {
            return Err(InvalidQueue::Empty);
        }
        if name == RESERVE {
            return Err(InvalidQueue::Reserved);
        }
        match memchr3(b'{', b'}', b':', name) {
            Some(at) => Err(InvalidQueue::Byte(name[at])),
            None => Ok(Self(name)),
        }
    }

    /// The name.
    pub fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// The slot of all keys of the queue. O(name), no allocation.
    pub fn slot(self) -> u16 {
        slot(self.0)
    }
}

/// Why a text cannot be the name of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidQueue {
    /// An empty tag is no tag: every key of the queue would have a slot of its own.
    Empty,
    /// A brace or a colon, which end the name too early.
    Byte(u8),
    /// `emq`, the tag of the reserve.
    Reserved,
}

impl fmt::Display for InvalidQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a queue name must not be empty"),
            Self::Byte(byte) => {
                let byte = char::from(*byte);
                write!(f, "a queue name must not contain {byte:?}")
            }
            Self::Reserved => f.write_str("the queue name emq is reserved"),
        }
    }
}

impl Error for InvalidQueue {}
