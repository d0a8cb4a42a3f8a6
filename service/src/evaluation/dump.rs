#![allow(warnings)]
//! TEMP
use super::*;
use crate::ranking::{fusion, rank, Scored};
pub async fn dump() {
    let sets = sets::load_all(Path::new("/work/shared/eval")).unwrap();
    let settings = Settings { max_content_chars: usize::MAX, ..Settings::default() };
    for set in &sets {
        let stored = Stored::new(set, &settings, Switches::default()).await.unwrap();
        let mut out = String::new();
        for query in &set.queries {
            let group = &stored.groups[&query.group];
            let app = &group.app;
            let now = query.date.unwrap_or(group.end);
            let v = one(app, &query.text, now).await;
            let cands: Vec<_> = v.1.into_iter().map(|(id, l, n, c, p, f)| serde_json::json!([group.ids.get(&id), l, n, c, p, f])).collect();
            out += &serde_json::json!({"qid": query.id, "q": v.0, "cands": cands}).to_string();
            out.push('\n');
        }
        std::fs::write(format!("/tmp/emb/dump-{}.ndjson", set.name), out).unwrap();
        if set.name == "locomo-en" || set.name.starts_with("madial") || set.name.starts_with("memoryb") || set.name=="skills" || set.name=="cmrc-zh" {
            let everyday = std::fs::read_to_string("/tmp/wt/embedding/tests/api/data/everyday.txt").unwrap();
            let mut out = String::new();
            for (name, group) in &stored.groups {
                for message in everyday.lines() {
                    let v = one(&group.app, message, group.end).await;
                    let mut cands = v.1;
                    cands.sort_by(|a, b| b.4.total_cmp(&a.4));
                    let mut top: Vec<_> = cands.iter().take(3).cloned().collect();
                    cands.sort_by(|a, b| b.3.total_cmp(&a.3));
                    top.extend(cands.iter().take(3).cloned());
                    out += &serde_json::json!({"g": name, "m": message, "q": v.0, "top": top}).to_string();
                    out.push('\n');
                }
            }
            std::fs::write(format!("/tmp/emb/every-{}.ndjson", set.name), out).unwrap();
        }
    }
}
type Row = (String, f64, f64, f64, f64, f64);
async fn one(app: &App, text: &str, now: DateTime<Utc>) -> (serde_json::Value, Vec<Row>) {
    let scope = Scope::owner();
    let signals = app.signals(&scope, now).await.unwrap();
    let analysis = app.analyser.query(text);
    let expansions = read::expansion::expand(app, &scope, &analysis, &signals).await.unwrap();
    let mut plan = read::plan::plan(&analysis, &expansions, &Filters::default(), &app.settings, app.switches);
    let request = Request { query: text.to_owned(), top_k: 10, filters: Filters::default(), mode: Mode::Hybrid, min_score: None, explain: None };
    let meaning = read::meaning::of_query(app, &request).await.unwrap();
    meaning.join(&mut plan);
    let retrieved = app.store.retrieve(&scope, &plan, now).await.unwrap();
    let parts = fusion::parts(&plan, &retrieved, meaning.noise.as_ref());
    let scored: Vec<Scored> = parts.iter().map(|p| Scored { memory: retrieved.candidates[p.candidate].memory.clone(), similarity: 1.0, evidence: 0.0, found_by: vec![] }).collect();
    let hits = rank(scored, &signals, &app.weights(), now);
    let f: BTreeMap<String, f64> = hits.iter().map(|h| (h.memory.id.to_string(), h.score())).collect();
    let rows = parts.iter().map(|p| { let c = &retrieved.candidates[p.candidate]; let id = c.memory.id.to_string(); (id.clone(), p.lexical, p.near, c.cosine.unwrap_or(0.0), p.proven, f[&id]) }).collect();
    let q = serde_json::json!({"claims": plan.claims.iter().map(|c| 1.0 - c.commonness).collect::<Vec<_>>(), "terms": plan.terms.len(), "date": plan.terms.iter().any(|t| t.term.is_date()), "n": retrieved.statistics.memories, "vec": plan.vector.is_some()});
    (q, rows)
}
