//! Figures with their units, however they are written.

use std::sync::LazyLock;

use regex::Regex;

use super::blank;
use crate::analysis::normalise::is_han;

/// A number, a time by the clock, or an identifier with digits in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Figure {
    pub value: String,
    /// Its own name, in one spelling; absent if none is written.
    pub unit: Option<&'static str>,
}

/// The unit of a time by the clock.
const CLOCK: &str = "clock";

impl Figure {
    /// Whether it is a time by the clock.
    pub fn is_clock(&self) -> bool {
        self.unit == Some(CLOCK)
    }

    /// Whether the two say the same number of the same thing; a unit may be left out.
    pub fn agrees(&self, other: &Figure) -> bool {
        self.value == other.value
            && (self.unit == other.unit || self.unit.is_none() || other.unit.is_none())
    }
}

static DIGITS: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"([$€£¥]\s?)?(\d+(?:[.,:/-]\d+)*)";
    Regex::new(pattern).expect("the pattern is sound")
});
static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"\b(half an|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)\b";
    Regex::new(pattern).expect("the pattern is sound")
});
static CHINESE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"第?[零〇一二两三四五六七八九十百千万半]+";
    Regex::new(pattern).expect("the pattern is sound")
});

/// What may follow a Chinese number besides units.
const CLASSIFIERS: &str = "个只张条次名位章节页本辆台份种层楼班号部家座间瓶杯碗盘件套双对首场趟句篇道幅棵朵颗片群步轮届级期代倍顿把扇封支枝人项口头匹";

/// How each unit is written, the longest first, with its name.
static UNITS: LazyLock<Vec<(&'static str, &'static str)>> = LazyLock::new(|| {
    let lines = include_str!("../data/units.txt").lines();
    let mut units: Vec<(&str, &str)> = lines
        .filter(|line| !line.starts_with('#'))
        .flat_map(|line| {
            let mut words = line.split_whitespace();
            let name = words.next().unwrap_or_default();
            words.map(move |word| (word, name))
        })
        .collect();
    units.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
    units
});

/// The figures of a text.
#[derive(Default)]
pub(super) struct Taken {
    pub all: Vec<Figure>,
    /// Those that are stated as the value of an attribute, such as a port or a password.
    pub stated: Vec<Figure>,
}

/// Takes the figures out of both texts.
pub(super) fn take(cased: &mut String, lower: &mut String) -> Taken {
    let mut figures = Taken::default();
    take_all(cased, lower, &mut figures, &DIGITS, digits);
    take_all(cased, lower, &mut figures, &CHINESE, chinese);
    take_all(cased, lower, &mut figures, &WORDS, word);
    figures
}

/// A reading of a match: the figure, and the part of the text that it takes.
type Reading = Option<(Figure, usize, usize)>;

fn take_all(
    cased: &mut String,
    lower: &mut String,
    figures: &mut Taken,
    pattern: &Regex,
    read: fn(&str, usize, usize) -> Reading,
) {
    let mut from = 0;
    while let Some(found) = pattern.find_at(lower, from) {
        let (start, end) = (found.start(), found.end());
        from = end;
        if let Some((figure, start, end)) = read(lower, start, end) {
            if is_stated(&lower[..start], &lower[end..]) {
                figures.stated.push(figure.clone());
            }
            blank(cased, lower, start, end);
            figures.all.push(figure);
            from = end.max(from);
        }
    }
}

/// Attributes of which there is one value at a time.
const ATTRIBUTES: [&str; 54] = [
    "port",
    "version",
    "timeout",
    "limit",
    "size",
    "password",
    "passcode",
    "pin",
    "budget",
    "deadline",
    "phone",
    "number",
    "email",
    "address",
    "threshold",
    "interval",
    "retention",
    "capacity",
    "quota",
    "rate",
    "price",
    "rent",
    "salary",
    "weight",
    "height",
    "age",
    "max",
    "maximum",
    "minimum",
    "端口",
    "版本",
    "超时",
    "上限",
    "限制",
    "大小",
    "密码",
    "预算",
    "截止日期",
    "手机号",
    "电话",
    "邮箱",
    "地址",
    "阈值",
    "间隔",
    "容量",
    "配额",
    "价格",
    "房租",
    "工资",
    "薪水",
    "体重",
    "身高",
    "年龄",
    "连接数",
];
/// What stands between an attribute and its value.
const COPULAS: [&str; 15] = [
    " is", " are", " was", "=", ":", " to", " of", " at", "是", "为", "等于", "成", "到", "于",
    "：",
];
/// Most words that may follow a value: `requests per minute`.
const MOST_FOLLOWING: usize = 3;

