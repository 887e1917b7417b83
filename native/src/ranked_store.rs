//! Ranked sets whose scores have one field or two, which is chosen when a set is made.

use echo_data_core::id::{GateError, Namespace};
use echo_data_core::{Gauge, HeldRanks, Info, Measure, Number, Ranked, RankedView, Score};
use rustler::Term;

use crate::bounds::gate;

/// What was stated when a set was made.
pub(crate) struct Rule {
    pub(crate) namespace: Namespace,
    pub(crate) fields: Fields,
    pub(crate) unique: bool,
}

/// What is known of the fields of all scores.
pub(crate) enum Fields {
    One([Measure; 1]),
    Two([Measure; 2]),
}

impl Fields {
    pub(crate) fn measures(&self) -> &[Measure] {
        match self {
            Self::One(measures) => measures,
            Self::Two(measures) => measures,
        }
    }
}

impl AsRef<[Measure]> for Rule {
    fn as_ref(&self) -> &[Measure] {
        self.fields.measures()
    }
}

impl Rule {
    /// The key of an id.
    #[inline]
    pub(crate) fn key(&self, id: Term<'_>) -> Result<u64, GateError> {
        gate(id, self.namespace)
    }
}

pub(crate) enum Store {
    One(Ranked<[Number; 1]>),
    Two(Ranked<[Number; 2]>),
}

/// A moment of a set, for one call.
pub(crate) enum View<'a> {
    One(RankedView<'a, [Number; 1]>),
    Two(RankedView<'a, [Number; 2]>),
}

/// A moment of a set, kept.
pub(crate) enum Held {
    One(HeldRanks<[Number; 1]>),
    Two(HeldRanks<[Number; 2]>),
}

/// Does the same with a store, or a view, of either width.
macro_rules! either {
    ($of:ident, $value:expr, $inner:ident => $work:expr) => {
        match $value {
            $of::One($inner) => $work,
            $of::Two($inner) => $work,
        }
    };
}

pub(crate) use either;

impl Store {
    pub(crate) fn new(rule: &Rule) -> Self {
        fn set<const N: usize>(measures: [Measure; N], unique: bool) -> Ranked<[Number; N]>
        where
            [Number; N]: Score<Rule = [Measure; N]>,
        {
            let set = Ranked::with_rule(measures);
            match unique {
                true => set.unique(),
                false => set,
            }
        }
        match rule.fields {
            Fields::One(measures) => Self::One(set(measures, rule.unique)),
            Fields::Two(measures) => Self::Two(set(measures, rule.unique)),
        }
    }

    #[inline]
    pub(crate) fn view(&self) -> View<'_> {
        match self {
            Self::One(set) => View::One(set.view()),
            Self::Two(set) => View::Two(set.view()),
        }
    }

    pub(crate) fn hold(&self) -> Held {
        match self {
            Self::One(set) => Held::One(set.hold()),
            Self::Two(set) => Held::Two(set.hold()),
        }
    }

    pub(crate) fn at<'a>(&'a self, held: &'a Held) -> Option<View<'a>> {
        match (self, held) {
            (Self::One(set), Held::One(held)) => set.at(held).map(View::One),
            (Self::Two(set), Held::Two(held)) => set.at(held).map(View::Two),
            _ => None,
        }
    }

    pub(crate) fn info(&self) -> Info {
        either!(Self, self, set => set.info())
    }

    pub(crate) fn gauge(&self) -> Gauge {
        either!(Self, self, set => set.gauge())
    }
}

impl View<'_> {
    pub(crate) fn len(&self) -> usize {
        either!(View, self, view => view.len())
    }
}
