//! What the service does, in numbers that a monitor reads. No label holds what a person wrote.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

/// Names and values that tell the numbers of a family apart.
type Labels<const N: usize> = [(&'static str, Cow<'static, str>); N];
type Counters<const N: usize> = Family<Labels<N>, Counter>;
type Gauges<const N: usize> = Family<Labels<N>, Gauge<f64, AtomicU64>>;
type Histograms<const N: usize> = Family<Labels<N>, Histogram, fn() -> Histogram>;

/// From 0.1 ms to 26 s.
fn seconds() -> Histogram {
    Histogram::new(exponential_buckets(0.000_1, 2.0, 19))
}

/// Most namespaces whose memories are counted.
const MOST_NAMESPACES: usize = 100;

/// All numbers of one app.
pub struct Metrics {
    registry: Registry,
    requests: Counters<3>,
    request_seconds: Histograms<2>,
    problems: Counters<1>,
    stage_seconds: Histograms<2>,
    candidates: Histogram,
    answers: Counters<1>,
    hits: Counters<1>,
    skipped: Counters<2>,
    empty: Counters<2>,
    below_floor: Counters<1>,
    feedback: Counters<1>,
    stored: Counters<1>,
    memories: Gauges<2>,
    cache: Gauges<2>,
    namespaces: Mutex<BTreeSet<String>>,
}

/// A cache as it is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheUse {
    pub hits: u64,
    pub misses: u64,
}

/// What came of a search, for [`Metrics::answered`].
#[derive(Debug, Clone, Copy)]
pub struct Answered {
    /// `search` or `prefetch`.
    pub kind: &'static str,
    pub hits: usize,
    pub below_floor: usize,
    pub skipped: Option<&'static str>,
    pub empty: Option<&'static str>,
}

impl Default for Metrics {
    fn default() -> Self {
        let metrics = Metrics {
            registry: Registry::with_prefix("keepsake"),
            requests: Family::default(),
            request_seconds: Family::new_with_constructor(seconds),
            problems: Family::default(),
            stage_seconds: Family::new_with_constructor(seconds),
            candidates: Histogram::new(exponential_buckets(1.0, 2.0, 11)),
            answers: Family::default(),
            hits: Family::default(),
            skipped: Family::default(),
            empty: Family::default(),
            below_floor: Family::default(),
            feedback: Family::default(),
            stored: Family::default(),
            memories: Family::default(),
            cache: Family::default(),
            namespaces: Mutex::default(),
        };
        metrics.registered()
    }
}

impl Metrics {
    /// Gives each family its name; a counter's ends in `_total` when it is written.
    fn registered(mut self) -> Metrics {
        let Metrics {
            registry,
            requests,
            request_seconds,
            problems,
            stage_seconds,
            candidates,
            answers,
            hits,
            skipped,
            empty,
            below_floor,
            feedback,
            stored,
            memories,
            cache,
            namespaces: _,
        } = &mut self;
        registry.register("requests", "Requests by route and status", requests.clone());
        registry.register_with_unit(
            "request_duration",
            "Time up to the first byte of an answer",
            Unit::Seconds,
            request_seconds.clone(),
        );
        registry.register(
            "problems",
            "Answers that tell a problem, by its kind; kinds that begin with `store` are failures of the store",
            problems.clone(),
        );
        registry.register_with_unit(
            "stage_duration",
            "Time of each stage of a read or a write",
            Unit::Seconds,
            stage_seconds.clone(),
        );
        registry.register(
            "candidates",
            "Memories that the retrievers brought for a query",
            candidates.clone(),
        );
        registry.register("answers", "Searches and prefetches", answers.clone());
        registry.register("hits", "Memories that were returned", hits.clone());
        registry.register(
            "skipped",
            "Queries that were not searched, by reason",
            skipped.clone(),
        );
        registry.register(
            "empty",
            "Answers without a memory, by reason",
            empty.clone(),
        );
        registry.register(
            "below_floor",
            "Candidates that proved too little to be returned",
            below_floor.clone(),
        );
        registry.register(
            "feedback",
            "Verdicts on memories: useful or useless",
            feedback.clone(),
        );
        registry.register(
            "stored",
            "Memories told: created, reinforced, refused",
            stored.clone(),
        );
        registry.register(
            "memories",
            "Memories by state, of the namespaces that were used since the start",
            memories.clone(),
        );
        registry.register(
            "cache_lookups",
            "Lookups in a cache since the start, by result",
            cache.clone(),
        );
        self
    }

