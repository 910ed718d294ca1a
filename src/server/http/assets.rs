//! The browser's files: inside the binary in a release, read from the build folder otherwise.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use anyhow::Context;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
}

/// What the build says about its files.
#[derive(Debug, Deserialize)]
struct Manifest {
    script: String,
    glue: String,
    module: String,
    style: String,
    parts: BTreeMap<String, Vec<String>>,
    files: Vec<ManifestFile>,
}

#[derive(Debug, Deserialize)]
struct ManifestFile {
    path: String,
    content_type: String,
    immutable: bool,
    etag: String,
    brotli: bool,
    gzip: bool,
}

/// The addresses that a page needs to start in the browser.
#[derive(Debug, Clone, Default)]
pub struct PageAssets {
    pub script: String,
    pub glue: String,
    pub module: String,
    pub style: String,
    /// The files of each part that is loaded when it is wanted.
    pub parts: BTreeMap<String, Vec<String>>,
}

#[derive(Debug)]
struct Asset {
    content_type: HeaderValue,
    cache_control: HeaderValue,
    etag: HeaderValue,
    plain: Bytes,
    brotli: Option<Bytes>,
    gzip: Option<Bytes>,
}

#[derive(Debug, Default)]
pub struct Assets {
    pub page: PageAssets,
    by_path: HashMap<String, Asset>,
}

impl Assets {
    /// Loads the files from a folder if one is named, or those inside the binary. A binary that
    /// carries none, started without a folder, serves pages that only lack script and style.
    pub fn load(site: Option<&Path>) -> anyhow::Result<Self> {
        match site {
            Some(folder) => Self::from_folder(folder),
            None if embedded::MANIFEST.is_empty() => {
                tracing::warn!(
                    "this build carries no browser files: pages are shown without script and style"
                );
                Ok(Self::default())
            }
            None => Self::from_binary(),
        }
    }

    fn from_folder(folder: &Path) -> anyhow::Result<Self> {
        let manifest = folder.join("assets.json");
        let manifest = std::fs::read_to_string(&manifest)
            .with_context(|| format!("{} cannot be read", manifest.display()))?;
        Self::from_manifest(&manifest, |path, suffix| {
            let file = folder.join(format!("{}{suffix}", path.trim_start_matches('/')));
            let bytes = std::fs::read(&file);
            Ok(Bytes::from(bytes.with_context(|| format!("{} cannot be read", file.display()))?))
        })
    }

    fn from_binary() -> anyhow::Result<Self> {
        Self::from_manifest(embedded::MANIFEST, |path, suffix| {
            let (_, plain, brotli, gzip) = embedded::FILES
                .iter()
                .find(|(known, ..)| *known == path)
                .with_context(|| format!("{path} is not inside the binary"))?;
            let bytes = match suffix {
                ".br" => *brotli,
                ".gz" => *gzip,
                _ => Some(*plain),
            };
            Ok(Bytes::from_static(bytes.with_context(|| format!("{path}{suffix} is missing"))?))
        })
    }

    fn from_manifest(
        manifest: &str,
        read: impl Fn(&str, &str) -> anyhow::Result<Bytes>,
    ) -> anyhow::Result<Self> {
        let manifest: Manifest =
            serde_json::from_str(manifest).context("the list of browser files cannot be read")?;
        let mut by_path = HashMap::new();
        for file in manifest.files {
            let cache =
                if file.immutable { "public, max-age=31536000, immutable" } else { "no-cache" };
            let asset = Asset {
                content_type: HeaderValue::from_str(&file.content_type)?,
                cache_control: HeaderValue::from_static(cache),
                etag: HeaderValue::from_str(&file.etag)?,
                plain: read(&file.path, "")?,
                brotli: file.brotli.then(|| read(&file.path, ".br")).transpose()?,
                gzip: file.gzip.then(|| read(&file.path, ".gz")).transpose()?,
            };
            by_path.insert(file.path, asset);
        }
        let page = PageAssets {
            script: manifest.script,
            glue: manifest.glue,
            module: manifest.module,
            style: manifest.style,
            parts: manifest.parts,
        };
        Ok(Self { page, by_path })
    }

    pub fn has(&self, path: &str) -> bool {
        self.by_path.contains_key(path)
    }

    /// Answers a request for a file, or gives nothing where there is no such file.
    pub fn serve(&self, path: &str, headers: &HeaderMap) -> Option<Response> {
        let asset = self.by_path.get(path)?;
        let mut answer = HeaderMap::new();
        answer.insert(header::CACHE_CONTROL, asset.cache_control.clone());
        answer.insert(header::ETAG, asset.etag.clone());
        answer.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        if headers.get(header::IF_NONE_MATCH) == Some(&asset.etag) {
            return Some((StatusCode::NOT_MODIFIED, answer).into_response());
        }
        answer.insert(header::CONTENT_TYPE, asset.content_type.clone());
        let (bytes, encoding) = asset.best_for(headers);
        if let Some(encoding) = encoding {
            answer.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
        }
        Some((answer, Body::from(bytes)).into_response())
    }
}

impl Asset {
    fn best_for(&self, headers: &HeaderMap) -> (Bytes, Option<&'static str>) {
        let accepted = headers
            .get(header::ACCEPT_ENCODING)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let accepts = |name: &str| {
            accepted.split(',').any(|item| {
                let mut fields = item.split(';').map(str::trim);
                fields.next() == Some(name) && fields.next() != Some("q=0")
            })
        };
        match (&self.brotli, &self.gzip) {
            (Some(brotli), _) if accepts("br") => (brotli.clone(), Some("br")),
            (_, Some(gzip)) if accepts("gzip") => (gzip.clone(), Some("gzip")),
            _ => (self.plain.clone(), None),
        }
    }
}
