//! Date words: the day that a memory is about, and the days that a query names.
//!
//! A day is indexed by its year, month, day of the month, weekday and month with day, so that
//! "on 2 May", "in May", "last year's Monday" and `5月2号` each match by what they say.

use chrono::{Datelike, NaiveDate};

use super::terms::{Term, TermKind};
use super::token::{Token, TokenKind};

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];
const HAN_NUMERALS: &str = "一二三四五六七八九十";
/// Years that a bare number of four digits is read as.
const YEARS: std::ops::Range<u32> = 1900..2100;

/// The date terms of the day that a memory is about.
pub fn of_day(day: NaiveDate) -> [Term; 5] {
    let (month, day_of_month) = (day.month(), day.day());
    [
        Part::Year(day.year().unsigned_abs()),
        Part::Month(month),
        Part::Day(day_of_month),
        Part::MonthDay(month, day_of_month),
        Part::Weekday(day.weekday().num_days_from_monday()),
    ]
    .map(Part::term)
}

/// Most days of a span that are told one by one, and most months.
const DAY_BY_DAY: i64 = 31;
const MONTH_BY_MONTH: i64 = 366;
/// Most years of a span that are told.
const MOST_YEARS: usize = 50;

/// The date terms of a span of days, both included, with words for each: its days if they are few,
/// else its months, else its years. A span that is open at one end is the year at the other; one that
/// ends before it begins has none.
pub fn within(start: Option<NaiveDate>, end: Option<NaiveDate>) -> Vec<(Term, String)> {
    let (Some(first), Some(last)) = (start.or(end), end.or(start)) else {
        return Vec::new();
    };
    let is_open = start.is_none() || end.is_none();
    let days = (last - first).num_days() + 1;
    let part = |day: NaiveDate| match days {
        ..=DAY_BY_DAY if !is_open => Part::MonthDay(day.month(), day.day()),
        ..=MONTH_BY_MONTH if !is_open => Part::Month(day.month()),
        _ => Part::Year(day.year().unsigned_abs()),
    };
    let mut parts: Vec<(Part, String)> = Vec::new();
    let far = usize::try_from(days).unwrap_or(0).min(MOST_YEARS * 366);
    for day in first.iter_days().take(far) {
        let part = part(day);
        if !parts.iter().any(|(there, _)| *there == part) {
            parts.push((part, day.to_string()));
        }
    }
    parts
        .into_iter()
        .take(MOST_YEARS)
        .map(|(part, words)| (part.term(), words))
        .collect()
}

/// A part of a date that a query names.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedDate {
    pub term: Term,
    /// The words that named it.
    pub words: String,
    /// How little it tells, 0.0 to 1.0: a day of a month tells much, a weekday alone little.
    pub commonness: f64,
}

/// The parts of dates that a query names, in text order and without repetition. `normalised` is the
/// text that the tokens were cut from.
pub fn named(normalised: &str, tokens: &[Token]) -> Vec<NamedDate> {
    let mut parts = english(normalised, tokens);
    parts.extend(iso(tokens));
    parts.extend(chinese(normalised));
    let mut seen = std::collections::HashSet::new();
    let unique = parts.into_iter().filter(|(part, _)| seen.insert(*part));
    unique
        .map(|(part, words)| NamedDate {
            term: part.term(),
            words,
            commonness: part.commonness(),
        })
        .collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Year(u32),
    Month(u32),
    Day(u32),
    MonthDay(u32, u32),
    /// Days from Monday.
    Weekday(u32),
}

impl Part {
    fn commonness(self) -> f64 {
        match self {
            Part::MonthDay(..) => 0.3,
            Part::Month(_) | Part::Weekday(_) => 0.8,
            Part::Year(_) | Part::Day(_) => 0.9,
        }
    }

    fn term(self) -> Term {
        let text = match self {
            Part::Year(year) => format!("y{year}"),
            Part::Month(month) => format!("m{month}"),
            Part::Day(day) => format!("d{day}"),
            Part::MonthDay(month, day) => format!("m{month}d{day}"),
            Part::Weekday(weekday) => format!("w{weekday}"),
        };
        Term::new(TermKind::Date, &text)
    }
}

/// A month, and its day when the query names one.
fn month_and_day(month: u32, day: Option<u32>, words: &str) -> Vec<(Part, String)> {
    let mut parts = vec![(Part::Month(month), words.to_owned())];
    if let Some(day) = day.filter(|day| (1..=31).contains(day)) {
        parts.push((Part::Day(day), words.to_owned()));
        parts.push((Part::MonthDay(month, day), words.to_owned()));
    }
    parts
}

