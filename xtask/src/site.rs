//! The directory of files that the server hands out, with its manifest.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::assets::{self, Asset};
use crate::manifest::{self, File, Manifest};
use crate::progress::step;
use crate::project::{Mode, Project};
use crate::{compress, content_type, hash};

/// Writes the site of a mode; files that are already right are not touched.
pub fn write(project: &Project, mode: Mode) -> Result<Manifest> {
    let label = match mode {
        Mode::Debug => "putting the site together",
        Mode::Release => "putting the site together and packing it",
    };
    step(label, || {
        let site = project.site(mode);
        let assets = assets::gather(project, mode)?;
        let mut manifest = Manifest {
            script: assets.script.path.clone(),
            glue: assets.glue.path.clone(),
            module: assets.module.path.clone(),
            style: assets.style.path.clone(),
            parts: assets.parts,
            files: Vec::new(),
        };
        let previous = Manifest::read(&site);
        let named = [assets.script, assets.glue, assets.module, assets.style];
        for asset in named.into_iter().chain(assets.others) {
            let file = match reusable(&site, previous.as_ref(), &asset) {
                Some(file) => file,
                None => write_asset(&site, mode, &asset)?,
            };
            manifest.files.push(file);
        }
        remove_others(&site, &manifest)?;
        manifest.write(&site)?;
        Ok(manifest)
    })
}

/// Finds the entry of an earlier build that holds for this content too.
fn reusable(site: &Path, previous: Option<&Manifest>, asset: &Asset) -> Option<File> {
    let etag = etag(asset);
    let file = previous?.files.iter().find(|file| file.path == asset.path && file.etag == etag)?;
    let complete = file.names().iter().all(|name| site.join(name).is_file());
    complete.then(|| file.clone())
}

fn write_asset(site: &Path, mode: Mode, asset: &Asset) -> Result<File> {
    let content_type = content_type::of(&asset.path);
    let name = asset.path.trim_start_matches('/');
    // A build cut short must not leave a manifest that vouches for half-written files.
    let _ = fs::remove_file(site.join(manifest::FILE_NAME));
    save(&site.join(name), &asset.content)?;

    let (brotli, gzip) = if mode == Mode::Release && content_type::is_compressible(content_type) {
        (compress::brotli(&asset.content)?, compress::gzip(&asset.content)?)
    } else {
        (None, None)
    };
    for (packed, extension) in [(&brotli, "br"), (&gzip, "gz")] {
        if let Some(packed) = packed {
            save(&site.join(format!("{name}.{extension}")), packed)?;
        }
    }
    Ok(File {
        path: asset.path.clone(),
        content_type: content_type.to_owned(),
        immutable: asset.immutable,
        etag: etag(asset),
        brotli: brotli.is_some(),
        gzip: gzip.is_some(),
    })
}

fn etag(asset: &Asset) -> String {
    format!("\"{}\"", hash::short(&asset.content))
}

fn save(path: &Path, content: &[u8]) -> Result<()> {
    let write = || {
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::write(path, content)
    };
    write().with_context(|| format!("could not write {}", path.display()))
}

/// Removes what an earlier build left and this one does not name.
fn remove_others(site: &Path, manifest: &Manifest) -> Result<()> {
    let kept: HashSet<_> = manifest
        .files
        .iter()
        .flat_map(File::names)
        .chain([manifest::FILE_NAME.to_owned()])
        .map(|name| site.join(name))
        .collect();
    for file in assets::files_in(site)? {
        if !kept.contains(&file) {
            fs::remove_file(&file)
                .with_context(|| format!("could not remove {}", file.display()))?;
        }
    }
    Ok(())
}
