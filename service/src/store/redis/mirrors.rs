//! What is written for the Python Keepsake alone, from what we keep ourselves: feedback, hot topics,
//! attention. Rarely and together, since it is never read by us.

use chrono::{DateTime, NaiveDate, TimeDelta};
use redis::Pipeline;

use super::RedisStore;
use super::commands::Commands;
use super::errors::from_redis;
use super::scripts::Name;
use super::values::{list, number, text, texts};
use crate::memory::{Memory, MemoryId};
use crate::scope::Scope;
use crate::signals::Topic;
use crate::store::StoreError;

/// Memories whose feedback is mirrored in one exchange.
const BATCH: usize = 200;
/// Topics that are mirrored of each kind and period.
const MOST_TOPICS: usize = 1000;
/// The periods of the Python Keepsake: the end of its keys, how many days before today they reach, and
/// how long it lets them live.
const PERIODS: [(&str, Option<i64>, i64); 3] = [
    ("", None, 7 * 86_400),
    (":daily", Some(0), 2 * 86_400),
    (":weekly", Some(6), 14 * 86_400),
];

impl RedisStore {
    /// Adds to `feedback_score` of each memory what its feedback gained since, for the Python
    /// Keepsake. Together and rarely, since each such write re-indexes the memory.
    pub(super) async fn mirror_feedback(&self) -> Result<(), StoreError> {
        loop {
            let mut some = redis::cmd("SRANDMEMBER");
            some.arg(self.inner.keys.feedback()).arg(BATCH);
            let ids = texts(self.inner.connection.command(&some).await?)?;
            if ids.is_empty() {
                return Ok(());
            }
            let ids: Vec<MemoryId> = ids.into_iter().map(MemoryId::new).collect();
            for memory in self.memories(&ids).await? {
                if memory.fate.trashed_at.is_none() {
                    self.mirror(&memory).await?;
                }
            }
            let mut done = redis::cmd("SREM");
            done.arg(self.inner.keys.feedback());
            ids.iter().for_each(|id| {
                done.arg(id.as_str());
            });
            self.inner.connection.command(&done).await?;
        }
    }

    async fn mirror(&self, memory: &Memory) -> Result<(), StoreError> {
        let keys = &self.inner.keys;
        let (fragment, state) = (keys.fragment(&memory.id), keys.state(&memory.id));
        let mut get = redis::cmd("HGET");
        get.arg(&state).arg("mirrored");
        let told = text(self.inner.connection.command(&get).await?);
        let told: f64 = told.and_then(|told| told.parse().ok()).unwrap_or(0.0);
        let (gained, sum) = (
            (memory.feedback - told).to_string(),
            memory.feedback.to_string(),
        );
        let mut commands = Commands::default();
        commands.push(["GAIN", &fragment, "feedback_score", &gained]);
        commands.push(["HSET", &state, "mirrored", &sum]);
        commands.push(["SEEN", &fragment, &state, "feedback_score"]);
        let arguments = self.unguarded(commands);
        let answer = self.inner.connection.script(Name::Apply, &arguments).await;
        answer.map(|_| ()).map_err(from_redis)
    }

    /// Makes the sorted sets of topics and attention anew from the counters of each day, so that a
    /// day is a day and a week a week.
    pub(super) async fn mirror_topics(&self) -> Result<(), StoreError> {
        let today = self.today().await?;
        if !self.topics_changed(today).await? {
            return Ok(());
        }
        for (period, reach, seconds) in PERIODS {
            let since = reach.and_then(|days| today.checked_sub_signed(TimeDelta::days(days)));
            let topics = self.read_topics(&Scope::owner(), since).await?;
            let keys = &self.inner.keys;
            for (key, score) in [
                (
                    keys.python_topics(period),
                    (|topic| topic.mentions) as fn(&Topic) -> f64,
                ),
                (keys.python_attention(period), |topic| topic.attention),
            ] {
                let mut ranked: Vec<&Topic> = topics.iter().collect();
                ranked.sort_by(|one, other| score(other).total_cmp(&score(one)));
                if ranked.is_empty() {
                    continue;
                }
                let mut pipeline = Pipeline::new();
                pipeline.atomic();
                pipeline.cmd("DEL").arg(&key);
                let add = pipeline.cmd("ZADD").arg(&key);
                for topic in ranked.into_iter().take(MOST_TOPICS) {
                    add.arg(score(topic)).arg(&topic.name);
                }
                pipeline.cmd("EXPIRE").arg(&key).arg(seconds);
                self.inner.connection.pipeline(&pipeline).await?;
            }
        }
        Ok(())
    }

    /// Whether topics changed, or a day began, since this was last asked.
    async fn topics_changed(&self, today: NaiveDate) -> Result<bool, StoreError> {
        let keys = &self.inner.keys;
        let mut pipeline = Pipeline::new();
        pipeline.cmd("GET").arg(keys.signals());
        pipeline.cmd("HGET").arg(keys.index()).arg("mirrored");
        let mut answers = self.inner.connection.pipeline(&pipeline).await?.into_iter();
        let now = answers
            .next()
            .and_then(text)
            .map(|version| format!("{version} {today}"));
        let seen = answers.next().and_then(text);
        let Some(now) = now.filter(|now| seen.as_ref() != Some(now)) else {
            return Ok(false);
        };
        let mut note = redis::cmd("HSET");
        note.arg(keys.index()).arg("mirrored").arg(now);
        self.inner.connection.command(&note).await.map(|_| true)
    }

    /// The day that it is for the server.
    async fn today(&self) -> Result<NaiveDate, StoreError> {
        let time = self.inner.connection.command(&redis::cmd("TIME")).await?;
        let seconds = list(time)?.into_iter().next().and_then(number);
        let now = seconds.and_then(|seconds| DateTime::from_timestamp(seconds, 0));
        Ok(now.unwrap_or_default().date_naive())
    }
}
