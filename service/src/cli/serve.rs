//! `keepsake serve`.

use std::error::Error;
use std::time::Duration;

use clap::Args;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use super::presence;
use super::printer::Printer;
use super::{Global, Outcome, flags};
use crate::app::App;
use crate::clock::Clock;
use crate::config::reload::Source;
use crate::config::{Environment, Settings, StoreChoice};
use crate::http;

/// How often the files of the configuration are looked at: a change is in use within a second.
const LOOK: Duration = Duration::from_millis(400);

#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Address to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Also do maintenance: duplicates every hour, consolidation and forgetting every two, synonyms
    /// and dictionary every eight
    #[arg(long)]
    maintenance: bool,
}

impl Serve {
    pub(super) async fn run(
        self,
        global: &Global,
        environment: &Environment,
        printer: &Printer,
    ) -> anyhow::Result<Outcome> {
        let mut flags = flags(global);
        flags.extend(self.listen.map(|listen| ("listen", listen)));
        let (source, loaded) = Source::load(flags, environment.clone())?;
        loaded
            .warnings
            .iter()
            .for_each(|warning| tracing::warn!("{warning}"));
        let settings = loaded.settings;
        let place = place(&settings);
        // Over one Redis there can be many services, and the command line finds it itself.
        let folder = (settings.store == StoreChoice::Embedded).then(|| settings.data_dir.clone());
        let listener = TcpListener::bind(settings.listen)
            .await
            .map_err(|error| anyhow::anyhow!("cannot listen on `{}`: {error}", settings.listen))?;
        let mut app = App::following(source, settings, Clock::System)?;
        app.maintains = self.maintenance;
        // What no waiting will mend stops the start; a store that is merely away will come back.
        match app.store.check().await {
            Err(error) if error.is_retryable() => {
                tracing::warn!(%error, cause = ?error.source(), "the store does not answer yet");
            }
            checked => checked?,
        }
        let url = format!("http://{}", listener.local_addr()?);
        let held = folder.as_deref().and_then(|folder| {
            let presence = presence::announce(folder, &url, app.clock.now());
            presence.unwrap_or_else(|error| {
                tracing::warn!(
                    "the command line will not find this service without `--url {url}`: {error}"
                );
                None
            })
        });
        let line = format!(
            "keepsake {} listening on {url} (store: {place}; {})\n",
            env!("CARGO_PKG_VERSION"),
            where_texts_go(&app)
        );
        // Ready to be stopped before anyone is told where to connect.
        let (mut terminate, mut interrupt) = (
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
        );
        printer.raw(line.as_bytes())?;
        tokio::task::spawn_blocking(crate::analysis::warm_up);
        tokio::spawn(follow(app.clone()));
        let stopped = async move {
            tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
            tracing::info!("stopping: finishing what was accepted");
        };
        http::serve(listener, app, stopped).await?;
        if let (Some(held), Some(folder)) = (held, folder) {
            presence::withdraw(held, &folder);
        }
        Ok(Outcome::Done)
    }
}

/// Follows the files of the configuration for as long as the service runs.
async fn follow(app: App) {
    let mut looks = tokio::time::interval(LOOK);
    looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        let app = app.clone();
        // A look that panicked is tried again.
        let _ = tokio::task::spawn_blocking(move || app.reload_if_changed()).await;
    }
}

/// Where memories are kept, for people.
fn place(settings: &Settings) -> String {
    match &settings.store {
        StoreChoice::Embedded => format!("embedded, {}", settings.data_dir.display()),
        StoreChoice::Redis(options) => format!("redis, {}", options.place()),
    }
}

/// Which embedder there is, and where texts go.
fn where_texts_go(app: &App) -> String {
    let stay = match app.settings.store {
        StoreChoice::Embedded => "texts stay on this machine",
        StoreChoice::Redis(_) => "texts go to Redis alone",
    };
    let Some(meaning) = &app.meaning else {
        return format!("no embedder, {stay}");
    };
    let embedder = meaning.embedder();
    match embedder.destination() {
        None => format!("embedder: {}, {stay}", embedder.name()),
        Some(url) => format!("embedder: {}, texts go to {url}", embedder.name()),
    }
}
