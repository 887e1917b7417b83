//! Nodes: the memory layout of leaves and inner nodes, and the copies that edits make of them.
//!
//! A leaf is `header | keys | slots`, an inner node `header | separators | starts | children`, each
//! array as long as the node is wide: an immutable node has no slack. Keys stand together, so a search
//! touches key lines only.
//!
//! A leaf does not store its length: the counts above it say it. That is what lets an append write
//! into the spare room of the rightmost leaf without any older version noticing.
#![allow(unsafe_code)] // lays out and reads raw node memory

use std::marker::PhantomData;
use std::ops::Range;
use std::ptr;

use crate::prefetch;
use crate::publish::{Block, Edit, Kind, HEADER};

use super::key::{partition, Key};

/// Entries of a full leaf: with its header, one of eight-byte keys and values is 1024 bytes, and with
/// sixteen-byte values 1528, both just under a size class.
pub(crate) const LEAF: usize = if cfg!(any(test, tiny_nodes, loom)) {
    4
} else {
    63
};
/// Children of a full inner node.
pub(crate) const INNER: usize = if cfg!(any(test, tiny_nodes, loom)) {
    4
} else {
    32
};
/// A node with fewer entries or children is merged with a neighbour, except on the right edge while
/// appends fill it.
pub(crate) const LEAF_MIN: usize = if LEAF > 6 { LEAF / 3 } else { 2 };
pub(crate) const INNER_MIN: usize = if INNER > 6 { INNER / 3 } else { 2 };

/// A subtree as its parent sees it.
#[derive(Clone, Copy)]
pub(crate) struct Child<K> {
    /// No key below is smaller, and every key of the subtree to the left is.
    pub(crate) low: K,
    pub(crate) node: Block,
    pub(crate) entries: usize,
}

/// The first `len` entries of a leaf.
pub(crate) struct Leaf<'g, K, S> {
    block: Block,
    len: usize,
    life: PhantomData<&'g (K, S)>,
}

impl<K, S> Clone for Leaf<'_, K, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K, S> Copy for Leaf<'_, K, S> {}

impl<'g, K: Key, S: Copy> Leaf<'g, K, S> {
    const KEYS: usize = HEADER.next_multiple_of(align_of::<K>());

    const fn slots_offset(width: usize) -> usize {
        (Self::KEYS + width * size_of::<K>()).next_multiple_of(align_of::<S>())
    }

    const fn bytes(width: usize) -> usize {
        Self::slots_offset(width) + width * size_of::<S>()
    }

    /// # Safety
    /// `block` is a leaf of this type, protected for `'g`, of which a version reachable under the same
    /// protection has published `len` entries.
    #[inline]
    pub(crate) unsafe fn new(block: Block, len: usize) -> Self {
        debug_assert!(block.kind() == Kind::Leaf && len <= block.width());
        block.note_read(len);
        Self {
            block,
            len,
            life: PhantomData,
        }
    }

    #[inline]
    pub(crate) fn block(&self) -> Block {
        self.block
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn keys(&self) -> &'g [K] {
        // SAFETY: `new` says that `len` keys are published here.
        unsafe {
            std::slice::from_raw_parts(self.block.byte_add(Self::KEYS).cast().as_ptr(), self.len)
        }
    }

