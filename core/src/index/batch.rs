//! Rebuilding: any number of changes in one pass, with splits, merges and changes of height.
//!
//! The changes come sorted. Each node that one of them touches is rebuilt once, from the leaves up, so
//! that a batch costs its touched nodes and not its paths, and one change is simply a batch of one.
#![allow(unsafe_code)] // steps from a protected node to its children

use crate::publish::Edit;
use crate::value::Slot;

use super::node::{Child, Inner, Leaf, INNER, INNER_MIN, LEAF, LEAF_MIN};
use super::{Key, Root, Top};

/// What to do with one key.
#[derive(Clone, Copy)]
pub(crate) enum Change<S> {
    Put(S),
    Remove,
}

/// A list of neighbouring subtrees of one height.
pub(super) type Children<K> = Vec<Child<K>>;

/// A subtree to be rebuilt.
#[derive(Clone, Copy)]
struct Place<K> {
    child: Child<K>,
    height: u32,
    /// Whether it ends where the index does.
    right_edge: bool,
}

/// One pass over the tree.
struct Pass<'e> {
    edit: &'e mut Edit,
    /// The last change lies beyond every key: leave nodes full behind it, as in-place appends do.
    appends: bool,
    /// Entries before the pass.
    entries: usize,
}

impl<K: Key, S: Slot> Root<K, S> {
    /// Applies changes sorted by key, each key once. O(changes + touched nodes).
    pub(crate) fn rebuild(&mut self, edit: &mut Edit, changes: &[(K, Change<S>)]) {
        let Some(&(last, change)) = changes.last() else {
            return;
        };
        debug_assert!(changes.windows(2).all(|pair| pair[0].0 < pair[1].0));
        let beyond = self.last().is_none_or(|(key, _)| last > *key);
        let mut pass = Pass {
            edit,
            appends: beyond && matches!(change, Change::Put(_)),
            entries: self.entries,
        };
        let (children, height) = match self.top {
            Some(top) => {
                let low = changes[0].0;
                let child = Child {
                    low,
                    node: top.node,
                    entries: self.entries,
                };
                let place = Place {
                    child,
                    height: top.height,
                    right_edge: true,
                };
                let mut children = Children::new();
                pass.rebuild::<K, S>(place, changes, &mut children);
                (children, top.height)
            }
            None => (pass.leaves(None, changes, changes[0].0, true), 0),
        };
        self.plant(edit, children, height);
    }

    /// Makes `children`, at `height`, the whole index.
    pub(super) fn plant(&mut self, edit: &mut Edit, mut children: Children<K>, mut height: u32) {
        while children.len() > 1 {
            children = pack_inner(edit, children, false);
            height += 1;
        }
        let Some(root) = children.first() else {
            (self.top, self.entries) = (None, 0);
            return;
        };
        let mut node = root.node;
        while height > 0 && node.width() == 1 {
            // SAFETY: above height 0 there are inner nodes; it is protected or just made.
            let only = unsafe { Inner::<K>::new(node) }.children()[0];
            edit.retire(node);
            (node, height) = (only, height - 1);
        }
        self.entries = root.entries;
        let (mut tail, mut tail_len) = (node, self.entries);
        for _ in 0..height {
            // SAFETY: as above.
            let inner = unsafe { Inner::<K>::new(tail) };
            let last = inner.width() - 1;
            tail_len = inner.extent(last, tail_len).len();
            tail = inner.children()[last];
        }
        let tail_len = tail_len as u32;
        self.top = Some(Top {
            node,
            height,
            tail_len,
            tail,
        });
    }
}

