//! Keys, and the search for one among many.
//!
//! A key is made of words. A search goes by one word at a time: by the first, and among the keys that
//! have it in common by the next. To compare all words of two keys without a branch, which among random
//! keys is mispredicted every other time, takes a quarter to a half longer.
#![allow(unsafe_code)] // searches by pointers

use std::hint::select_unpredictable;

/// What can be a key: plain bits with a total order.
pub(crate) trait Key: Copy + Ord + Send + Sync + 'static {
    /// How many of `keys`, which ascend, are below this one, or, if `inclusive`, at or below it.
    fn place_among(&self, keys: &[Self], inclusive: bool) -> usize;
}

impl Key for u64 {
    #[inline]
    fn place_among(&self, keys: &[Self], inclusive: bool) -> usize {
        by_last(keys, |key| *key, *self, inclusive)
    }
}

impl Key for u32 {
    #[inline]
    fn place_among(&self, keys: &[Self], inclusive: bool) -> usize {
        by_last(keys, |key| u64::from(*key), (*self).into(), inclusive)
    }
}

impl Key for (u64, u64) {
    #[inline]
    fn place_among(&self, keys: &[Self], inclusive: bool) -> usize {
        by_first(
            keys,
            |key| key.0,
            self.0,
            |keys| by_last(keys, |key| key.1, self.1, inclusive),
        )
    }
}

/// [`Key::place_among`] for keys that differ in one word only.
#[inline]
pub(crate) fn by_last<K>(
    keys: &[K],
    word: impl Fn(&K) -> u64,
    wanted: u64,
    inclusive: bool,
) -> usize {
    if inclusive {
        partition(keys, |key| word(key) <= wanted)
    } else {
        partition(keys, |key| word(key) < wanted)
    }
}

/// [`Key::place_among`] for keys that are compared by one word first; `rest` answers it for those that
/// have that word in common.
#[inline]
pub(crate) fn by_first<K>(
    keys: &[K],
    word: impl Fn(&K) -> u64,
    wanted: u64,
    rest: impl FnOnce(&[K]) -> usize,
) -> usize {
    let alike = |key: Option<&K>| key.is_some_and(|key| word(key) == wanted);
    // Most nodes are of one group, or of many different scores.
    let (before, same) = if alike(keys.first()) && alike(keys.last()) {
        (0, keys)
    } else {
        let before = partition(keys, |key| word(key) < wanted);
        let behind = &keys[before..];
        (before, &behind[..run(behind, |key| word(key) == wanted)])
    };
    before + rest(same)
}

/// How many of the first `keys` are `alike`, when none after them is: mostly none or one, and else few.
#[inline]
fn run<K>(keys: &[K], alike: impl Fn(&K) -> bool) -> usize {
    let (mut known, mut next) = (0, 0);
    while keys.get(next).is_some_and(&alike) {
        known = next + 1;
        next = 2 * known - 1;
    }
    known + partition(&keys[known..next.min(keys.len())], alike)
}

/// How many of the first `keys` are `before`, when none after them is. Without branches that depend on the
/// keys, and by pointers, since a place would have to be multiplied by the size of a key at each step.
#[inline]
pub(super) fn partition<K>(keys: &[K], before: impl Fn(&K) -> bool) -> usize {
    if keys.is_empty() {
        return 0;
    }
    let first = keys.as_ptr();
    let mut base = first;
    let mut size = keys.len();
    while size > 1 {
        let half = size / 2;
        // SAFETY: the `size` keys from `base` on are within the slice, and `0 < half < size`.
        unsafe {
            let rest = base.add(half);
            base = select_unpredictable(before(&*rest.sub(1)), rest, base);
        }
        size -= half;
    }
    // SAFETY: as above, with one key left.
    let (place, last) = unsafe { (base.offset_from_unsigned(first), &*base) };
    place + usize::from(before(last))
}
