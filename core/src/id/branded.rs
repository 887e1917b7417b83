//! The branded id: a namespace of three capitals in front of a snowflake's base62 payload.

use std::error::Error;
use std::fmt;
use std::str::{self, FromStr};

use super::{base62, placement, snowflake};

/// The kind of entity an id names: exactly three bytes, each `A` to `Z`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Namespace([u8; Self::LEN]);

impl Namespace {
    /// Bytes of a namespace.
    pub const LEN: usize = 3;

    /// The namespace spelled by `text`, or `None` unless it is three ASCII capitals.
    ///
    /// ```
    /// use echo_data_core::id::Namespace;
    ///
    /// const USER: Namespace = Namespace::new(b"USR").unwrap();
    /// assert_eq!(USER.as_str(), "USR");
    /// assert_eq!(Namespace::new(b"usr"), None);
    /// ```
    #[inline]
    pub const fn new(text: &[u8]) -> Option<Self> {
        match text {
            &[a, b, c] if is_capital(a) & is_capital(b) & is_capital(c) => Some(Self([a, b, c])),
            _ => None,
        }
    }

    /// The three bytes.
    #[inline]
    pub const fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }

    /// The three capitals as text.
    pub const fn as_str(&self) -> &str {
        match str::from_utf8(&self.0) {
            Ok(text) => text,
            Err(_) => unreachable!(),
        }
    }
}

#[inline]
const fn is_capital(byte: u8) -> bool {
    byte.wrapping_sub(b'A') < 26
}

impl TryFrom<&[u8]> for Namespace {
    type Error = InvalidNamespace;

    fn try_from(text: &[u8]) -> Result<Self, InvalidNamespace> {
        Self::new(text).ok_or(InvalidNamespace)
    }
}

impl FromStr for Namespace {
    type Err = InvalidNamespace;

    fn from_str(text: &str) -> Result<Self, InvalidNamespace> {
        text.as_bytes().try_into()
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Namespace({self})")
    }
}

/// An id as it crosses every boundary: [`Namespace`] and snowflake, fourteen bytes of text.
///
/// The derived order (namespace, then snowflake) is the byte order of the text.
///
/// ```
/// use echo_data_core::id::BrandedId;
///
/// let id = BrandedId::parse(b"USR0KHTOWnGLuC").unwrap();
/// assert_eq!(id.namespace().as_str(), "USR");
/// assert_eq!(id.snowflake(), 274_557_032_793_636_864);
/// assert_eq!(id.to_string(), "USR0KHTOWnGLuC");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BrandedId {
    namespace: Namespace,
    snowflake: u64,
}

impl BrandedId {
    /// Bytes of a branded id's text.
    pub const LEN: usize = Namespace::LEN + base62::WIDTH;

    /// The id of `snowflake` in `namespace`, or `None` when `snowflake` is above [`snowflake::MAX`].
    #[inline]
    pub const fn new(namespace: Namespace, snowflake: u64) -> Option<Self> {
        if snowflake <= snowflake::MAX {
            Some(Self {
                namespace,
                snowflake,
            })
        } else {
            None
        }
    }

    /// The id spelled by `text`. O(1), no allocation.
    ///
    /// # Errors
    /// [`InvalidId`] unless `text` is fourteen bytes: three capitals, then eleven base62 digits worth at most
    /// [`snowflake::MAX`].
    #[inline]
    pub fn parse(text: &[u8]) -> Result<Self, InvalidId> {
        let text: &[u8; Self::LEN] = text.try_into().map_err(|_| InvalidId)?;
        let (brand, payload) = text
            .split_first_chunk::<{ Namespace::LEN }>()
            .ok_or(InvalidId)?;
        let payload = payload.try_into().map_err(|_| InvalidId)?;
        let namespace = Namespace::new(brand).ok_or(InvalidId)?;
        let snowflake = base62::decode_fixed(payload).ok_or(InvalidId)?;
        Ok(Self {
            namespace,
            snowflake,
        })
    }

    /// The fourteen bytes of the id's text. O(1), no allocation.
    #[inline]
    pub fn to_bytes(self) -> [u8; Self::LEN] {
        let mut text = [0; Self::LEN];
        let (brand, payload) = text.split_at_mut(Namespace::LEN);
        brand.copy_from_slice(self.namespace.as_bytes());
        payload.copy_from_slice(&base62::encode_fixed(self.snowflake));
        text
    }

    /// The kind of entity that the id names.
    #[inline]
    pub const fn namespace(self) -> Namespace {
        self.namespace
    }

    /// The id without its brand, at most [`snowflake::MAX`].
    #[inline]
    pub const fn snowflake(self) -> u64 {
        self.snowflake
    }

    /// When the id was minted, in milliseconds since 1970-01-01T00:00:00Z.
    #[inline]
    pub const fn unix_ms(self) -> u64 {
        snowflake::unix_ms(self.snowflake)
    }

    /// The placement hash of the snowflake: see [`hash32`](super::hash32).
    #[inline]
    pub const fn hash32(self) -> u32 {
        placement::hash32(self.snowflake)
    }
}

impl TryFrom<&[u8]> for BrandedId {
    type Error = InvalidId;

    fn try_from(text: &[u8]) -> Result<Self, InvalidId> {
        Self::parse(text)
    }
}

impl FromStr for BrandedId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        Self::parse(text.as_bytes())
    }
}

impl fmt::Display for BrandedId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(str::from_utf8(&self.to_bytes()).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for BrandedId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BrandedId({self})")
    }
}

/// The text is not a branded id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidId;

impl fmt::Display for InvalidId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("invalid branded id")
    }
}

impl Error for InvalidId {}

/// The text is not a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidNamespace;

impl fmt::Display for InvalidNamespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a namespace is three capitals, A to Z")
    }
}

impl Error for InvalidNamespace {}
