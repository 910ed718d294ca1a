//! Writes the name of the variant as the first field of its object.

use serde::ser::{
    Error, Impossible, Serialize, SerializeStruct, SerializeStructVariant, Serializer,
};

/// Writes an enum as an object that names its variant in `type`.
pub struct Writer<S>(pub S);

/// Writes the struct inside a variant into the object of the variant.
struct Inside<S> {
    serializer: S,
    variant: &'static str,
}

/// An object whose `type` is written already.
pub struct Object<S>(S);

fn begin<S: Serializer>(
    serializer: S,
    variant: &'static str,
    fields: usize,
) -> Result<Object<S::SerializeStruct>, S::Error> {
    let mut object = serializer.serialize_struct("", fields + 1)?;
    object.serialize_field("type", variant)?;
    Ok(Object(object))
}

impl<S: SerializeStruct> SerializeStruct for Object<S> {
    type Ok = S::Ok;
    type Error = S::Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), S::Error> {
        self.0.serialize_field(name, value)
    }

    fn end(self) -> Result<S::Ok, S::Error> {
        self.0.end()
    }
}

impl<S: SerializeStruct> SerializeStructVariant for Object<S> {
    type Ok = S::Ok;
    type Error = S::Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), S::Error> {
        self.0.serialize_field(name, value)
    }

    fn end(self) -> Result<S::Ok, S::Error> {
        self.0.end()
    }
}

/// Refuses, for a whole list of methods, what neither an enum nor a struct asks for.
macro_rules! refuse {
    ($($method:ident($($argument:ty),*) -> $output:ty;)*) => {
        $(fn $method(self $(, _: $argument)*) -> Result<$output, S::Error> {
            Err(S::Error::custom("only an enum of structs can be written by its type"))
        })*
    };
}

/// The part of a serializer that `Writer` and `Inside` have in common: all that is refused.
macro_rules! refuse_all_but {
    ($($own:item)*) => {
        type Ok = S::Ok;
        type Error = S::Error;
        type SerializeSeq = Impossible<S::Ok, S::Error>;
        type SerializeTuple = Impossible<S::Ok, S::Error>;
        type SerializeTupleStruct = Impossible<S::Ok, S::Error>;
        type SerializeTupleVariant = Impossible<S::Ok, S::Error>;
        type SerializeMap = Impossible<S::Ok, S::Error>;
        type SerializeStruct = Object<S::SerializeStruct>;
        type SerializeStructVariant = Object<S::SerializeStruct>;

        refuse! {
            serialize_bool(bool) -> S::Ok;
            serialize_i8(i8) -> S::Ok;
            serialize_i16(i16) -> S::Ok;
            serialize_i32(i32) -> S::Ok;
            serialize_i64(i64) -> S::Ok;
            serialize_u8(u8) -> S::Ok;
            serialize_u16(u16) -> S::Ok;
            serialize_u32(u32) -> S::Ok;
            serialize_u64(u64) -> S::Ok;
            serialize_f32(f32) -> S::Ok;
            serialize_f64(f64) -> S::Ok;
            serialize_char(char) -> S::Ok;
            serialize_str(&str) -> S::Ok;
            serialize_bytes(&[u8]) -> S::Ok;
            serialize_none() -> S::Ok;
            serialize_unit() -> S::Ok;
            serialize_unit_struct(&'static str) -> S::Ok;
            serialize_seq(Option<usize>) -> Self::SerializeSeq;
            serialize_tuple(usize) -> Self::SerializeTuple;
            serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
            serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
            serialize_map(Option<usize>) -> Self::SerializeMap;
        }

        fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<S::Ok, S::Error> {
            self.serialize_unit()
        }

        fn serialize_newtype_struct<T: Serialize + ?Sized>(
            self,
            _: &'static str,
            _: &T,
        ) -> Result<S::Ok, S::Error> {
            self.serialize_unit()
        }

        $($own)*
    };
}

impl<S: Serializer> Serializer for Writer<S> {
    refuse_all_but! {
        fn serialize_unit_variant(
            self,
            _: &'static str,
            _: u32,
            variant: &'static str,
        ) -> Result<S::Ok, S::Error> {
            SerializeStruct::end(begin(self.0, variant, 0)?)
        }

        fn serialize_newtype_variant<T: Serialize + ?Sized>(
            self,
            _: &'static str,
            _: u32,
            variant: &'static str,
            value: &T,
        ) -> Result<S::Ok, S::Error> {
            value.serialize(Inside { serializer: self.0, variant })
        }

        fn serialize_struct(
            self,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeStruct, S::Error> {
            Err(S::Error::custom("only an enum can be written by its type"))
        }

        fn serialize_struct_variant(
            self,
            _: &'static str,
            _: u32,
            variant: &'static str,
            fields: usize,
        ) -> Result<Self::SerializeStructVariant, S::Error> {
            begin(self.0, variant, fields)
        }
    }
}

impl<S: Serializer> Serializer for Inside<S> {
    refuse_all_but! {
        refuse! {
            serialize_unit_variant(&'static str, u32, &'static str) -> S::Ok;
            serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
        }

        fn serialize_newtype_variant<T: Serialize + ?Sized>(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: &T,
        ) -> Result<S::Ok, S::Error> {
            self.serialize_unit()
        }

        fn serialize_struct(
            self,
            _: &'static str,
            fields: usize,
        ) -> Result<Self::SerializeStruct, S::Error> {
            begin(self.serializer, self.variant, fields)
        }
    }
}
