//! `EchoData.Leaderboard`: entries that count in several windows, which are groups of a ranked set.

use echo_data_core::{self as core, Measure, Number};
use rustler::{Encoder, Env, NifResult, NifUnitEnum, Term};

use crate::bounds::any_key;
use crate::handle;
use crate::ranked_set::{outcome, put_atom, Found};
use crate::ranked_store::{Fields, Store};
use crate::refusal::{answer, Refusal};
use crate::timeslice::Timeslice;
use crate::{atoms, group, score};

/// A score of a board: what was reached, and the entry with which.
type Scored = [Number; 2];

/// Which of a member's entries in a window count.
#[derive(Clone, Copy, NifUnitEnum)]
enum Counts {
    Best,
    Last,
    Sum,
}

impl Counts {
    /// What counts after an entry; `None` is what did before.
    fn after(
        self,
        reached: Measure,
        old: Scored,
        entry: Scored,
    ) -> Result<Option<Scored>, core::Refusal> {
        let later = later(old[1], entry[1]);
        Ok(match self {
            Self::Best if old[0] == entry[0] => (!later).then_some(entry),
            Self::Best => reached.precedes(entry[0], old[0]).then_some(entry),
            Self::Last => later.then_some(entry),
            Self::Sum => {
                let sum = old[0].plus(entry[0]).ok_or(core::Refusal::Overflow)?;
                Some([sum, if later { entry[1] } else { old[1] }])
            }
        })
    }
}

/// Whether the second is a later entry.
fn later(old: Number, entry: Number) -> bool {
    matches!((old, entry), (Number::Integer(old), Number::Integer(entry)) if entry > old)
}

/// Groups that are entered on a normal scheduler: a few microseconds each.
const SMALL: usize = 128;

/// Groups that take less time than it is worth to report.
const FEW: usize = 4;

/// `{:ok, puts}`, what the entry did in each of the groups, or `{:error, :overflow}`; or `:large` for
/// `leaderboard_enter_large`.
#[rustler::nif(name = "leaderboard_enter")]
fn enter_few<'a>(
    env: Env<'a>,
    set: Term<'a>,
    id: Term<'a>,
    reached: Term<'a>,
    entry: Term<'a>,
    groups: Vec<Term<'a>>,
    counts: Counts,
) -> NifResult<Term<'a>> {
    if groups.len() > SMALL {
        return Ok(atoms::large().to_term(env));
    }
    let timeslice = (groups.len() > FEW).then(Timeslice::begin);
    let entered = enter(env, set, id, (reached, entry), groups, counts);
    if let Some(timeslice) = timeslice {
        timeslice.end(env);
    }
    entered
}

/// As `leaderboard_enter`, however many groups there are.
#[rustler::nif(name = "leaderboard_enter_large", schedule = "DirtyCpu")]
fn enter_many<'a>(
    env: Env<'a>,
    set: Term<'a>,
    id: Term<'a>,
    reached: Term<'a>,
    entry: Term<'a>,
    groups: Vec<Term<'a>>,
    counts: Counts,
) -> NifResult<Term<'a>> {
    enter(env, set, id, (reached, entry), groups, counts)
}

fn enter<'a>(
    env: Env<'a>,
    set: Term<'a>,
    id: Term<'a>,
    (reached, entry): (Term<'a>, Term<'a>),
    groups: Vec<Term<'a>>,
    counts: Counts,
) -> NifResult<Term<'a>> {
    let enter = |found: Found| {
        let rule = found.rule();
        let Fields::Two([measure, _entry]) = rule.fields else {
            return Err(no_board());
        };
        let key = rule.key(id)?;
        let entry = any_key(entry)?;
        let reached = score::decode_field(measure, reached, "score")?;
        let new = [reached, Number::Integer(entry.cast_signed())];
        let groups = groups.into_iter().map(group::encode);
        let groups = groups.collect::<Result<Vec<_>, _>>()?;
        let groups: Vec<&[u8]> = groups.iter().map(Vec::as_slice).collect();
        found.write(env, |store| {
            let Store::Two(set) = store else {
                return Err(no_board());
            };
            let puts = set.update_each(&groups, key, |old| match old {
                None => Ok(Some(new)),
                Some(old) => counts.after(measure, old, new),
            });
            outcome(env, puts, |puts| {
                let puts: Vec<_> = puts.into_iter().map(put_atom).collect();
                puts.encode(env)
            })
        })?
    };
    answer(env, handle::with(set, enter))
}

fn no_board() -> Refusal {
    Refusal::Misuse("the set must be that of a leaderboard".into())
}
