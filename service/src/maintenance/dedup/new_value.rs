//! Whether a newer text states a new value of the same thing: `port 6379`, then `port 6380`.
//!
//! Two numbers in one frame may as well be two events. So either the newer text says itself that
//! something changed, or the value is that of an attribute of which there is one at a time.

use crate::analysis::particulars::{Figure, Particulars, Word, key};

use super::compare::{differing_figures, words_apart};

/// Words that say that something changed. `_` is never inside one.
const CHANGES: [&str; 62] = [
    "now",
    "changed",
    "change",
    "moved",
    "move",
    "updated",
    "upgraded",
    "switched",
    "renamed",
    "raised",
    "increased",
    "reduced",
    "lowered",
    "replaced",
    "instead",
    "became",
    "new",
    "migrated",
    "extended",
    "postponed",
    "from",
    "has",
    "have",
    "been",
    "was",
    "is",
    "current",
    "currently",
    "现在",
    "改",
    "改成",
    "改为",
    "改到",
    "换成",
    "换",
    "更新",
    "更新为",
    "升级",
    "升级到",
    "搬",
    "搬到",
    "涨到",
    "涨",
    "降到",
    "迁移",
    "迁移到",
    "变成",
    "变为",
    "变",
    "调整",
    "已经",
    "已",
    "从",
    "到",
    "成",
    "为",
    "是",
    "了",
    "时间",
    "改名",
    "提高到",
    "提高",
];
/// Those that say it alone.
const CUES: [&str; 44] = [
    "now",
    "changed",
    "moved",
    "updated",
    "upgraded",
    "switched",
    "renamed",
    "raised",
    "increased",
    "reduced",
    "lowered",
    "replaced",
    "instead",
    "became",
    "migrated",
    "extended",
    "postponed",
    "currently",
    "现在",
    "改成",
    "改为",
    "改到",
    "换成",
    "更新为",
    "升级到",
    "搬到",
    "涨到",
    "降到",
    "迁移到",
    "变成",
    "变为",
    "已更新",
    "改",
    "换",
    "升级",
    "搬",
    "涨",
    "变",
    "调整",
    "提高到",
    "降",
    "迁移",
    "改名",
    "更新",
];
/// Words that state how something is, and give way when it changes.
const STATES: [&str; 30] = [
    "live", "lives", "living", "use", "uses", "run", "runs", "is", "are", "work", "works", "set",
    "called", "based", "stays", "listens", "has", "住", "住在", "用", "用的", "使用", "是", "在",
    "叫", "采用", "运行", "位于", "为", "有",
];

/// What changed from the older to the newer text, told; `None` unless it is certain.
pub(super) fn change(older: &Particulars, newer: &Particulars) -> Option<String> {
    if older.denials != newer.denials {
        return None;
    }
    let (gone, come) = (words_apart(older, newer), words_apart(newer, older));
    let says_so = CUES.iter().any(|cue| {
        newer.all.contains(&key(cue)) && !older.all.contains(&key(cue))
            || !cue.is_ascii() && newer.run.contains(cue) && !older.run.contains(cue)
    });
    let others: Vec<&Word> = come
        .into_iter()
        .filter(|word| !is_among(word, &CHANGES) && !is_known_and_changed(word, older))
        .collect();
    let lost: Vec<&Word> = gone
        .into_iter()
        .filter(|word| !is_among(word, &STATES))
        .collect();
    match lost.as_slice() {
        [] => {
            figure(older, newer, says_so, &others).or_else(|| name(older, newer, says_so, &others))
        }
        // `lives in Paris`, then `now lives in Rome`.
        [before] if before.name && says_so && agrees(older, newer) => match others.as_slice() {
            [after] if after.name => Some(format!(
                "new value: {} instead of {}",
                after.text, before.text
            )),
            _ => None,
        },
        _ => None,
    }
}

fn agrees(older: &Particulars, newer: &Particulars) -> bool {
    older.figures == newer.figures && older.moments == newer.moments
}

fn is_among(word: &Word, list: &[&str]) -> bool {
    list.iter().any(|one| key(one) == word.key)
}

/// Whether a Chinese word is one of the older text with a cue behind it: `版本升级`.
fn is_known_and_changed(word: &Word, older: &Particulars) -> bool {
    let rests = CUES.iter().filter_map(|cue| word.text.strip_suffix(cue));
    let mut known = rests.filter(|rest| !rest.is_empty() && older.run.contains(rest));
    !word.text.is_ascii() && known.next().is_some()
}

/// One number took the place of another.
fn figure(
    older: &Particulars,
    newer: &Particulars,
    says_so: bool,
    others: &[&Word],
) -> Option<String> {
    if !others.is_empty() || older.moments != newer.moments {
        return None;
    }
    let (gone, come) = differing_figures(older, newer);
    // `from 30 to 60` has the older value, too.
    let before: Vec<&Figure> = match (gone.is_empty(), says_so) {
        (true, true) => older.figures.iter().collect(),
        _ => gone,
    };
    let ([before], [after]) = (before.as_slice(), come.as_slice()) else {
        return None;
    };
    let stated = older.stated.contains(before) && newer.stated.contains(after);
    let one_kind = before.unit == after.unit || before.unit.is_none() || after.unit.is_none();
    (one_kind && before.value != after.value && (says_so || stated))
        .then(|| format!("new value: {} instead of {}", after.value, before.value))
}

/// The newer text says that one thing took the place of another, and names both.
fn name(
    older: &Particulars,
    newer: &Particulars,
    says_so: bool,
    others: &[&Word],
) -> Option<String> {
    let [after] = others else {
        return None;
    };
    let from = newer.all.contains("from") || newer.run.contains('从');
    (says_so && from && agrees(older, newer)).then(|| format!("new value: {}", after.text))
}