fn english(normalised: &str, tokens: &[Token]) -> Vec<(Part, String)> {
    let mut parts = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let word = token.text.as_str();
        let capitalised = normalised[token.start..token.end].starts_with(char::is_uppercase);
        if let Some(month) = month_named(word, capitalised) {
            // "2 May", "the 2nd of May", "May 2", "May the 2nd"
            let neighbours = [
                at.checked_sub(1),
                at.checked_sub(2),
                Some(at + 1),
                Some(at + 2),
            ];
            let day = neighbours
                .into_iter()
                .flatten()
                .filter_map(|near| tokens.get(near))
                .find_map(|near| day_of_month(&near.text));
            parts.extend(month_and_day(month, day, word));
        } else if let Some(weekday) = WEEKDAYS
            .iter()
            .position(|name| word.strip_suffix('s').unwrap_or(word) == *name)
        {
            parts.push((Part::Weekday(weekday as u32), word.to_owned()));
        } else if token.kind == TokenKind::Number
            && let Some(year) = word.parse().ok().filter(|year| YEARS.contains(year))
        {
            parts.push((Part::Year(year), word.to_owned()));
        }
    }
    parts
}

/// Months by name or by their first three letters; "may" and "march" are also words, so these want
/// a capital.
fn month_named(word: &str, capitalised: bool) -> Option<u32> {
    let index = MONTHS
        .iter()
        .position(|month| *month == word || (word.len() == 3 && month.starts_with(word)))?;
    let ambiguous = matches!(word, "may" | "march" | "mar" | "jan" | "sep" | "dec");
    (capitalised || !ambiguous).then_some(index as u32 + 1)
}

/// `2`, `2nd`, `23rd`
fn day_of_month(word: &str) -> Option<u32> {
    let digits = ["st", "nd", "rd", "th"]
        .iter()
        .find_map(|ending| word.strip_suffix(ending))
        .unwrap_or(word);
    digits.parse().ok().filter(|day| (1..=31).contains(day))
}

/// `2024-05-01`, `2024/5/1`, `2024-05`
fn iso(tokens: &[Token]) -> Vec<(Part, String)> {
    let mut parts = Vec::new();
    for token in tokens
        .iter()
        .filter(|token| token.kind == TokenKind::Technical)
    {
        let numbers: Vec<u32> = token
            .text
            .split(['-', '/', '.'])
            .map_while(|part| part.parse().ok())
            .collect();
        if let [year, month, rest @ ..] = numbers.as_slice()
            && YEARS.contains(year)
            && (1..=12).contains(month)
        {
            parts.push((Part::Year(*year), token.text.clone()));
            parts.extend(month_and_day(*month, rest.first().copied(), &token.text));
        }
    }
    parts
}

/// `2024年5月2号`, `五月二日`, `星期一`, `周日`, `礼拜天`
fn chinese(normalised: &str) -> Vec<(Part, String)> {
    let characters: Vec<char> = normalised.chars().collect();
    let mut parts = Vec::new();
    for (at, c) in characters.iter().enumerate() {
        match c {
            '年' => {
                let (year, words) = number_before(&characters, at);
                if let Some(year) = year.filter(|year| YEARS.contains(year)) {
                    parts.push((Part::Year(year), format!("{words}年")));
                }
            }
            '月' => {
                let (month, words) = number_before(&characters, at);
                if let Some(month) = month.filter(|month| (1..=12).contains(month)) {
                    let digits = characters[at + 1..]
                        .iter()
                        .take_while(|c| is_numeral(**c))
                        .count();
                    let (day, day_words) = number_before(&characters, at + 1 + digits);
                    parts.extend(month_and_day(month, day, &format!("{words}月{day_words}")));
                }
            }
            '期' | '周' | '拜' => {
                let named = characters
                    .get(at + 1)
                    .and_then(|day| "一二三四五六日天".chars().position(|name| name == *day));
                if let Some(weekday) = named {
                    parts.push((
                        Part::Weekday(weekday.min(6) as u32),
                        format!("{c}{}", characters[at + 1]),
                    ));
                }
            }
            _ => {}
        }
    }
    parts
}

fn is_numeral(c: char) -> bool {
    c.is_ascii_digit() || HAN_NUMERALS.contains(c)
}

