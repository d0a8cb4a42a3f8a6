//! `keepsake eval`: the table of how good retrieval is, and what each of its parts gains.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::printer::{Printer, progress};
use super::tables::aligned;
use super::{Global, Outcome, flags, search, settings};
use crate::analysis::Ingredients;
use crate::app::Switches;
use crate::config::{Environment, Settings, StoreChoice};
use crate::evaluation::compare::compare;
use crate::evaluation::metrics::{NAMES, NDCG, Scores, interval, mean};
use crate::evaluation::sets::{QuestionSet, load_all};
use crate::evaluation::{Measured, QueryRun, Stored, write_run};
use crate::read::Mode;

#[derive(Debug, Args)]
pub(super) struct Eval {
    /// Folder with question sets
    folder: PathBuf,
    /// Only this set, may be given several times
    #[arg(long = "set", value_name = "NAME")]
    sets: Vec<String>,
    /// Search only like this, may be given several times [default: lexical, vector and hybrid]
    #[arg(long = "mode", value_name = "MODE", value_enum)]
    modes: Vec<search::Mode>,
    /// Before asking, do what maintenance does for retrieval: duplicates, synonyms, dictionary
    #[arg(long)]
    maintained: bool,
    /// Also measure what is lost without each part of retrieval
    #[arg(long)]
    ablate: bool,
    /// Write the ranking of each query to `DIR/MODE/SET.jsonl`
    #[arg(long, value_name = "DIR")]
    runs: Option<PathBuf>,
    /// Keep the memories in this store while measuring: embedded or redis (as configured)
    #[arg(long, value_name = "STORE", value_parser = ["embedded", "redis"], default_value = "embedded")]
    store: String,
    /// Compare two folders of runs query by query instead
    #[arg(long, num_args = 2, value_names = ["BEFORE", "AFTER"], conflicts_with_all = ["ablate", "runs"])]
    compare: Option<Vec<PathBuf>>,
}

