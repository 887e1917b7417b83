//! Rank indexes as they are declared, and what they make of a record: found in the bytes that are stored,
//! so that a record that comes, one that goes and one that is asked about are evaluated alike.

use echo_data_core::{BlobRef, Kind, Measure, Number, RankIndex};
use rustler::types::atom;
use rustler::{Atom, Encoder, Env, Term};

use crate::ranked_set::Field;
use crate::refusal::Refusal;
use crate::term::{self, Pairs, Part, Shared, Value};

/// An index of a property store.
pub(crate) struct Index {
    name: Atom,
    group: Vec<Path>,
    /// One or two.
    score: Vec<Path>,
    /// Of a score of one field, the second is not used.
    measures: [Measure; 2],
    unique: bool,
    /// What a record without a field of the group has in its place, encoded.
    nil: Vec<u8>,
}

/// The encoded keys that lead from a record to a field of it: one at least.
struct Path(Vec<Vec<u8>>);

/// The path to a value that is not what an index needs there; to the record, it is empty.
pub(crate) struct BadField(Vec<Vec<u8>>);

impl BadField {
    /// A list of keys.
    pub(crate) fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        let keys = self.0.iter().map(|key| term::decode(env, blob(key)));
        keys.collect::<Vec<_>>().encode(env)
    }
}

fn blob(encoded: &[u8]) -> BlobRef<'_, Shared> {
    let (&first, rest) = encoded.split_first().expect("an encoded value");
    BlobRef::Bytes(first, rest)
}

impl Path {
    fn decode(path: Vec<Term<'_>>) -> Result<Self, Refusal> {
        let keys = path.into_iter().map(term::encode_bytes);
        keys.collect::<Result<_, _>>().map(Self)
    }

    /// The value at the end, if the way leads there.
    fn find<'v>(&self, record: &Pairs<'v>) -> Result<Option<Part<'v>>, BadField> {
        let mut found = record.get(&self.0[0]);
        for (at, key) in self.0.iter().enumerate().skip(1) {
            let Some(part) = found.filter(|part| !part.is_nil()) else {
                return Ok(None);
            };
            let inner = part.pairs().ok_or_else(|| self.bad(at))?;
            found = inner.get(key);
        }
        Ok(found)
    }

    /// The value behind the first `keys` is a bad one.
    fn bad(&self, keys: usize) -> BadField {
        BadField(self.0[..keys].to_vec())
    }
}

impl Index {
    /// Of `{name, group, score, fields, unique}`: paths are lists of keys, and a field is `{kind, order}`.
    pub(crate) fn decode(declaration: Term<'_>) -> Result<Self, Refusal> {
        type Paths<'a> = Vec<Vec<Term<'a>>>;
        let stated = declaration.decode::<(Atom, Paths, Paths, Vec<Field>, bool)>();
        let (name, group, score, fields, unique) = stated.map_err(Refusal::Native)?;
        let measures: Vec<Measure> = fields.into_iter().map(Measure::from).collect();
        let measures = match measures[..] {
            [measure] => [measure; 2],
            [first, second] => [first, second],
            _ => return Err(Refusal::Native(rustler::Error::BadArg)),
        };
        let paths =
            |paths: Paths| -> Result<Vec<_>, _> { paths.into_iter().map(Path::decode).collect() };
        Ok(Self {
            name,
            group: paths(group)?,
            score: paths(score)?,
            measures,
            unique,
            nil: term::encode_bytes(atom::nil().to_term(declaration.get_env()))?,
        })
    }

    /// The name of a record's group: the same that [`group::encode`](crate::group::encode) has for it.
    fn append_group(&self, record: &Pairs<'_>, output: &mut Vec<u8>) -> Result<(), BadField> {
        for path in &self.group {
            let found = path.find(record)?;
            let field = found.unwrap_or_else(|| Part::from(&*self.nil));
            if field.integer().is_none() && field.atom().is_none() && !field.is_binary() {
                return Err(path.bad(path.0.len()));
            }
            match self.group.len() {
                1 if field.is_nil() => {}
                _ => field.append_to(output),
            }
        }
        if self.group.len() > 1 {
            term::close_tuple(output, self.group.len());
        }
        Ok(())
    }
}

impl AsRef<[Measure]> for Index {
    fn as_ref(&self) -> &[Measure] {
        &self.measures[..self.score.len()]
    }
}

impl RankIndex<Value> for Index {
    type Score = [Number; 2];
    type Name = Atom;
    type Error = BadField;

    fn name(&self) -> Atom {
        self.name
    }

    fn rule(&self) -> &[Measure; 2] {
        &self.measures
    }

    fn is_unique(&self) -> bool {
        self.unique
    }

    fn rank_by(
        &self,
        record: BlobRef<'_, Shared>,
        group: &mut Vec<u8>,
    ) -> Result<[Number; 2], BadField> {
        let pairs = Part::of(record).pairs();
        let pairs = pairs.ok_or_else(|| BadField(Vec::new()))?;
        self.append_group(&pairs, group)?;
        let mut score = [Number::Nil; 2];
        for (at, path) in self.score.iter().enumerate() {
            if let Some(part) = path.find(&pairs)? {
                let number = number(part, self.measures[at].kind);
                score[at] = number.ok_or_else(|| path.bad(path.0.len()))?;
            }
        }
        Ok(score)
    }
}

/// The number that a part is, if it is one of this kind, or `nil`.
fn number(part: Part<'_>, kind: Kind) -> Option<Number> {
    match kind {
        _ if part.is_nil() => Some(Number::Nil),
        Kind::Integer => part.integer().map(Number::Integer),
        Kind::Float => part.float().map(Number::Float),
    }
}