    #[inline]
    pub(crate) fn slots(&self) -> &'g [S] {
        // SAFETY: as for the keys; the slots start behind all keys that the leaf has room for.
        unsafe {
            let start = self.block.byte_add(Self::slots_offset(self.block.width()));
            std::slice::from_raw_parts(start.cast().as_ptr(), self.len)
        }
    }

    /// Asks for all lines of a full leaf: its keys, and the slot that will be read, or all that will be
    /// copied.
    #[inline]
    pub(crate) fn prefetch(block: Block) {
        prefetch_start(block, Self::bytes(LEAF));
    }

    /// The slot at `at`, whose line is asked for but not waited for.
    #[inline]
    pub(crate) fn prefetched_slot(&self, at: usize) -> &'g S {
        let slot = &self.slots()[at];
        prefetch::line(ptr::from_ref(slot).cast());
        slot
    }

    /// Where `key` is or would be.
    #[inline]
    pub(crate) fn search(&self, key: &K) -> Result<usize, usize> {
        let keys = self.keys();
        let at = key.place_among(keys, false);
        if at < keys.len() && keys[at] == *key {
            Ok(at)
        } else {
            Err(at)
        }
    }

    /// Asks for the lines that a search of a full leaf would read.
    #[inline]
    pub(crate) fn prefetch_keys(block: Block) {
        prefetch_start(block, Self::KEYS + LEAF * size_of::<K>());
    }

    /// Writes the entry after the published ones.
    ///
    /// # Safety
    /// The caller owns slot `len` of this leaf: it claimed it, or the leaf is its own.
    pub(crate) unsafe fn write_next(&self, key: K, slot: S) {
        debug_assert!(self.len < self.block.width());
        self.block.note_write(self.len);
        // SAFETY: within the leaf's width; nobody reads or writes this slot, as the caller says.
        unsafe {
            let keys = self.block.byte_add(Self::KEYS).cast::<K>();
            keys.add(self.len).write(key);
            let slots = self
                .block
                .byte_add(Self::slots_offset(self.block.width()))
                .cast::<S>();
            slots.add(self.len).write(slot);
        }
    }

    /// A new leaf with room for `width` entries, filled from runs of entries.
    pub(crate) fn build(edit: &mut Edit, width: usize, runs: &[(&[K], &[S])]) -> Block {
        let len = runs.iter().map(|(keys, _)| keys.len()).sum();
        debug_assert!(0 < len && len <= width && width <= LEAF);
        let block = edit.allocate(Kind::Leaf, width, len, Self::bytes(width));
        let mut at = 0;
        for (keys, slots) in runs {
            debug_assert_eq!(keys.len(), slots.len());
            // SAFETY: the block is new and has room for all runs, whose sources are other memory.
            unsafe {
                let to = block.byte_add(Self::KEYS).cast::<K>().add(at);
                ptr::copy_nonoverlapping(keys.as_ptr(), to.as_ptr(), keys.len());
                let to = block
                    .byte_add(Self::slots_offset(width))
                    .cast::<S>()
                    .add(at);
                ptr::copy_nonoverlapping(slots.as_ptr(), to.as_ptr(), slots.len());
            }
            at += keys.len();
        }
        block
    }

    /// A copy with one entry more.
    pub(crate) fn with_inserted(
        &self,
        edit: &mut Edit,
        at: usize,
        key: K,
        slot: S,
        width: usize,
    ) -> Block {
        self.spliced(edit, at..at, Some((key, slot)), width)
    }

    /// A copy with another slot at `at`.
    pub(crate) fn with_replaced(&self, edit: &mut Edit, at: usize, slot: S, width: usize) -> Block {
        self.spliced(edit, at..at + 1, Some((self.keys()[at], slot)), width)
    }

    /// A copy without the entry at `at`.
    pub(crate) fn with_removed(&self, edit: &mut Edit, at: usize, width: usize) -> Block {
        self.spliced(edit, at..at + 1, None, width)
    }

    /// A copy without the entry at `out`, and with `entry` where it would be, which is before that at `into`.
    pub(crate) fn with_moved(
        &self,
        edit: &mut Edit,
        out: usize,
        into: usize,
        (key, slot): (K, S),
        width: usize,
    ) -> Block {
        let (keys, slots) = (self.keys(), self.slots());
        debug_assert!(out < keys.len() && into <= keys.len() && keys.len() <= width);
        let block = edit.allocate(Kind::Leaf, width, keys.len(), Self::bytes(width));
        // SAFETY: the block is new, with room for as many keys and slots at these offsets.
        unsafe {
            let to = block.byte_add(Self::KEYS).cast();
            shift(keys, to.as_ptr(), out, into, key);
            let to = block.byte_add(Self::slots_offset(width)).cast();
            shift(slots, to.as_ptr(), out, into, slot);
        }
        block
    }

    /// A copy with `entry` in the place of those at `gone`.
    #[inline]
    fn spliced(
        &self,
        edit: &mut Edit,
        gone: Range<usize>,
        entry: Option<(K, S)>,
        width: usize,
    ) -> Block {
        let (keys, slots) = (self.keys(), self.slots());
        let resumed = gone.start + usize::from(entry.is_some());
        let len = resumed + keys.len() - gone.end;
        debug_assert!(0 < len && len <= width && width <= LEAF);
        let block = edit.allocate(Kind::Leaf, width, len, Self::bytes(width));
        let (key, slot) = entry.unzip();
        // SAFETY: the block is new, with room for `len` keys and slots at these offsets.
        unsafe {
            let to = block.byte_add(Self::KEYS).cast();
            splice(keys, to.as_ptr(), gone.clone(), key);
            let to = block.byte_add(Self::slots_offset(width)).cast();
            splice(slots, to.as_ptr(), gone, slot);
        }
        block
    }
}

