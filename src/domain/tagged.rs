//! Enums on the wire as objects that name their variant in `type`.
//!
//! serde can do this too, but it first copies every such object into a tree of its own and then
//! reads that, with a second copy of the reading code of every type inside; in the browser that
//! was a tenth of the whole download. Here the text is looked at twice instead.
//!
//! An enum derives both traits with `#[serde(remote = "Self")]`, which makes plain functions of
//! them, and `tagged!` makes the traits from those.

mod read;
mod write;

pub use read::read;
pub use write::Writer;

macro_rules! tagged {
    ($name:ty) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                <$name>::serialize(self, $crate::domain::tagged::Writer(serializer))
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::domain::tagged::read(deserializer, |variant| <$name>::deserialize(variant))
            }
        }
    };
}
pub(crate) use tagged;
