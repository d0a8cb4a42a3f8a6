//! The right to do a job: held by one process at a time, renewed while it works.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::task::JoinHandle;

use super::Job;
use crate::app::App;
use crate::clock::new_id;
use crate::error::Error;

/// How long a lease outlives a holder that is not seen to be gone, and how often it is renewed.
const TERM: chrono::TimeDelta = chrono::TimeDelta::seconds(60);
const RENEWAL: Duration = Duration::from_secs(15);

/// A lease that is held, and renewed until it is given back.
pub struct Lease {
    app: App,
    name: String,
    holder: String,
    lost: Arc<AtomicBool>,
    renewal: JoinHandle<()>,
}

impl Lease {
    /// Takes the lease of a job.
    ///
    /// # Errors
    /// [`Error::Running`] if another one has it, or when the store fails.
    pub async fn take(app: &App, job: Job) -> Result<Lease, Error> {
        let name = format!("maintenance-{}", job.name());
        let holder = new_id()?.to_string();
        if !renew(app, &name, &holder).await? {
            return Err(Error::Running(job.name()));
        }
        let lost = Arc::new(AtomicBool::new(false));
        let (keeper, kept, by, flag) = (app.clone(), name.clone(), holder.clone(), lost.clone());
        let renewal = tokio::spawn(async move {
            loop {
                tokio::time::sleep(RENEWAL).await;
                match renew(&keeper, &kept, &by).await {
                    Ok(true) => {}
                    Ok(false) => flag.store(true, Ordering::Relaxed),
                    Err(error) => tracing::warn!(%error, "a lease is not renewed"),
                }
            }
        });
        Ok(Lease {
            app: app.clone(),
            name,
            holder,
            lost,
            renewal,
        })
    }

    /// Set when another one has taken the lease, because it ran out.
    pub fn lost(&self) -> Arc<AtomicBool> {
        self.lost.clone()
    }

    pub async fn give_back(self) {
        self.renewal.abort();
        let released = self.app.store.release_lease(&self.name, &self.holder).await;
        if let Err(error) = released {
            tracing::warn!(%error, "a lease is not given back and has to run out");
        }
    }
}

/// A request that is given up must not hold the lease for ever.
impl Drop for Lease {
    fn drop(&mut self) {
        self.renewal.abort();
        let (app, name, holder) = (self.app.clone(), self.name.clone(), self.holder.clone());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { drop(app.store.release_lease(&name, &holder).await) });
        }
    }
}

async fn renew(app: &App, name: &str, holder: &str) -> Result<bool, Error> {
    let now = app.clock.now();
    Ok(app.store.take_lease(name, holder, now + TERM, now).await?)
}
