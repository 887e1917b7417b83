//! Which part of a cluster a slot belongs to.

use std::error::Error;
use std::fmt;
use std::ops::RangeInclusive;

use super::slot::SLOTS;

/// The number of the part that has `slot`, of `parts` even ones: contiguous, in order, the ones that
/// `redis-cli --cluster create` gives as many masters. `None` unless `parts` is in `1..=`[`SLOTS`] and `slot`
/// below [`SLOTS`]. O(1).
///
/// ```
/// use echo_data_core::keyspace::even_partition;
///
/// let parts = [0, 5460, 5461, 10922, 10923, 16383].map(|slot| even_partition(slot, 3).unwrap());
/// assert_eq!(parts, [0, 0, 1, 1, 2, 2]);
/// ```
pub fn even_partition(slot: u16, parts: u16) -> Option<u16> {
    if !(1..=SLOTS).contains(&parts) || slot >= SLOTS {
        return None;
    }
    let floor = (u32::from(slot) * u32::from(parts) / u32::from(SLOTS)) as u16;
    let next = floor + 1;
    Some(if slot < first_slot(next, parts) {
        floor
    } else {
        next
    })
}

/// The nearest slot to the boundary in front of a part.
fn first_slot(part: u16, parts: u16) -> u16 {
    let [part, parts, slots] = [part, parts, SLOTS].map(u32::from);
    ((2 * part * slots + parts) / (2 * parts)) as u16
}

/// Who has which slots: what a cluster's nodes say of themselves, each range with its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout<T> {
    /// In the order of their slots.
    ranges: Vec<(RangeInclusive<u16>, T)>,
}

impl<T> Layout<T> {
    /// The layout of these ranges, in any order; slots may be missing. O(ranges log ranges).
    ///
    /// # Errors
    /// [`InvalidLayout`] when a range is empty or goes beyond the last slot, or when two overlap.
    ///
    /// ```
    /// use echo_data_core::keyspace::{slot, Layout};
    ///
    /// let layout = Layout::new([(8192..=16383, "b"), (0..=8191, "a")]).unwrap();
    /// assert_eq!(layout.owner(slot(b"emq:{orders}:pending")), Some(&"a"));
    /// assert!(Layout::new([(0..=9, "a"), (9..=10, "b")]).is_err());
    /// ```
    pub fn new(
        ranges: impl IntoIterator<Item = (RangeInclusive<u16>, T)>,
    ) -> Result<Self, InvalidLayout> {
        let mut ranges: Vec<_> = ranges.into_iter().collect();
        let is_range = |range: &RangeInclusive<u16>| !range.is_empty() && *range.end() < SLOTS;
        if let Some((range, _)) = ranges.iter().find(|(range, _)| !is_range(range)) {
            return Err(InvalidLayout::Range(range.clone()));
        }
        ranges.sort_by_key(|(range, _)| *range.start());
        match ranges
            .windows(2)
            .find(|two| two[0].0.end() >= two[1].0.start())
        {
            Some(two) => Err(InvalidLayout::Overlap(*two[1].0.start())),
            None => Ok(Self { ranges }),
        }
    }

    /// Who has `slot`; `None` when nobody has. O(log ranges).
    pub fn owner(&self, slot: u16) -> Option<&T> {
        let behind = self
            .ranges
            .partition_point(|(range, _)| *range.start() <= slot);
        let (range, owner) = self.ranges[..behind].last()?;
        range.contains(&slot).then_some(owner)
    }
}

/// Why ranges are no layout of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidLayout {
    /// A range that is empty or goes beyond the last slot.
    Range(RangeInclusive<u16>),
    /// A slot that two ranges have.
    Overlap(u16),
}

impl fmt::Display for InvalidLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range(range) => {
                let (first, last) = (range.start(), range.end());
                write!(
                    f,
                    "slots {first} to {last} are no range within 0 to {}",
                    SLOTS - 1
                )
            }
            Self::Overlap(slot) => write!(f, "slot {slot} is in two ranges"),
        }
    }
}

impl Error for InvalidLayout {}
