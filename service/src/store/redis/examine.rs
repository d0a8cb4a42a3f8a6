//! A close look at a Redis: what would lose memories, or let them not be found.

use super::RedisStore;
use super::control::text_of;
use crate::store::StoreError;
use crate::store::finding::Finding;

impl RedisStore {
    /// See `ControlStore::examine`. What the user may not ask is left out.
    pub(super) async fn look_closely(&self) -> Result<Vec<Finding>, StoreError> {
        self.prepared().await?;
        let mut findings = Vec::new();
        if let Ok(told) = self.inner.connection.command(&redis::cmd("INFO")).await {
            findings.extend(of_server(&text_of(&told)));
        }
        let alias = self.inner.keys.alias();
        findings.push(match self.index(&alias).await? {
            Some(index) if index.is_complete => Finding::fine("index", "complete"),
            Some(index) => Finding::warning(
                "index",
                format!("being built, {:.0} % are done", index.progress * 100.0),
                "wait: searches fail until it is complete",
            ),
            None => Finding::fault("index", "there is none", "ask again: it is being made"),
        });
        let notes = self.going_on().await?.into_iter();
        findings.extend(notes.map(|note| {
            Finding::warning(
                "data",
                note,
                "look at the key keepsake:malformed, if it is there",
            )
        }));
        Ok(findings)
    }
}

/// What the server tells of itself, by `INFO`.
fn of_server(told: &str) -> Vec<Finding> {
    let field = |name: &str| {
        let mut lines = told.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(key, _)| *key == name).map(|(_, value)| value)
    };
    let mut findings = Vec::new();
    if let Some(version) = field("redis_version") {
        findings.push(Finding::fine("store", format!("Redis {version} answers")));
    }
    findings.push(match field("aof_enabled") {
        Some("1") => Finding::fine("durability", "every write goes to the append-only file"),
        _ => Finding::warning(
            "durability",
            "Redis keeps snapshots at most: what was written since the last one is lost when it stops",
            "CONFIG SET appendonly yes, then CONFIG REWRITE",
        ),
    });
    if [
        "rdb_last_bgsave_status",
        "aof_last_write_status",
        "aof_last_bgrewrite_status",
    ]
    .iter()
    .any(|name| field(name).is_some_and(|status| status != "ok"))
    {
        findings.push(Finding::fault(
            "durability",
            "the last attempt of Redis to write to its disk failed",
            "look at its log, and free space on its disk",
        ));
    }
    let limit = field("maxmemory").unwrap_or("0");
    let policy = field("maxmemory_policy").unwrap_or("noeviction");
    findings.push(if limit == "0" || policy == "noeviction" {
        Finding::fine("eviction", "nothing is evicted")
    } else {
        Finding::warning(
            "eviction",
            format!("a full Redis drops memories ({policy})"),
            "CONFIG SET maxmemory-policy noeviction, then CONFIG REWRITE",
        )
    });
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::finding::Grade;

    fn graded(told: &str) -> Vec<(&'static str, Grade)> {
        let findings = of_server(told).into_iter();
        findings.map(|it| (it.check, it.grade)).collect()
    }

    #[test]
    fn a_server_that_keeps_everything_is_fine() {
        let told = "# Server\r\nredis_version:8.2.1\r\naof_enabled:1\r\nrdb_last_bgsave_status:ok\r\n\
                    maxmemory:1000\r\nmaxmemory_policy:noeviction\r\n";
        assert_eq!(
            graded(told),
            [
                ("store", Grade::Fine),
                ("durability", Grade::Fine),
                ("eviction", Grade::Fine)
            ]
        );
    }

    #[test]
    fn what_may_lose_memories_is_told() {
        let told = "aof_enabled:0\r\naof_last_write_status:err\r\nmaxmemory:1000\r\nmaxmemory_policy:allkeys-lru\r\n";
        assert_eq!(
            graded(told),
            [
                ("durability", Grade::Warning),
                ("durability", Grade::Fault),
                ("eviction", Grade::Warning)
            ]
        );
    }
}
