//! Keys, built from their parts and read back into them.

use std::error::Error;
use std::fmt;

use memchr::memchr;

use super::queue::QueueName;
use crate::id::BrandedId;

const QUEUE_START: &[u8] = b"emq:{";
const RESERVE_START: &[u8] = b"{emq}:";
const JOB: &[u8] = b"job:";

/// The key that says which version of the layout of keys a server holds: `{emq}:version`.
pub const VERSION: Key<'static> = Key::Reserve { name: b"version" };

/// A key of the library, in its parts. Building and reading are inverse to each other.
///
/// ```
/// use echo_data_core::id::BrandedId;
/// use echo_data_core::keyspace::{Key, QueueName};
///
/// let orders = QueueName::new(b"orders").unwrap();
/// let id = BrandedId::parse(b"ORD0NgWEfAEJfs").unwrap();
/// let key = Key::job(orders, id);
/// assert_eq!(key.to_vec(), b"emq:{orders}:job:ORD0NgWEfAEJfs");
/// assert_eq!(Key::parse(b"emq:{orders}:job:ORD0NgWEfAEJfs"), Some(key));
/// assert_eq!(Key::parse(b"emq:{orders}:job:320636799581945"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key<'a> {
    /// `emq:{queue}:kind`: what the queue keeps under one name.
    #[non_exhaustive]
    Queue {
        /// Whose key.
        queue: QueueName<'a>,
        /// What is kept: any bytes, but for those of a job's key.
        kind: &'a [u8],
    },
    /// `emq:{queue}:job:id`: one job of the queue.
    #[non_exhaustive]
    Job {
        /// Whose key.
        queue: QueueName<'a>,
        /// Which job.
        id: BrandedId,
    },
    /// `{emq}:name`: what the library keeps for itself.
    #[non_exhaustive]
    Reserve {
        /// Any bytes.
        name: &'a [u8],
    },
}

impl<'a> Key<'a> {
    /// The key of `kind` of a queue. O(kind), no allocation. `job:` itself is a kind, what all keys of jobs
    /// begin with.
    ///
    /// # Errors
    /// [`UngatedJob`] when `kind` goes on behind `job:`: only an id may stand there, see [`Key::job`].
    pub fn queue(queue: QueueName<'a>, kind: &'a [u8]) -> Result<Self, UngatedJob> {
        match kind.strip_prefix(JOB) {
            Some(rest) if !rest.is_empty() => Err(UngatedJob),
            _ => Ok(Self::Queue { queue, kind }),
        }
    }

    /// The key of a job of a queue.
    pub const fn job(queue: QueueName<'a>, id: BrandedId) -> Self {
        Self::Job { queue, id }
    }

    /// The key of what the library keeps under `name`.
    pub const fn reserve(name: &'a [u8]) -> Self {
        Self::Reserve { name }
    }

    /// The parts of `key`, or `None` for a key that cannot be built. O(key), no allocation.
    pub fn parse(key: &'a [u8]) -> Option<Self> {
        if let Some(name) = key.strip_prefix(RESERVE_START) {
            return Some(Self::reserve(name));
        }
        let named = key.strip_prefix(QUEUE_START)?;
        let end = memchr(b'}', named)?;
        let queue = QueueName::new(&named[..end]).ok()?;
        let kind = named[end + 1..].strip_prefix(b":")?;
        match kind.strip_prefix(JOB) {
            Some(id) if !id.is_empty() => Some(Self::job(queue, BrandedId::parse(id).ok()?)),
            _ => Some(Self::Queue { queue, kind }),
        }
    }

    /// How many bytes the key has. O(1).
    pub fn size(&self) -> usize {
        let of_queue = |queue: QueueName| QUEUE_START.len() + queue.as_bytes().len() + 2;
        match self {
            Self::Queue { queue, kind } => of_queue(*queue) + kind.len(),
            Self::Job { queue, .. } => of_queue(*queue) + JOB.len() + BrandedId::LEN,
            Self::Reserve { name } => RESERVE_START.len() + name.len(),
        }
    }

    /// Writes the key over all of `out`. O(key), no allocation.
    ///
    /// # Panics
    /// Unless `out` is as long as [`size`](Self::size) says.
    pub fn write(&self, out: &mut [u8]) {
        match self {
            Self::Queue { queue, kind } => {
                fill(out, [QUEUE_START, queue.as_bytes(), b"}:".as_slice(), kind])
            }
            Self::Job { queue, id } => fill(
                out,
                [QUEUE_START, queue.as_bytes(), b"}:", JOB, &id.to_bytes()],
            ),
            Self::Reserve { name } => fill(out, [RESERVE_START, name]),
        }
    }

    /// The key as it goes to the server. O(key).
    pub fn to_vec(&self) -> Vec<u8> {
        let mut key = vec![0; self.size()];
        self.write(&mut key);
        key
    }
}

fn fill<const N: usize>(mut out: &mut [u8], parts: [&[u8]; N]) {
    for part in parts {
        let (place, rest) = out.split_at_mut(part.len());
        place.copy_from_slice(part);
        out = rest;
    }
    assert!(out.is_empty(), "the key is shorter than its place");
}

/// A job's key was asked for without an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UngatedJob;

impl fmt::Display for UngatedJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("behind job: stands a branded id, so it is no kind of key")
    }
}

impl Error for UngatedJob {}
