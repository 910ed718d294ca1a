//! Reads the name of the variant first, then the same text again as that variant.

use std::borrow::Cow;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, VariantAccess, Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::value::RawValue;
use serde_json::{Deserializer as JsonReader, Error};

#[derive(Deserialize)]
struct Tag<'a> {
    #[serde(rename = "type", borrow)]
    name: Cow<'a, str>,
}

/// Reads an object whose `type` names a variant.
pub fn read<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    as_variant: impl FnOnce(Variant<'_>) -> Result<T, Error>,
) -> Result<T, D::Error> {
    let text = Box::<RawValue>::deserialize(deserializer)?;
    let text = text.get();
    let tag: Tag = serde_json::from_str(text).map_err(D::Error::custom)?;
    as_variant(Variant { name: &tag.name, text }).map_err(D::Error::custom)
}

/// A variant by its name, and the text of its fields.
#[derive(Clone, Copy)]
pub struct Variant<'a> {
    name: &'a str,
    text: &'a str,
}

impl<'de> Deserializer<'de> for Variant<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("only an enum can be read by its type"))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        let name: StrDeserializer<'_, Error> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(&mut JsonReader::from_str(self.text))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("a variant has named fields"))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        JsonReader::from_str(self.text).deserialize_struct("", fields, visitor)
    }
}
