//! The slots of several keys, and whether a script may have them.

use std::error::Error;
use std::fmt;

use smallvec::SmallVec;

use super::slot::slot;

/// The slots of a script's keys: ascending, each once.
///
/// ```
/// use echo_data_core::keyspace::SlotSet;
///
/// let claim = SlotSet::of([b"emq:{orders}:pending", b"emq:{orders}:claimed"]);
/// assert_eq!(claim.as_slice(), [105]);
/// assert_eq!(claim.verdict(), Ok(Some(105)));
///
/// let across = SlotSet::of([b"emq:{orders}:pending", b"emq:{fills}:claimed!"]);
/// assert_eq!(across.verdict().unwrap_err().to_string(), "keys of 2 slots: 105, 4165");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlotSet(SmallVec<[u16; 4]>);

impl SlotSet {
    /// The slots of `keys`. O(keys) for few slots, no allocation for up to four.
    pub fn of<K: AsRef<[u8]>>(keys: impl IntoIterator<Item = K>) -> Self {
        let mut slots = Self::default();
        for key in keys {
            slots.insert(slot(key.as_ref()));
        }
        slots
    }

    /// Adds a slot. O(log slots), and as many moves when it is new.
    pub fn insert(&mut self, slot: u16) {
        if let Err(place) = self.0.binary_search(&slot) {
            self.0.insert(place, slot);
        }
    }

    /// The slots, ascending.
    pub fn as_slice(&self) -> &[u16] {
        &self.0
    }

    /// The slot that a script over the keys runs in: `None` without keys, when it may run anywhere. O(1).
    ///
    /// # Errors
    /// [`CrossSlot`] when there are several: no cluster runs such a script.
    pub fn verdict(&self) -> Result<Option<u16>, CrossSlot<'_>> {
        match self.0.as_slice() {
            [] => Ok(None),
            [slot] => Ok(Some(*slot)),
            slots => Err(CrossSlot { slots }),
        }
    }
}

/// The keys of one script fall into several slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrossSlot<'a> {
    /// The slots, ascending.
    pub slots: &'a [u16],
}

impl fmt::Display for CrossSlot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "keys of {} slots", self.slots.len())?;
        for (place, slot) in self.slots.iter().enumerate() {
            let before = if place == 0 { ":" } else { "," };
            write!(f, "{before} {slot}")?;
        }
        Ok(())
    }
}

impl Error for CrossSlot<'_> {}
