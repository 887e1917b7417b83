//! Conditions of a put.

use std::fmt;

/// One thing that a put may ask for. `Greater` and `Less` compare as the set orders its scores: in a set
/// whose scores descend, the smaller number is the greater score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The member has no score yet.
    New,
    /// The member has a score.
    Exists,
    /// The member's score comes before the new one, or it has none.
    Greater,
    /// The member's score comes after the new one, or it has none.
    Less,
}

/// Conditions that no member can meet together. Naming one of them twice is no contradiction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contradiction(pub Condition, pub Condition);

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} and {:?} contradict each other", self.0, self.1)
    }
}

impl std::error::Error for Contradiction {}

/// When a put is to be done. The default is always.
///
/// ```
/// use echo_data_core::{Condition, When};
///
/// assert!(When::all(&[Condition::Exists, Condition::Greater]).is_ok());
/// assert!(When::all(&[Condition::New, Condition::Greater]).is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct When {
    new: bool,
    exists: bool,
    greater: bool,
    less: bool,
}

impl From<Condition> for When {
    fn from(condition: Condition) -> Self {
        let mut when = Self::default();
        *when.flag(condition) = true;
        when
    }
}

impl When {
    /// Always.
    pub const ALWAYS: Self = Self {
        new: false,
        exists: false,
        greater: false,
        less: false,
    };

    /// When all of `conditions` are met, unless two of them contradict each other.
    pub fn all(conditions: &[Condition]) -> Result<Self, Contradiction> {
        use Condition::{Exists, Greater, Less, New};
        let mut when = Self::ALWAYS;
        for &condition in conditions {
            *when.flag(condition) = true;
        }
        let contradictions = [(New, Exists), (New, Greater), (New, Less), (Greater, Less)];
        for (a, b) in contradictions {
            if *when.flag(a) && *when.flag(b) {
                return Err(Contradiction(a, b));
            }
        }
        Ok(when)
    }

    fn flag(&mut self, condition: Condition) -> &mut bool {
        match condition {
            Condition::New => &mut self.new,
            Condition::Exists => &mut self.exists,
            Condition::Greater => &mut self.greater,
            Condition::Less => &mut self.less,
        }
    }

    /// Whether a member with the score `old` may have the score `new`.
    pub(crate) fn admits<B: Ord>(self, old: Option<B>, new: B) -> bool {
        match old {
            None => !self.exists,
            Some(old) => !self.new && (!self.greater || new > old) && (!self.less || new < old),
        }
    }
}