/// Copies `items` with `item` in the place of those at `gone`.
///
/// # Safety
/// `to` is other memory, with room for what is copied.
#[inline]
unsafe fn splice<T: Copy>(items: &[T], to: *mut T, gone: Range<usize>, item: Option<T>) {
    let (before, after) = (&items[..gone.start], &items[gone.end..]);
    // SAFETY: as the caller says.
    unsafe {
        ptr::copy_nonoverlapping(before.as_ptr(), to, before.len());
        let mut to = to.add(before.len());
        if let Some(item) = item {
            to.write(item);
            to = to.add(1);
        }
        ptr::copy_nonoverlapping(after.as_ptr(), to, after.len());
    }
}

/// Copies `items` without the one at `out`, and with `item` where it is before the one at `into`.
///
/// # Safety
/// `to` is other memory, with room for as many.
#[inline]
unsafe fn shift<T: Copy>(items: &[T], to: *mut T, out: usize, into: usize, item: T) {
    // SAFETY: as the caller says; what moves stays within the items.
    unsafe {
        ptr::copy_nonoverlapping(items.as_ptr(), to, items.len());
        let at = if into <= out {
            ptr::copy(to.add(into), to.add(into + 1), out - into);
            into
        } else {
            ptr::copy(to.add(out + 1), to.add(out), into - 1 - out);
            into - 1
        };
        to.add(at).write(item);
    }
}

/// An inner node.
pub(crate) struct Inner<'g, K> {
    block: Block,
    life: PhantomData<&'g K>,
}

impl<K> Clone for Inner<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Inner<'_, K> {}

impl<'g, K: Key> Inner<'g, K> {
    const KEYS: usize = HEADER.next_multiple_of(align_of::<K>());

    const fn starts_offset(width: usize) -> usize {
        (Self::KEYS + (width - 1) * size_of::<K>()).next_multiple_of(align_of::<usize>())
    }

    const fn children_offset(width: usize) -> usize {
        Self::starts_offset(width) + width * size_of::<usize>()
    }

    const fn bytes(width: usize) -> usize {
        Self::children_offset(width) + width * size_of::<Block>()
    }

    /// # Safety
    /// `block` is an inner node of this key type, protected for `'g`.
    #[inline]
    pub(crate) unsafe fn new(block: Block) -> Self {
        debug_assert!(block.kind() == Kind::Inner);
        block.note_read(0);
        Self {
            block,
            life: PhantomData,
        }
    }

    #[inline]
    pub(crate) fn width(&self) -> usize {
        self.block.width()
    }