/// The parts that can be switched off, by name.
fn parts() -> [(&'static str, Switches); 6] {
    let all = Switches::default();
    [
        (
            "stems",
            Switches {
                ingredients: Ingredients {
                    stems: false,
                    ..all.ingredients
                },
                ..all
            },
        ),
        (
            "pairs",
            Switches {
                ingredients: Ingredients {
                    pairs: false,
                    ..all.ingredients
                },
                ..all
            },
        ),
        (
            "dates",
            Switches {
                dates: false,
                ..all
            },
        ),
        (
            "neighbours",
            Switches {
                neighbours: false,
                ..all
            },
        ),
        (
            "floor",
            Switches {
                floor: false,
                ..all
            },
        ),
        (
            "factors",
            Switches {
                factors: false,
                ..all
            },
        ),
    ]
}

impl Eval {
    /// The modes that are measured; the parts are switched off in the last one.
    fn modes(&self) -> Vec<Mode> {
        if self.modes.is_empty() {
            vec![Mode::Lexical, Mode::Vector, Mode::Hybrid]
        } else {
            self.modes.iter().map(|mode| Mode::from(*mode)).collect()
        }
    }

    pub(super) async fn run(
        self,
        global: &Global,
        environment: &Environment,
        printer: &Printer,
    ) -> anyhow::Result<Outcome> {
        let mut flags = flags(global);
        flags.insert("store", self.store.clone());
        let store = settings(&flags, environment)?.store;
        let mut sets = load_all(&self.folder)?;
        if let Some(unknown) = self
            .sets
            .iter()
            .find(|name| sets.iter().all(|set| set.name != **name))
        {
            anyhow::bail!(
                "there is no set `{unknown}`\nhint: there are {}",
                sets.iter()
                    .map(|set| set.name.as_str())
                    .collect::<Vec<_>>()
                    .join(", ")
            );
        }
        sets.retain(|set| self.sets.is_empty() || self.sets.contains(&set.name));
        if let Some([before, after]) = self.compare.as_deref() {
            return compare_runs(&sets, before, after, printer);
        }
        if let Some(folder) = &self.runs {
            std::fs::create_dir_all(folder)?;
        }
        let progress = progress(Some(sets.len() as u64), "sets")?;
        let mut rows = Vec::new();
        let mut losses = Vec::new();
        for set in &sets {
            let (set_rows, loss) = self.measure(set, &store).await?;
            rows.extend(set_rows);
            losses.push(loss);
            progress.inc(1);
        }
        progress.finish_and_clear();
        let answer = json!({"sets": rows, "without": losses.iter().filter(|loss| !loss.is_null()).collect::<Vec<_>>()});
        printer.answer(&answer, |_, _| table(&rows) + &loss_table(&losses))?;
        Ok(Outcome::Done)
    }

    /// The rows of a set, and what it loses without each part.
    async fn measure(
        &self,
        set: &QuestionSet,
        store: &StoreChoice,
    ) -> anyhow::Result<(Vec<Value>, Value)> {
        // Sets hold texts longer than a service takes by default.
        let settings = Settings {
            max_content_chars: usize::MAX,
            store: store.clone(),
            ..Settings::default()
        };
        let all = Switches::default();
        let stored = Stored::new(set, &settings, all, self.maintained).await?;
        let (mut measured, mut last) = (Vec::new(), None);
        for mode in self.modes() {
            let full = stored.ask(all, mode).await?;
            let off = Switches {
                factors: false,
                ..all
            };
            let plain = stored.ask(off, mode).await?;
            if let Some(folder) = &self.runs {
                let folder = folder.join(mode.as_str());
                std::fs::create_dir_all(&folder)?;
                write_run(&folder.join(format!("{}.jsonl", set.name)), &full.runs)?;
            }
            measured.extend(rows(&set.name, mode, "on", &full));
            measured.push(row_of_all(&set.name, mode, "off", &plain));
            last = Some((mode, overall(&full.runs)[NDCG]));
        }
        let Some((mode, whole)) = last.filter(|_| self.ablate) else {
            stored.discard().await?;
            return Ok((measured, Value::Null));
        };
        let mut loss = serde_json::Map::from_iter([
            ("set".to_owned(), Value::from(set.name.as_str())),
            ("nDCG@10".to_owned(), Value::from(whole)),
        ]);
        for (name, switches) in parts() {
            let outcome = if switches.ingredients == all.ingredients {
                stored.ask(switches, mode).await?
            } else {
                let other = Stored::new(set, &settings, switches, self.maintained).await?;
                let outcome = other.ask(switches, mode).await?;
                other.discard().await?;
                outcome
            };
            loss.insert(name.to_owned(), Value::from(overall(&outcome.runs)[NDCG]));
        }
        stored.discard().await?;
        Ok((measured, Value::Object(loss)))
    }
}

fn overall(runs: &[QueryRun]) -> Scores {
    mean(runs.iter().map(|run| &run.scores))
}

/// One row for the whole set and one for each category.
fn rows(set: &str, mode: Mode, factors: &str, outcome: &Measured) -> Vec<Value> {
    let mut rows = vec![row_of_all(set, mode, factors, outcome)];
    let mut categories: BTreeMap<&str, Vec<&QueryRun>> = BTreeMap::new();
    for run in &outcome.runs {
        if let Some(category) = &run.category {
            categories.entry(category).or_default().push(run);
        }
    }
    rows.extend(
        categories
            .into_iter()
            .map(|(category, runs)| row(set, category, mode, factors, &runs, None)),
    );
    rows
}

fn row_of_all(set: &str, mode: Mode, factors: &str, outcome: &Measured) -> Value {
    let runs: Vec<&QueryRun> = outcome.runs.iter().collect();
    row(
        set,
        "all",
        mode,
        factors,
        &runs,
        Some(outcome.context_chars),
    )
}

fn row(
    set: &str,
    category: &str,
    mode: Mode,
    factors: &str,
    runs: &[&QueryRun],
    context_chars: Option<f64>,
) -> Value {
    let scores = mean(runs.iter().map(|run| &run.scores));
    let ndcg: Vec<f64> = runs.iter().map(|run| run.scores[NDCG]).collect();
    let (low, high) = interval(&ndcg);
    let mut row = json!({
        "set": set, "category": category, "mode": mode.as_str(), "factors": factors, "queries": runs.len(), "low": low, "high": high,
        "context_chars": context_chars,
    });
    for (name, score) in NAMES.iter().zip(scores) {
        row[*name] = Value::from(score);
    }
    row
}

fn table(rows: &[Value]) -> String {
    let mut lines = vec![format!(
        "set\tcategory\tmode\tfactors\tn\t{}\t95 % interval\tcontext chars",
        NAMES.join("\t")
    )];
    for row in rows {
        let name = |field: &str| row[field].as_str().unwrap_or_default();
        let number = |field: &str| row[field].as_f64().unwrap_or_default();
        let scores = NAMES
            .map(|metric| format!("{:.4}", number(metric)))
            .join("\t");
        let context = row["context_chars"]
            .as_f64()
            .map(|chars| format!("{chars:.0}"))
            .unwrap_or_default();
        lines.push(format!(
            "{}\t{}\t{}\t{}\t{}\t{scores}\t{:.3} to {:.3}\t{context}",
            name("set"),
            name("category"),
            name("mode"),
            name("factors"),
            row["queries"],
            number("low"),
            number("high")
        ));
    }
    aligned(&lines)
}

/// What each part gains: the whole's nDCG@10 less what is left without it.
fn loss_table(losses: &[Value]) -> String {
    let names = parts().map(|(name, _)| name);
    let mut lines = vec![format!("gain in nDCG@10 by\twhole\t{}", names.join("\t"))];
    for loss in losses.iter().filter(|loss| !loss.is_null()) {
        let whole = loss["nDCG@10"].as_f64().unwrap_or_default();
        let gains = names
            .map(|name| format!("{:+.4}", whole - loss[name].as_f64().unwrap_or_default()))
            .join("\t");
        lines.push(format!(
            "{}\t{whole:.4}\t{gains}",
            loss["set"].as_str().unwrap_or_default()
        ));
    }
    if lines.len() == 1 {
        String::new()
    } else {
        format!("\n{}", aligned(&lines))
    }
}

fn compare_runs(
    sets: &[QuestionSet],
    before: &std::path::Path,
    after: &std::path::Path,
    printer: &Printer,
) -> anyhow::Result<Outcome> {
    let mut rows = Vec::new();
    let mut lines =
        vec!["set\tbefore\tafter\tdifference\t95 % interval\tbetter\tworse\tequal".to_owned()];
    for set in sets {
        let file = format!("{}.jsonl", set.name);
        if !before.join(&file).exists() || !after.join(&file).exists() {
            continue;
        }
        let found = compare(set, &before.join(&file), &after.join(&file))?;
        let (low, high) = found.interval;
        lines.push(format!(
            "{}\t{:.4}\t{:.4}\t{:+.4}\t{low:+.4} to {high:+.4}\t{}\t{}\t{}",
            set.name,
            found.first,
            found.second,
            found.second - found.first,
            found.better,
            found.worse,
            found.equal
        ));
        rows.push(json!({
            "set": set.name, "before": found.first, "after": found.second, "low": low, "high": high,
            "better": found.better, "worse": found.worse, "equal": found.equal,
        }));
    }
    anyhow::ensure!(
        !rows.is_empty(),
        "`{}` and `{}` hold no runs of the same set\nhint: `--runs DIR` writes them to `DIR/lexical`, `DIR/vector` and `DIR/hybrid`",
        before.display(),
        after.display()
    );
    printer.answer(&json!({"sets": rows}), |_, _| aligned(&lines))?;
    Ok(Outcome::Done)
}