    /// A request was answered. `route` is as the router has it.
    pub fn requested(
        &self,
        method: &'static str,
        route: &'static str,
        status: u16,
        problem: Option<&str>,
        took: Duration,
    ) {
        let (method, route) = (("method", method.into()), ("route", route.into()));
        let status = ("status", status.to_string().into());
        self.requests
            .get_or_create(&[method.clone(), route.clone(), status])
            .inc();
        self.request_seconds
            .get_or_create(&[method, route])
            .observe(took.as_secs_f64());
        if let Some(kind) = problem {
            let kind = kind.to_owned().into();
            self.problems.get_or_create(&[("kind", kind)]).inc();
        }
    }

    /// Retrievers brought so many candidates.
    pub fn retrieved(&self, candidates: usize) {
        let candidates = u32::try_from(candidates).unwrap_or(u32::MAX);
        self.candidates.observe(f64::from(candidates));
    }

    /// A search was answered.
    pub fn answered(&self, answered: Answered) {
        let kind = ("kind", Cow::from(answered.kind));
        let one = [kind.clone()];
        self.answers.get_or_create(&one).inc();
        self.hits.get_or_create(&one).inc_by(answered.hits as u64);
        self.below_floor
            .get_or_create(&one)
            .inc_by(answered.below_floor as u64);
        for (family, reason) in [
            (&self.skipped, answered.skipped),
            (&self.empty, answered.empty),
        ] {
            if let Some(reason) = reason {
                let labels = [kind.clone(), ("reason", reason.into())];
                family.get_or_create(&labels).inc();
            }
        }
    }

    /// Somebody said whether a memory was useful.
    pub fn judged(&self, useful: bool) {
        let verdict = if useful { "useful" } else { "useless" };
        self.feedback
            .get_or_create(&[("verdict", verdict.into())])
            .inc();
    }

    /// A memory was told: `created`, `reinforced` or `refused`.
    pub fn told(&self, outcome: &'static str) {
        self.stored
            .get_or_create(&[("outcome", outcome.into())])
            .inc();
    }

    /// A namespace is read or written.
    pub fn uses(&self, namespace: &str) {
        let mut used = self
            .namespaces
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if used.len() < MOST_NAMESPACES && !used.contains(namespace) {
            used.insert(namespace.to_owned());
        }
    }

    /// The namespaces that were read or written since the start, the first hundred of them.
    pub fn used(&self) -> Vec<String> {
        let used = self.namespaces.lock();
        let used = used.unwrap_or_else(PoisonError::into_inner);
        used.iter().cloned().collect()
    }

    /// So many memories of a namespace are in a state now.
    pub fn count_memories(&self, namespace: &str, state: &'static str, count: u64) {
        let labels = [
            ("namespace", namespace.to_owned().into()),
            ("state", state.into()),
        ];
        self.memories.get_or_create(&labels).set(count as f64);
    }

    /// How a cache was used up to now.
    pub fn count_cache(&self, cache: &'static str, used: CacheUse) {
        for (result, count) in [("hit", used.hits), ("miss", used.misses)] {
            let labels = [("cache", cache.into()), ("result", result.into())];
            self.cache.get_or_create(&labels).set(count as f64);
        }
    }

    /// Begins to measure the stages of a line: `read` or `write`.
    pub fn stages(&self, line: &'static str) -> Stages<'_> {
        Stages {
            metrics: self,
            line,
            since: Instant::now(),
        }
    }

    /// Every number as OpenMetrics text.
    ///
    /// # Errors
    /// Never in practice: a string takes all that is written.
    pub fn text(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

/// Measures stages that follow each other.
pub struct Stages<'a> {
    metrics: &'a Metrics,
    line: &'static str,
    since: Instant,
}

impl Stages<'_> {
    /// A stage ended, and the next begins.
    pub fn end(&mut self, stage: &'static str) {
        let took = self.since.elapsed();
        let labels = [("line", self.line.into()), ("stage", stage.into())];
        self.metrics
            .stage_seconds
            .get_or_create(&labels)
            .observe(took.as_secs_f64());
        tracing::debug!(
            line = self.line,
            stage,
            duration_ms = took.as_secs_f64() * 1e3,
            "stage done"
        );
        self.since = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_with_their_labels() {
        let metrics = Metrics::default();
        metrics.requested(
            "GET",
            "/v1/search",
            503,
            Some("store-full"),
            Duration::from_millis(3),
        );
        metrics.stages("read").end("rank");
        metrics.judged(true);
        metrics.count_memories("default", "active", 7);
        let text = metrics.text().unwrap();
        for line in [
            r#"keepsake_requests_total{method="GET",route="/v1/search",status="503"} 1"#,
            r#"keepsake_problems_total{kind="store-full"} 1"#,
            r#"keepsake_stage_duration_seconds_count{line="read",stage="rank"} 1"#,
            r#"keepsake_feedback_total{verdict="useful"} 1"#,
            r#"keepsake_memories{namespace="default",state="active"} 7.0"#,
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }
}