impl Pass<'_> {
    /// Rebuilds one subtree; what takes its place goes to `out`.
    fn rebuild<K: Key, S: Slot>(
        &mut self,
        place: Place<K>,
        changes: &[(K, Change<S>)],
        out: &mut Children<K>,
    ) {
        let Place {
            child,
            height,
            right_edge,
        } = place;
        if height == 0 {
            return self.rebuild_leaf(child, right_edge, changes, out);
        }
        // SAFETY: an inner node of a protected version.
        let inner = unsafe { Inner::<K>::new(child.node) };
        let mut below = Children::with_capacity(INNER + 2);
        let mut rest = changes;
        for (at, sub) in inner.to_children(child.low, child.entries).enumerate() {
            let last = at + 1 == inner.width();
            let here = if last {
                rest.len()
            } else {
                rest.partition_point(|(key, _)| *key < inner.separators()[at])
            };
            let (mine, later) = rest.split_at(here);
            rest = later;
            if mine.is_empty() {
                below.push(sub);
            } else {
                let place = Place {
                    child: sub,
                    height: height - 1,
                    right_edge: right_edge && last,
                };
                self.rebuild::<K, S>(place, mine, &mut below);
            }
        }
        let exempt = right_edge && self.appends;
        mend::<K, S>(self.edit, &mut below, height - 1, exempt);
        out.append(&mut pack_inner(self.edit, below, exempt));
        self.edit.retire(child.node);
    }

    /// As `rebuild`, of one leaf.
    fn rebuild_leaf<K: Key, S: Slot>(
        &mut self,
        child: Child<K>,
        right_edge: bool,
        changes: &[(K, Change<S>)],
        out: &mut Children<K>,
    ) {
        // SAFETY: a leaf of a protected version; the counts give its length.
        let leaf = unsafe { Leaf::new(child.node, child.entries) };
        let (low, beyond) = (changes[0].0, leaf.keys().last() < Some(&changes[0].0));
        if right_edge && self.appends && beyond && leaf.len() == LEAF {
            // A full leaf stays as it is; the new ones follow it.
            out.push(child);
            out.append(&mut self.leaves::<K, S>(None, changes, low, true));
        } else {
            out.append(&mut self.leaves(Some(leaf), changes, child.low, right_edge));
            self.edit.retire(child.node);
        }
    }

    /// The leaves that hold what `leaf` held, changed.
    fn leaves<K: Key, S: Slot>(
        &mut self,
        leaf: Option<Leaf<'_, K, S>>,
        changes: &[(K, Change<S>)],
        low: K,
        right_edge: bool,
    ) -> Children<K> {
        let (keys, slots) = self.merge(leaf, changes);
        let fill = right_edge && self.appends;
        let mut out = Children::new();
        let mut start = 0;
        for len in portions(keys.len(), LEAF, fill) {
            let end = start + len;
            let last = right_edge && end == keys.len();
            let width = Root::<K, S>::width_for(len, last, self.entries + changes.len());
            let run = (&keys[start..end], &slots[start..end]);
            out.push(Child {
                low: if start == 0 { low } else { keys[start] },
                node: Leaf::build(self.edit, width, &[run]),
                entries: len,
            });
            start = end;
        }
        out
    }

    /// The entries of `leaf` after `changes`; payloads that go are retired.
    fn merge<K: Key, S: Slot>(
        &mut self,
        leaf: Option<Leaf<'_, K, S>>,
        changes: &[(K, Change<S>)],
    ) -> (Vec<K>, Vec<S>) {
        let (old_keys, old_slots) = leaf.map_or((&[][..], &[][..]), |l| (l.keys(), l.slots()));
        let room = old_keys.len() + changes.len();
        let (mut keys, mut slots) = (Vec::with_capacity(room), Vec::with_capacity(room));
        let mut at = 0;
        for (key, change) in changes {
            let upto = at + key.place_among(&old_keys[at..], false);
            keys.extend_from_slice(&old_keys[at..upto]);
            slots.extend_from_slice(&old_slots[at..upto]);
            at = upto;
            if old_keys.get(at) == Some(key) {
                Root::<K, S>::retire_payload(self.edit, &old_slots[at]);
                at += 1;
            }
            if let Change::Put(slot) = change {
                keys.push(*key);
                slots.push(*slot);
            }
        }
        keys.extend_from_slice(&old_keys[at..]);
        slots.extend_from_slice(&old_slots[at..]);
        (keys, slots)
    }
}

/// Merges children that are too small with a neighbour. With `exempt`, the last one may stay small:
/// appends are filling it.
pub(super) fn mend<K: Key, S: Slot>(
    edit: &mut Edit,
    children: &mut Children<K>,
    height: u32,
    exempt: bool,
) {
    let mut at = 0;
    while at < children.len() && children.len() > 1 {
        let child = children[at];
        let small = if height == 0 {
            child.entries < LEAF_MIN
        } else {
            child.node.width() < INNER_MIN
        };
        if !small || (exempt && at + 1 == children.len()) {
            at += 1;
            continue;
        }
        at = at.saturating_sub(1);
        let (left, right) = (children[at], children[at + 1]);
        let merged = if height == 0 {
            merge_leaves::<K, S>(edit, left, right)
        } else {
            merge_inner::<K, S>(edit, left, right, height)
        };
        edit.retire(left.node);
        edit.retire(right.node);
        children.splice(at..at + 2, merged);
    }
}

fn merge_leaves<K: Key, S: Slot>(edit: &mut Edit, left: Child<K>, right: Child<K>) -> Children<K> {
    // SAFETY: both are protected or made by this edit, and as long as their counts say.
    let (l, r) = unsafe {
        (
            Leaf::<K, S>::new(left.node, left.entries),
            Leaf::new(right.node, right.entries),
        )
    };
    let keys = [l.keys(), r.keys()].concat();
    let slots = [l.slots(), r.slots()].concat();
    let mut start = 0;
    portions(keys.len(), LEAF, false)
        .map(|len| {
            let run = (&keys[start..start + len], &slots[start..start + len]);
            let low = if start == 0 { left.low } else { keys[start] };
            start += len;
            Child {
                low,
                node: Leaf::build(edit, len, &[run]),
                entries: len,
            }
        })
        .collect()
}

/// A node that a cut or a batch left with a single small child could not mend that child alone; among
/// the neighbour's children it can.
fn merge_inner<K: Key, S: Slot>(
    edit: &mut Edit,
    left: Child<K>,
    right: Child<K>,
    height: u32,
) -> Children<K> {
    // SAFETY: both are protected or made by this edit.
    let (l, r) = unsafe { (Inner::<K>::new(left.node), Inner::<K>::new(right.node)) };
    let mut below = l
        .to_children(left.low, left.entries)
        .chain(r.to_children(right.low, right.entries))
        .collect();
    mend::<K, S>(edit, &mut below, height - 1, false);
    pack_inner(edit, below, false)
}

/// Packs neighbouring subtrees into as few parents as hold them: evenly, or full from the left.
pub(super) fn pack_inner<K: Key>(edit: &mut Edit, below: Children<K>, fill: bool) -> Children<K> {
    let mut start = 0;
    portions(below.len(), INNER, fill)
        .map(|len| {
            let children = &below[start..start + len];
            start += len;
            Child {
                low: children[0].low,
                node: Inner::build(edit, children),
                entries: children.iter().map(|child| child.entries).sum(),
            }
        })
        .collect()
}

/// Cuts `total` into portions of at most `most`: as even as can be, or full ones and a rest.
fn portions(total: usize, most: usize, fill: bool) -> impl Iterator<Item = usize> {
    let count = total.div_ceil(most);
    (0..count).map(move |at| {
        if fill {
            most.min(total - at * most)
        } else {
            (total * (at + 1)) / count - (total * at) / count
        }
    })
}
