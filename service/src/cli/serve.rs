//! `keepsake serve`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use super::printer::Printer;
use super::{Global, settings};
use crate::app::App;
use crate::clock::Clock;
use crate::config::raw;
use crate::http;

#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Address to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
}

impl Serve {
    pub(super) async fn run(
        self,
        global: &Global,
        environment: &raw::Environment,
        printer: &Printer,
    ) -> anyhow::Result<()> {
        let flags = self
            .listen
            .map(|listen| ("listen", listen))
            .into_iter()
            .collect();
        let settings = settings(global, flags, environment)?;
        let folder = settings.data_dir.clone();
        let listener = TcpListener::bind(settings.listen)
            .await
            .map_err(|error| anyhow::anyhow!("cannot listen on `{}`: {error}", settings.listen))?;
        let app = App::open(settings, Clock::System)?;
        let address = listener.local_addr()?;
        let notice = Notice::put(&folder, address);
        let line = format!(
            "keepsake {} listening on http://{} (store: embedded, {}; {})\n",
            env!("CARGO_PKG_VERSION"),
            address,
            folder.display(),
            where_texts_go(&app)
        );
        // Ready to be stopped before anyone is told where to connect.
        let (mut terminate, mut interrupt) = (
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
        );
        printer.raw(line.as_bytes())?;
        tokio::task::spawn_blocking(crate::analysis::warm_up);
        let stopped = async move {
            tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
            tracing::info!("stopping: finishing what was accepted");
        };
        http::serve(listener, app, stopped).await?;
        drop(notice);
        Ok(())
    }
}

/// Which embedder there is, and whether texts leave this machine.
fn where_texts_go(app: &App) -> String {
    let Some(meaning) = &app.meaning else {
        return "no embedder, texts stay on this machine".to_owned();
    };
    let embedder = meaning.embedder();
    match embedder.destination() {
        None => format!("embedder: {}, texts stay on this machine", embedder.name()),
        Some(url) => format!("embedder: {}, texts go to {url}", embedder.name()),
    }
}

/// The file in the data folder that tells other processes where the service is; gone with it.
struct Notice(PathBuf);

impl Notice {
    fn put(folder: &Path, address: SocketAddr) -> Notice {
        let notice = Notice(folder.join("service.json"));
        let text = serde_json::json!({
            "url": format!("http://{address}"),
            "pid": std::process::id(),
            "started_at": Clock::System.now().to_rfc3339(),
        });
        // Others do without it: they use the folder itself.
        if let Err(error) = std::fs::write(&notice.0, text.to_string()) {
            tracing::warn!(%error, "cannot write service.json");
        }
        notice
    }
}

impl Drop for Notice {
    fn drop(&mut self) {
        // A stale one is recognised by its reader.
        drop(std::fs::remove_file(&self.0));
    }
}
