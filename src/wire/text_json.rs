//! JSON read from text, for server functions.
//!
//! The usual encoding reads from bytes, while pages and the socket read from text: the browser
//! would carry the reading code of every type twice.

use leptos::server_fn::{Bytes, ContentType, Decodes, Encodes, Format, FormatType};
use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};

pub struct TextJson;

impl ContentType for TextJson {
    const CONTENT_TYPE: &'static str = "application/json";
}

impl FormatType for TextJson {
    const FORMAT_TYPE: Format = Format::Text;
}

impl<T: Serialize> Encodes<T> for TextJson {
    type Error = serde_json::Error;

    fn encode(value: &T) -> Result<Bytes, Self::Error> {
        serde_json::to_string(value).map(Bytes::from)
    }
}

impl<T: DeserializeOwned> Decodes<T> for TextJson {
    type Error = serde_json::Error;

    fn decode(bytes: Bytes) -> Result<T, Self::Error> {
        let text = std::str::from_utf8(&bytes).map_err(serde_json::Error::custom)?;
        serde_json::from_str(text)
    }
}