/// Whether a figure with this before and behind it is the value of an attribute.
fn is_stated(before: &str, after: &str) -> bool {
    let ends = |c: char| matches!(c, '.' | ',' | ';' | '!' | '?' | '。' | '，' | '；' | '\n');
    let before = before.rsplit(ends).next().unwrap_or_default().trim_end();
    let after = after.split(ends).next().unwrap_or_default();
    let words = after.split_whitespace().count();
    let last = words == 0 || words <= MOST_FOLLOWING && after.contains("per ");
    let holds = |attribute: &str| match attribute.is_ascii() {
        true => before
            .split(|c: char| !is_latin(c))
            .any(|word| word == attribute),
        false => before.contains(attribute),
    };
    let mut held = ATTRIBUTES
        .into_iter()
        .filter(|attribute| holds(attribute))
        .peekable();
    last && held.peek().is_some()
        && (COPULAS.iter().any(|copula| before.ends_with(copula))
            || held.any(|attribute| before.ends_with(attribute)))
}

fn is_latin(c: char) -> bool {
    c.is_alphanumeric() && !is_han(c)
}

fn digits(text: &str, start: usize, end: usize) -> Reading {
    let matched = &text[start..end];
    let number = matched.trim_start_matches(|c: char| !c.is_ascii_digit());
    let money = text[start..end]
        .chars()
        .next()
        .filter(|c| "$€£¥".contains(*c));
    let glued = |c: char| is_latin(c) || matches!(c, '_' | '-' | '.' | '#' | '@');
    // Digits inside a name belong to it: `gpt-4o`, `v2.1`.
    let left = text[..start]
        .char_indices()
        .rev()
        .take_while(|(_, c)| glued(*c))
        .filter(|(_, c)| is_latin(*c))
        .last()
        .map_or(start, |(at, _)| at);
    let (unit, after) = unit_at(text, end);
    let tail = text[end..]
        .char_indices()
        .take_while(|(_, c)| is_latin(*c))
        .last()
        .map_or(end, |(at, c)| end + at + c.len_utf8());
    if left < start || (unit.is_none() && tail > end) {
        let value = text[left..tail].trim_start_matches('v').to_owned();
        return Some((figure(value, None), left, tail));
    }
    let unit = match money {
        Some('$') => Some("dollar"),
        Some('€') => Some("euro"),
        Some('£') => Some("sterling"),
        Some(_) => Some("yuan"),
        None => unit,
    };
    let value = plain(number);
    if let Some((value, after)) = clock(text, start, &value, unit, after) {
        return Some((figure(value, Some(CLOCK)), start, after));
    }
    Some((figure(value, unit), start, after))
}

fn figure(value: String, unit: Option<&'static str>) -> Figure {
    Figure { value, unit }
}

/// Without grouping commas and leading zeros.
fn plain(number: &str) -> String {
    let grouped = number.contains(',')
        && number
            .split(',')
            .skip(1)
            .all(|group| group.split('.').next().is_some_and(|part| part.len() == 3));
    let number = if grouped {
        number.replace(',', "")
    } else {
        number.to_owned()
    };
    let short = number.trim_start_matches('0');
    if short.is_empty() || !short.starts_with(|c: char| c.is_ascii_digit()) {
        return number;
    }
    short.to_owned()
}

/// A time by the clock, and where it ends.
fn clock(
    text: &str,
    start: usize,
    value: &str,
    unit: Option<&str>,
    after: usize,
) -> Option<(String, usize)> {
    let (hour, minute) = match value.split_once(':') {
        Some((hour, minute)) if minute.len() == 2 => (hour.parse().ok()?, minute.parse().ok()?),
        Some(_) => return None,
        None if matches!(unit, Some("am" | "pm" | "clock")) => (value.parse().ok()?, 0),
        None => return None,
    };
    let (mut hour, mut minute, mut after): (u32, u32, usize) = (hour, minute, after);
    if unit == Some("clock") {
        let rest = &text[after..];
        if rest.starts_with('半') {
            (minute, after) = (30, after + '半'.len_utf8());
        } else if let Some(said) = DIGITS.find(rest).filter(|said| said.start() == 0) {
            minute = said.as_str().parse().ok()?;
            after += said.end();
            after += if text[after..].starts_with('分') {
                '分'.len_utf8()
            } else {
                0
            };
        }
    }
    let before = &text[..start];
    let late = unit == Some("pm")
        || ["下午", "晚上", "傍晚", "今晚"]
            .iter()
            .any(|word| before.trim_end().ends_with(word));
    if late && hour < 12 {
        hour += 12;
    }
    if unit == Some("am") && hour == 12 {
        hour = 0;
    }
    (hour < 25 && minute < 60).then(|| (format!("{hour:02}:{minute:02}"), after))
}

