//! Fetching a model2vec model from the hub, once: afterwards it lies on this machine.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail};

use super::model2vec::FILES;

/// The hub, unless another one is named.
pub const HUB: &str = "https://huggingface.co";
/// Folder of a repository that may hold tables and tokenizer (sentence-transformers' layout).
const SUBFOLDER: &str = "0_StaticEmbedding/";

/// Fetches the files of the model `name` (`owner/model`) into `folder`. What is there already is
/// kept; what breaks off leaves nothing that could be taken for a model. `progress` is told the name of
/// a file, how many of its bytes are there, and how many it has.
///
/// # Errors
/// When the name is no name of a model, the hub does not have it, or the folder cannot be written.
pub async fn download(
    hub: &str,
    name: &str,
    folder: &Path,
    progress: impl Fn(&str, u64, Option<u64>),
) -> anyhow::Result<()> {
    if !is_name(name) {
        bail!("`{name}` is no name of a model\nhint: such as minishlab/potion-multilingual-128M");
    }
    // A provider that is installed already is the same one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .connect_timeout(std::time::Duration::from_secs(10))
        .read_timeout(std::time::Duration::from_secs(60))
        .build()?;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create `{}`", folder.display()))?;
    for file in FILES {
        let place = folder.join(file);
        if place.is_file() {
            continue;
        }
        let base = format!("{}/{name}/resolve/main", hub.trim_end_matches('/'));
        let mut response = client
            .get(format!("{base}/{file}"))
            .send()
            .await
            .with_context(|| format!("`{hub}` cannot be reached"))?;
        if response.status().as_u16() == 404 && file != "config.json" {
            response = client
                .get(format!("{base}/{SUBFOLDER}{file}"))
                .send()
                .await?;
        }
        if !response.status().is_success() {
            bail!("`{hub}` has no `{file}` of `{name}`: {}", response.status());
        }
        let (total, mut there) = (response.content_length(), 0);
        let unfinished = folder.join(format!("{file}.part"));
        let mut writer = std::fs::File::create(&unfinished)
            .with_context(|| format!("cannot write `{}`", unfinished.display()))?;
        while let Some(chunk) = response.chunk().await? {
            writer.write_all(&chunk)?;
            there += chunk.len() as u64;
            progress(file, there, total);
        }
        if total.is_some_and(|total| total != there) {
            bail!("`{file}` broke off after {there} bytes");
        }
        writer.sync_all()?;
        std::fs::rename(&unfinished, &place)?;
    }
    Ok(())
}

/// Whether a name is safe as part of an address and of a path: `owner/model` or `model`.
fn is_name(name: &str) -> bool {
    let parts: Vec<&str> = name.split('/').collect();
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    parts.len() <= 2
        && parts.iter().all(|part| {
            part.starts_with(|c: char| c.is_ascii_alphanumeric()) && part.chars().all(allowed)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_the_folder() {
        for (name, sound) in [
            ("minishlab/potion-multilingual-128M", true),
            ("model", true),
            ("../model", false),
            ("a/../b", false),
            ("a/b/c", false),
            ("a//b", false),
            ("", false),
            ("a/b?c", false),
        ] {
            assert_eq!(is_name(name), sound, "{name}");
        }
    }
}
