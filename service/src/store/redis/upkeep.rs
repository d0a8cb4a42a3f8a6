//! Background work: renewing the index, adopting what others wrote, mirroring feedback. One process
//! of those that share a Redis does it, under a lease; the work ends with the store.

use std::sync::Weak;
use std::time::{Duration, Instant};

use redis::{Pipeline, Value};

use super::adoption::Pass;
use super::commands::Commands;
use super::errors::from_redis;
use super::scripts::Name;
use super::values::text;
use super::{Inner, RedisStore};
use crate::clock::new_id;
use crate::store::StoreError;

/// How long the store is left alone between two passes: ten times as long as one took, within these.
const REST: (Duration, Duration) = (Duration::from_secs(15), Duration::from_secs(40));
/// How long to wait when the store does not answer, or another process does the work.
const RETRY: Duration = Duration::from_secs(2);
pub(super) const LEASE: Duration = Duration::from_secs(20);
pub(super) const JOB: &str = "upkeep";

/// Works until the store is gone.
pub(super) async fn run(inner: Weak<Inner>) {
    let Ok(token) = new_id() else { return };
    let token = token.to_string();
    loop {
        let Some(inner) = inner.upgrade() else { return };
        let store = RedisStore { inner };
        let began = Instant::now();
        let rest = match store.keep_up(&token).await {
            Ok(Some(pass)) => {
                if pass != Pass::default() {
                    tracing::info!(
                        adopted = pass.adopted,
                        followed = pass.followed,
                        malformed = pass.malformed,
                        "took over memories that others wrote"
                    );
                }
                (began.elapsed() * 10).clamp(REST.0, REST.1)
            }
            Ok(None) => RETRY,
            Err(error) => {
                tracing::debug!(%error, "upkeep of the Redis store will be tried again");
                RETRY
            }
        };
        let _ = store.release(JOB, &token).await;
        drop(store);
        tokio::time::sleep(rest).await;
    }
}

impl RedisStore {
    /// One round of the work; `None` if another process is at it.
    pub(super) async fn keep_up(&self, token: &str) -> Result<Option<Pass>, StoreError> {
        self.prepared().await?;
        if !self.lease(JOB, token, LEASE).await? {
            return Ok(None);
        }
        self.renew_index().await?;
        let pass = self.adopt_all(Some(token)).await;
        self.inner.tell_progress(Pass::default());
        let pass = pass?;
        self.mirror_feedback().await?;
        self.mirror_topics().await?;
        Ok(Some(pass))
    }

    /// Takes or renews the lease of a job; whether it is the token's.
    pub(super) async fn lease(
        &self,
        job: &str,
        token: &str,
        time: Duration,
    ) -> Result<bool, StoreError> {
        let key = self.inner.keys.lease(job);
        let millis = time.as_millis() as u64;
        let mut take = redis::cmd("SET");
        take.arg(&key).arg(token).arg("NX").arg("PX").arg(millis);
        if self.inner.connection.command(&take).await? != Value::Nil {
            return Ok(true);
        }
        let mut pipeline = Pipeline::new();
        pipeline.cmd("GET").arg(&key);
        let held = self
            .inner
            .connection
            .pipeline(&pipeline)
            .await?
            .into_iter()
            .next();
        let is_ours = held.and_then(text).as_deref() == Some(token);
        if is_ours {
            let mut renew = redis::cmd("PEXPIRE");
            renew.arg(&key).arg(millis);
            self.inner.connection.command(&renew).await?;
        }
        Ok(is_ours)
    }

    /// Gives the lease of a job back, if it is the token's.
    pub(super) async fn release(&self, job: &str, token: &str) -> Result<(), StoreError> {
        let mut commands = Commands::default();
        commands.push(["OWN", &self.inner.keys.lease(job), token, "DEL"]);
        let arguments = self.unguarded(commands);
        let answer = self.inner.connection.script(Name::Apply, &arguments).await;
        answer.map(|_| ()).map_err(from_redis)
    }

    /// What is going on in the background, for people.
    pub(super) async fn going_on(&self) -> Result<Vec<String>, StoreError> {
        let pass = *self.inner.progress();
        let mut notes = Vec::new();
        if pass.adopted + pass.followed > 0 {
            notes.push(format!(
                "taking over memories that others wrote: {} so far",
                pass.adopted + pass.followed
            ));
        }
        let malformed = self.malformed().await?;
        if malformed > 0 {
            notes.push(format!(
                "{malformed} hashes under memory:frag: cannot be understood and are left alone; keepsake:malformed has the reasons"
            ));
        }
        Ok(notes)
    }
}
