//! Gathers what a browser downloads, each file under its final address.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::project::{Mode, NAME, Project};
use crate::{browser_module, hash, manifest, minify, service_worker, stylesheet};

/// One file with its address.
pub struct Asset {
    pub path: String,
    pub content: Vec<u8>,
    pub immutable: bool,
}

/// Everything the site holds; pages name the first four.
pub struct Assets {
    pub script: Asset,
    pub glue: Asset,
    pub module: Asset,
    pub style: Asset,
    /// The addresses of each part's files, which are among the others.
    pub parts: BTreeMap<String, Vec<String>>,
    pub others: Vec<Asset>,
}

/// Gathers the module with its glue, the stylesheet and the public files.
pub fn gather(project: &Project, mode: Mode) -> Result<Assets> {
    let mut code = code(&project.bindings(mode))?;
    let mut take = |name: &str| {
        let place = code.iter().position(|asset| asset.path.ends_with(&format!("/{name}")));
        let place = place.with_context(|| format!("the build left no {name}"))?;
        Ok::<_, anyhow::Error>(code.swap_remove(place))
    };
    let module = take(&format!("{NAME}_bg.wasm"))?;
    let glue = take(&format!("{NAME}.js"))?;
    let folder = glue.path.trim_end_matches(&format!("/{NAME}.js")).to_owned();
    let address = |name: String| format!("{folder}/{name}.wasm");
    let parts = browser_module::parts(project, mode)?
        .into_iter()
        .map(|(part, files)| (part, files.into_iter().map(address).collect()))
        .collect();
    let script = hashed("start", "js", start_script(&glue, &module).into_bytes());

    let style = stylesheet::bundle(&project.root.join("style/main.css"))?;
    let style = match mode {
        Mode::Debug => style,
        Mode::Release => minify::minify(&style),
    };
    let style = hashed(NAME, "css", style.into_bytes());

    let mut others = code;
    let public = directory(&project.root.join("public"), "")?;
    let manifest = format!("/{}", manifest::FILE_NAME);
    if let Some(taken) =
        public.iter().find(|asset| asset.path.starts_with("/pkg/") || asset.path == manifest)
    {
        bail!("public{} would hide a file of the build", taken.path);
    }
    others.extend(public);
    let mut assets = Assets { script, glue, module, style, parts, others };
    service_worker::fill_in(&mut assets)?;
    Ok(assets)
}

/// Lists the files of a directory, and of those inside it, that are not hidden.
pub fn files_in(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    if !directory.is_dir() {
        return Ok(files);
    }
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if path.is_dir() {
            files.extend(files_in(&path)?);
        } else if !hidden {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Takes over the files of the module. They name each other, so they lie together in a directory
/// that is named after what is in all of them.
fn code(bindings: &Path) -> Result<Vec<Asset>> {
    let mut code = directory(bindings, "")?;
    code.retain(|asset| [".wasm", ".js"].iter().any(|extension| asset.path.ends_with(extension)));
    let contents: Vec<_> = code.iter().map(|asset| hash::short(&asset.content)).collect();
    let folder = hash::short(contents.concat().as_bytes());
    for asset in &mut code {
        asset.path = format!("/pkg/{folder}{}", asset.path);
        asset.immutable = true;
    }
    Ok(code)
}

fn start_script(glue: &Asset, module: &Asset) -> String {
    let glue = glue.path.replace("/pkg/", "./");
    let module = &module.path;
    format!(
        "import initialize, {{ hydrate }} from \"{glue}\";\n\
         await initialize({{ module_or_path: \"{module}\" }});\n\
         await hydrate();\n"
    )
}

fn hashed(stem: &str, extension: &str, content: Vec<u8>) -> Asset {
    Asset {
        path: format!("/pkg/{stem}.{}.{extension}", hash::short(&content)),
        content,
        immutable: true,
    }
}

/// Takes over a directory as it is: names that people or other files rely on stay the same.
fn directory(directory: &Path, address: &str) -> Result<Vec<Asset>> {
    files_in(directory)?
        .into_iter()
        .map(|file| {
            let parts: Vec<_> = file
                .strip_prefix(directory)?
                .components()
                .map(|part| part.as_os_str().to_string_lossy().into_owned())
                .collect();
            Ok(Asset {
                path: format!("{address}/{}", parts.join("/")),
                content: read(&file)?,
                immutable: false,
            })
        })
        .collect()
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("could not read {}", path.display()))
}