/// The number that ends before position `end`, in digits or as a Chinese numeral up to 99, with its
/// characters.
fn number_before(characters: &[char], end: usize) -> (Option<u32>, String) {
    let start = end
        - characters[..end]
            .iter()
            .rev()
            .take_while(|c| is_numeral(**c))
            .count();
    let words: String = characters[start..end].iter().collect();
    let number = words.parse().ok().or_else(|| han_number(&words));
    (number, words)
}

fn han_number(words: &str) -> Option<u32> {
    let digit = |text: &str| match text.chars().collect::<Vec<_>>().as_slice() {
        [c] => HAN_NUMERALS
            .chars()
            .position(|name| name == *c)
            .map(|index| index as u32 + 1),
        _ => None,
    };
    match words.split_once('十') {
        Some((tens, ones)) => {
            let tens = if tens.is_empty() { 1 } else { digit(tens)? };
            let ones = if ones.is_empty() { 0 } else { digit(ones)? };
            Some(tens * 10 + ones)
        }
        None => digit(words),
    }
}

#[cfg(test)]
mod tests {
    use super::super::dictionary::Dictionary;
    use super::super::normalise::normalise;
    use super::super::tokeniser::tokenise;
    use super::*;

    fn check(query: &str, expected: &[Part]) {
        let normalised = normalise(query);
        let named: Vec<Term> = named(&normalised, &tokenise(&normalised, Dictionary::builtin()))
            .into_iter()
            .map(|date| date.term)
            .collect();
        assert_eq!(
            named,
            expected.iter().map(|part| part.term()).collect::<Vec<_>>(),
            "{query}"
        );
    }

    #[test]
    fn a_span_is_told_by_its_days_its_months_or_its_years() {
        use Part::{Month, MonthDay, Year};
        let day = |text: &str| Some(text.parse().unwrap());
        for (start, end, expected) in [
            (
                day("2026-01-30"),
                day("2026-02-01"),
                &[MonthDay(1, 30), MonthDay(1, 31), MonthDay(2, 1)][..],
            ),
            (day("2025-12-01"), day("2026-01-20"), &[Month(12), Month(1)]),
            (
                day("2024-05-01"),
                day("2026-01-20"),
                &[Year(2024), Year(2025), Year(2026)],
            ),
            (day("2026-01-30"), None, &[Year(2026)]),
            (None, day("2026-01-30"), &[Year(2026)]),
            (day("2026-02-01"), day("2026-01-01"), &[]),
            (None, None, &[]),
        ] {
            let terms: Vec<Term> = within(start, end).into_iter().map(|part| part.0).collect();
            let expected: Vec<Term> = expected.iter().map(|part| part.term()).collect();
            assert_eq!(terms, expected, "{start:?} {end:?}");
        }
        let all = within(day("0001-01-01"), day("9999-12-31"));
        assert!(all.len() <= MOST_YEARS);
    }

    #[test]
    fn days_are_named_in_both_languages() {
        use Part::{Day, Month, MonthDay, Weekday, Year};
        check(
            "on 2 May 2023",
            &[Month(5), Day(2), MonthDay(5, 2), Year(2023)],
        );
        check("the 23rd of june", &[Month(6), Day(23), MonthDay(6, 23)]);
        check("last Monday", &[Weekday(0)]);
        check("5月2号我们聊了什么", &[Month(5), Day(2), MonthDay(5, 2)]);
        check(
            "二〇二三年五月二十一日",
            &[Month(5), Day(21), MonthDay(5, 21)],
        );
        check("十二月", &[Month(12)]);
        check("星期天和周一", &[Weekday(6), Weekday(0)]);
        check(
            "2026-03-14 会议",
            &[Year(2026), Month(3), Day(14), MonthDay(3, 14)],
        );
    }

    #[test]
    fn ordinary_words_and_numbers_name_no_day() {
        check("may I march on? version 3000, 13月, 周围, 99", &[]);
    }

    #[test]
    fn a_day_is_found_by_each_of_its_parts() {
        let day = of_day(NaiveDate::from_ymd_opt(2023, 5, 8).expect("a valid day"));
        for part in [
            Part::Year(2023),
            Part::Month(5),
            Part::Day(8),
            Part::MonthDay(5, 8),
            Part::Weekday(0),
        ] {
            assert!(day.contains(&part.term()), "{part:?}");
        }
    }
}
