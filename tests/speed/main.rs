//! How fast it is, each figure beside a floor of the same run.
//!
//! `cargo bench --bench speed [-- --most N]` prints tab-separated lines. It starts the real service on
//! stores of 1,000, 10,000 and 100,000 memories (up to `--most`), with the built-in model; with
//! `KEEPSAKE_EMBEDDER=none` without one.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a report")]

mod corpus;
mod floors;
mod service;

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use keepsake::analysis::{self, Analyser, Ingredients};
use keepsake::embedding::Embedder;
use keepsake::embedding::builtin::Builtin;

use corpus::Corpus;
use service::Service;

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
/// Questions of each kind.
const QUESTIONS: usize = 300;
/// Single writes that are timed.
const WRITES: usize = 200;
/// Lines sent together in an import.
const CHUNK: usize = 10_000;

fn main() {
    drop(rustls::crypto::ring::default_provider().install_default());
    let most = most();
    analysis::warm_up();
    println!("what\tmemories\tmedian\tp95\tfloor\tratio");
    analysis_speed();
    embedding_speed();
    floors::ranking();
    for size in SIZES.into_iter().filter(|size| *size <= most) {
        store(size);
    }
}

/// The largest store to measure.
fn most() -> usize {
    let arguments: Vec<String> = std::env::args().collect();
    let position = arguments.iter().position(|argument| argument == "--most");
    position
        .and_then(|position| arguments.get(position + 1))
        .map_or(usize::MAX, |most| {
            most.parse().expect("--most takes a number")
        })
}

/// Prints one line; times in milliseconds.
pub(crate) fn report(what: &str, memories: usize, times: &mut [Duration], floor: Option<Duration>) {
    times.sort_unstable();
    let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
    let (median, tail) = (times[times.len() / 2], times[times.len() * 95 / 100]);
    let floor = floor.map_or_else(
        || "\t".to_owned(),
        |floor| {
            let ratio = median.as_secs_f64() / floor.as_secs_f64();
            format!("{:.3} ms\t{ratio:.1}", milliseconds(floor))
        },
    );
    println!(
        "{what}\t{memories}\t{:.3} ms\t{:.3} ms\t{floor}",
        milliseconds(median),
        milliseconds(tail)
    );
}

pub(crate) fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn analysis_speed() {
    let analyser = Analyser::new("", Ingredients::default());
    let mut corpus = Corpus::new(1);
    for (what, chinese) in [
        ("analyse 200 characters, English", false),
        ("analyse 200 characters, Chinese", true),
    ] {
        let texts: Vec<String> = (0..500).map(|_| corpus.text_of(chinese, 200)).collect();
        let mut times: Vec<Duration> = texts
            .iter()
            .map(|text| {
                let began = Instant::now();
                black_box(analyser.content(text));
                began.elapsed()
            })
            .collect();
        report(what, 0, &mut times, None);
    }
}

/// On one core: texts are embedded one after the other.
fn embedding_speed() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let mut corpus = Corpus::new(3);
    let embed = |text: String| {
        let began = Instant::now();
        black_box(runtime.block_on(Builtin.embed(&[text]))).expect("a vector");
        began.elapsed()
    };
    embed("the first loads the model".to_owned());
    for (what, chinese, length) in [
        ("embed 60 characters, English", false, 60),
        ("embed 20 characters, Chinese", true, 20),
    ] {
        let mut times: Vec<Duration> = (0..2000)
            .map(|_| embed(corpus.text_of(chinese, length)))
            .collect();
        let all: Duration = times.iter().sum();
        println!(
            "{what}\t0\t{:.0} a second\t\t\t",
            times.len() as f64 / all.as_secs_f64()
        );
        report(what, 0, &mut times, None);
    }
}

/// Fills a store of so many memories and measures it.
fn store(size: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    println!(
        "start, empty\t0\t{:.0} ms\t\t\t",
        service.ready_after.as_secs_f64() * 1000.0
    );
    println!(
        "resident memory, empty\t0\t{:.0} MiB\t\t\t",
        service.resident()
    );
    let mut corpus = Corpus::new(2);
    let began = Instant::now();
    let mut left = size;
    while left > 0 {
        let mut lines = String::new();
        for number in 0..left.min(CHUNK) {
            let turn = size - left + number;
            let mut line = serde_json::json!({"content": corpus.text()});
            if turn.is_multiple_of(4) {
                // A quarter are turns of conversations.
                line["session"] = format!("session {}", turn / 80).into();
                line["turn"] = (turn % 80 / 4).into();
            }
            writeln!(lines, "{line}").expect("a string");
        }
        service.import(lines);
        left -= left.min(CHUNK);
    }
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "import\t{size}\t{:.0} a second\t\t\t",
        size as f64 / seconds
    );
    service.search("warm up");
    std::thread::sleep(Duration::from_secs(8));
    println!(
        "resident memory\t{size}\t{:.0} MiB\t\t\t",
        service.resident()
    );

    let everyday: Vec<String> = (0..QUESTIONS).map(|_| corpus.everyday_question()).collect();
    let rare: Vec<String> = (0..QUESTIONS).map(|_| corpus.rare_question()).collect();
    for (what, mode, questions) in [
        ("search, lexical, everyday words", "lexical", &everyday),
        ("search, lexical, rare words", "lexical", &rare),
        // Without an embedder this is the first again.
        ("search, everyday words", "auto", &everyday),
    ] {
        let mut times: Vec<Duration> = questions
            .iter()
            .map(|question| service.search_by(mode, question).0)
            .collect();
        let floor = floors::bare_query(folder.path(), questions);
        report(what, size, &mut times, floor);
    }
    let mut times: Vec<Duration> = everyday
        .iter()
        .map(|question| service.search(question).0)
        .collect();
    let warm = median(&mut times);
    report(
        "search, everyday words, asked before",
        size,
        &mut times,
        None,
    );
    let mut times: Vec<Duration> = everyday
        .iter()
        .take(WRITES)
        .map(|question| {
            service.add(&corpus.text());
            service.search(question).0
        })
        .collect();
    report("search right after a write", size, &mut times, Some(warm));
    let floor = floors::bare_commit(folder.path(), WRITES);
    let mut times: Vec<Duration> = (0..WRITES).map(|_| service.add(&corpus.text())).collect();
    report("write, one after the other", size, &mut times, Some(floor));
    let began = Instant::now();
    let texts: Vec<String> = (0..32 * WRITES / 4).map(|_| corpus.text()).collect();
    std::thread::scope(|scope| {
        for texts in texts.chunks(WRITES / 4) {
            let service = &service;
            scope.spawn(move || {
                texts.iter().for_each(|text| {
                    service.add(text);
                })
            });
        }
    });
    let each = began.elapsed() / u32::try_from(texts.len()).expect("few");
    report("write, 32 at once, each", size, &mut [each], Some(floor));
    service.stop();
    let service = Service::start(folder.path());
    println!(
        "start\t{size}\t{:.0} ms\t\t\t",
        service.ready_after.as_secs_f64() * 1000.0
    );
    let (first, _) = service.search(&everyday[0]);
    report("first search after the start", size, &mut [first], None);
    service.stop();
    eprintln!("store of {size} measured");
}