    /// The array of `len` values at `offset`.
    ///
    /// # Safety
    /// The node's layout has such an array there.
    #[inline]
    unsafe fn array<T>(&self, offset: usize, len: usize) -> &'g [T] {
        // SAFETY: written when the node was built, and never again.
        unsafe { std::slice::from_raw_parts(self.block.byte_add(offset).cast().as_ptr(), len) }
    }

    /// Separators: all keys of child `i` are below `separators()[i]`, all of child `i + 1` are not.
    #[inline]
    pub(crate) fn separators(&self) -> &'g [K] {
        // SAFETY: the layout.
        unsafe { self.array(Self::KEYS, self.width() - 1) }
    }

    /// How many entries are left of each child; the first is 0.
    #[inline]
    pub(crate) fn starts(&self) -> &'g [usize] {
        // SAFETY: the layout.
        unsafe { self.array(Self::starts_offset(self.width()), self.width()) }
    }

    #[inline]
    pub(crate) fn children(&self) -> &'g [Block] {
        // SAFETY: the layout.
        unsafe { self.array(Self::children_offset(self.width()), self.width()) }
    }

    /// The child that holds `key`, if the tree does.
    #[inline]
    pub(crate) fn child_of(&self, key: &K) -> usize {
        key.place_among(self.separators(), true)
    }

    /// The child that holds the entry at `position`.
    #[inline]
    pub(crate) fn child_at(&self, position: usize) -> usize {
        partition(&self.starts()[1..], |start| *start <= position)
    }

    /// The positions, counted from this node's first entry, of child `at`, when the node has `entries`
    /// entries in all.
    #[inline]
    pub(crate) fn extent(&self, at: usize, entries: usize) -> Range<usize> {
        let starts = self.starts();
        let end = if at + 1 == starts.len() {
            entries
        } else {
            starts[at + 1]
        };
        starts[at]..end
    }

    /// Asks for the lines that a search of a full node would read.
    #[inline]
    pub(crate) fn prefetch(block: Block) {
        prefetch_start(block, Self::bytes(INNER));
    }

    /// A new node over `children`, which are in key order.
    pub(crate) fn build(edit: &mut Edit, children: &[Child<K>]) -> Block {
        let width = children.len();
        debug_assert!(0 < width && width <= INNER);
        let block = edit.allocate(Kind::Inner, width, 0, Self::bytes(width));
        let mut start = 0;
        for (at, child) in children.iter().enumerate() {
            // SAFETY: the block is new and its layout has room for `width` of each.
            unsafe {
                if at > 0 {
                    block
                        .byte_add(Self::KEYS)
                        .cast::<K>()
                        .add(at - 1)
                        .write(child.low);
                }
                let starts = block.byte_add(Self::starts_offset(width)).cast::<usize>();
                starts.add(at).write(start);
                let nodes = block.byte_add(Self::children_offset(width)).cast::<Block>();
                nodes.add(at).write(child.node);
            }
            start += child.entries;
        }
        block
    }

    /// A copy in which child `at` is another node with `delta` more entries.
    pub(crate) fn with_child(
        &self,
        edit: &mut Edit,
        at: usize,
        child: Block,
        delta: isize,
    ) -> Block {
        let width = self.width();
        debug_assert!(at < width);
        let block = edit.allocate(Kind::Inner, width, 0, Self::bytes(width));
        // SAFETY: both blocks have the same layout; the new one is ours. `at` is a child's place in it.
        unsafe {
            let from = self.block.byte_add(Self::KEYS);
            let to = block.byte_add(Self::KEYS);
            ptr::copy_nonoverlapping(from.as_ptr(), to.as_ptr(), Self::bytes(width) - Self::KEYS);
            let to = block.byte_add(Self::starts_offset(width)).cast::<usize>();
            for (place, start) in self.starts().iter().enumerate().skip(at + 1) {
                to.add(place).write(start.wrapping_add_signed(delta));
            }
            let to = block.byte_add(Self::children_offset(width)).cast::<Block>();
            to.add(at).write(child);
        }
        block
    }

    /// The children as subtrees, when the node has `entries` entries and no key below `low`.
    pub(crate) fn to_children(self, low: K, entries: usize) -> impl Iterator<Item = Child<K>> + 'g {
        (0..self.width()).map(move |at| Child {
            low: if at == 0 {
                low
            } else {
                self.separators()[at - 1]
            },
            node: self.children()[at],
            entries: self.extent(at, entries).len(),
        })
    }
}

/// Asks for the block's first `bytes`. The block may be shorter: its width is not known before its first
/// line is here.
#[inline]
fn prefetch_start(block: Block, bytes: usize) {
    prefetch::lines(block.address(), bytes);
}
