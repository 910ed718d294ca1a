//! Gathers what a browser downloads, each file under its final address.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::project::{Mode, NAME, Project};
use crate::{hash, manifest, minify, service_worker, stylesheet};

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
    pub others: Vec<Asset>,
}

/// Gathers the module with its glue, the stylesheet and the public files.
pub fn gather(project: &Project, mode: Mode) -> Result<Assets> {
    let bindings = project.bindings(mode);
    let module = hashed(NAME, "wasm", read(&bindings.join(format!("{NAME}_bg.wasm")))?);
    let glue = hashed(NAME, "js", glue(&bindings, &module)?);
    let script = hashed("start", "js", start_script(&glue, &module).into_bytes());

    let style = stylesheet::bundle(&project.root.join("style/main.css"))?;
    let style = match mode {
        Mode::Debug => style,
        Mode::Release => minify::minify(&style),
    };
    let style = hashed(NAME, "css", style.into_bytes());

    let mut others = directory(&bindings.join("snippets"), "/pkg/snippets")?;
    let public = directory(&project.root.join("public"), "")?;
    let manifest = format!("/{}", manifest::FILE_NAME);
    if let Some(taken) =
        public.iter().find(|asset| asset.path.starts_with("/pkg/") || asset.path == manifest)
    {
        bail!("public{} would hide a file of the build", taken.path);
    }
    others.extend(public);
    let mut assets = Assets { script, glue, module, style, others };
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

/// Reads the glue and lets its default point to the module's final name.
fn glue(bindings: &Path, module: &Asset) -> Result<Vec<u8>> {
    let glue = String::from_utf8(read(&bindings.join(format!("{NAME}.js")))?)?;
    let name = module.path.trim_start_matches("/pkg/");
    Ok(glue.replace(&format!("{NAME}_bg.wasm"), name).into_bytes())
}

fn start_script(glue: &Asset, module: &Asset) -> String {
    let glue = glue.path.replace("/pkg/", "./");
    let module = &module.path;
    format!(
        "import initialize, {{ hydrate }} from \"{glue}\";\n\
         await initialize({{ module_or_path: \"{module}\" }});\n\
         hydrate();\n"
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