fn word(text: &str, start: usize, end: usize) -> Reading {
    let word = &text[start..end];
    let before = text[..start].trim_end().rsplit(' ').next().unwrap_or("");
    if word == "second" && matches!(before, "a" | "per" | "every" | "each") {
        return None;
    }
    const NUMBERS: [(&str, &str); 32] = [
        ("half an", "0.5"),
        ("two", "2"),
        ("three", "3"),
        ("four", "4"),
        ("five", "5"),
        ("six", "6"),
        ("seven", "7"),
        ("eight", "8"),
        ("nine", "9"),
        ("ten", "10"),
        ("eleven", "11"),
        ("twelve", "12"),
        ("twenty", "20"),
        ("thirty", "30"),
        ("forty", "40"),
        ("fifty", "50"),
        ("sixty", "60"),
        ("seventy", "70"),
        ("eighty", "80"),
        ("ninety", "90"),
        ("hundred", "100"),
        ("thousand", "1000"),
        ("first", "1"),
        ("second", "2"),
        ("third", "3"),
        ("fourth", "4"),
        ("fifth", "5"),
        ("sixth", "6"),
        ("seventh", "7"),
        ("eighth", "8"),
        ("ninth", "9"),
        ("tenth", "10"),
    ];
    let (_, value) = NUMBERS.iter().find(|(name, _)| *name == word)?;
    let (unit, after) = unit_at(text, end);
    Some((figure((*value).to_owned(), unit), start, after))
}

fn chinese(text: &str, start: usize, end: usize) -> Reading {
    let said = &text[start..end];
    let ordinal = said.starts_with('第');
    let numeral = said.trim_start_matches('第');
    // `十分` is `very`.
    if said == "十" && text[end..].starts_with('分') && !text[end..].starts_with("分钟") {
        return None;
    }
    let (mut unit, mut after) = unit_at(text, end);
    let classified = text[end..]
        .chars()
        .next()
        .is_some_and(|c| CLASSIFIERS.contains(c));
    if numeral.is_empty() || !ordinal && unit.is_none() && !classified {
        return None;
    }
    // `一` alone is an article, but for days and times.
    let dated = matches!(unit, Some("calendar-month" | "clock" | "day"));
    if numeral == "一" && !ordinal && !dated {
        return None;
    }
    if ordinal {
        (unit, after) = (None, end);
    }
    let value = numeral_value(numeral)?;
    if let Some((value, after)) = clock(text, start, &value, unit, after) {
        return Some((figure(value, Some(CLOCK)), start, after));
    }
    Some((figure(value, unit), start, after))
}

/// The value of a Chinese numeral.
fn numeral_value(numeral: &str) -> Option<String> {
    if numeral == "半" {
        return Some("0.5".to_owned());
    }
    let (mut total, mut part, mut digit): (u64, u64, Option<u64>) = (0, 0, None);
    let mut digits = String::new();
    let mut scaled = false;
    for c in numeral.chars() {
        match "零一二三四五六七八九".chars().position(|d| d == c) {
            Some(value) => {
                digits.push(char::from_digit(u32::try_from(value).ok()?, 10)?);
                digit = Some(value as u64);
            }
            None => match c {
                '〇' => digits.push('0'),
                '两' => {
                    digits.push('2');
                    digit = Some(2);
                }
                '十' | '百' | '千' => {
                    let scale = match c {
                        '十' => 10,
                        '百' => 100,
                        _ => 1_000,
                    };
                    part += digit.take().unwrap_or(1) * scale;
                    scaled = true;
                }
                '万' => {
                    total += (part + digit.take().unwrap_or(0)) * 10_000;
                    part = 0;
                    scaled = true;
                }
                _ => return None,
            },
        }
    }
    Some(if scaled {
        (total + part + digit.unwrap_or(0)).to_string()
    } else {
        plain(&digits)
    })
}

/// The unit that follows, and where it ends.
fn unit_at(text: &str, end: usize) -> (Option<&'static str>, usize) {
    let rest = &text[end..];
    let gap = rest.len() - rest.trim_start_matches([' ', '-']).len();
    if gap > 1 {
        return (None, end);
    }
    let rest = &rest[gap..];
    let fits = |word: &str| {
        rest.strip_prefix(word).is_some_and(|after| {
            let next = after.chars().next();
            let last = word.chars().next_back();
            // A unit in letters ends where the letters end.
            !(last.is_some_and(|c| c.is_ascii_alphanumeric()) && next.is_some_and(is_latin))
        })
    };
    match UNITS.iter().find(|(word, _)| fits(word)) {
        Some((word, name)) => (Some(name), end + gap + word.len()),
        None => (None, end),
    }
}
