//! `keepsake serve`.

use std::error::Error;

use clap::Args;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use super::printer::Printer;
use super::{Global, settings};
use crate::app::App;
use crate::clock::Clock;
use crate::config::{Settings, StoreChoice, raw};
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
        let place = place(&settings);
        let listener = TcpListener::bind(settings.listen)
            .await
            .map_err(|error| anyhow::anyhow!("cannot listen on `{}`: {error}", settings.listen))?;
        let app = App::open(settings, Clock::System)?;
        // What no waiting will mend stops the start; a store that is merely away will come back.
        match app.store.check().await {
            Err(error) if error.is_retryable() => {
                tracing::warn!(error = %error, cause = ?error.source(), "the store does not answer yet");
            }
            checked => checked?,
        }
        let line = format!(
            "keepsake {} listening on http://{} (store: {place})\n",
            env!("CARGO_PKG_VERSION"),
            listener.local_addr()?,
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
        Ok(())
    }
}

/// Where memories are kept, for people.
fn place(settings: &Settings) -> String {
    match &settings.store {
        StoreChoice::Embedded => {
            let folder = settings.data_dir.display();
            format!("embedded, {folder}; texts stay on this machine")
        }
        StoreChoice::Redis(options) => format!("redis, {}", options.place()),
    }
}
