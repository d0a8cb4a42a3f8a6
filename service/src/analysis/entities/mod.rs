//! The names in a text: what two memories have to share to be about the same thing.
//!
//! Sources are the gazetteer, capitalised English names and acronyms, technical identifiers, and
//! Chinese names by their tag or their suffix. Numbers, dates and prices are no names. Nothing
//! here knows what entities are used for, and nothing looks inside a token.

mod chinese;
mod english;
mod gazetteer;
mod technical;

pub use gazetteer::Gazetteer;

use chinese::Chinese;
use english::English;

use super::token::{Token, TokenKind};

/// A text yields at most so many entities. Only ten take part in co-occurrence, and a pasted log
/// or address list would otherwise put hundreds of names into the index that nobody links on.
const MAX_ENTITIES: usize = 32;

/// The entities of a text in the order of their first appearance, unique without case. A name is
/// spelled as in the text, one of the gazetteer as there (`python` gives `Python`).
pub fn extract(normalised: &str, tokens: &[Token], gazetteer: &Gazetteer) -> Vec<String> {
    let text = Text { normalised, tokens };
    let readers = Readers {
        english: English::read(text),
        chinese: Chinese::read(text),
        gazetteer,
    };
    let mut names = Names::default();
    let mut at = 0;
    while at < tokens.len() && names.found.len() < MAX_ENTITIES {
        at += match readers.find(text, at) {
            Some(found) => {
                names.add_all(text, gazetteer, at, &found);
                found.tokens
            }
            None => 1,
        };
    }
    names.found
}

/// A text with its tokens.
#[derive(Clone, Copy)]
struct Text<'a> {
    normalised: &'a str,
    tokens: &'a [Token],
}

impl<'a> Text<'a> {
    /// Tokens `at..at + len` as they are written.
    fn surface(self, at: usize, len: usize) -> &'a str {
        let (first, last) = (&self.tokens[at], &self.tokens[at + len - 1]);
        self.normalised.get(first.start..last.end).unwrap_or("")
    }

    /// What stands before token `at`.
    fn gap(self, at: usize) -> &'a str {
        super::phrases::gap(self.normalised, self.tokens, at)
    }

    /// Whether the token before or after is written in Chinese: there, Latin letters are names.
    fn is_beside_han(self, at: usize) -> bool {
        let is_han = |index: Option<usize>| {
            let token = index.and_then(|index| self.tokens.get(index));
            token.is_some_and(|token| matches!(token.kind, TokenKind::Han | TokenKind::Cjk))
        };
        is_han(at.checked_sub(1)) || is_han(Some(at + 1))
    }
}

/// A name that begins at some token.
struct Found<'a> {
    /// How many tokens it takes.
    tokens: usize,
    name: &'a str,
    /// Whether the gazetteer's name in front of the suffix counts as well: who writes `腾讯公司`
    /// (Tencent Inc.) speaks of `腾讯`, but who writes `上海银行` does not mean the city.
    with_suffix: bool,
}

impl<'a> Found<'a> {
    fn new(tokens: usize, name: &'a str) -> Self {
        Self {
            tokens,
            name,
            with_suffix: false,
        }
    }
}

/// The sources of names, as far as they look at the whole text first.
struct Readers<'a> {
    english: English<'a>,
    chinese: Chinese<'a>,
    gazetteer: &'a Gazetteer,
}

impl<'a> Readers<'a> {
    /// The name that begins with token `at`: the longest; of two equally long ones the gazetteer's.
    fn find(&self, text: Text<'a>, at: usize) -> Option<Found<'a>> {
        let known = self.known(text, at);
        let other = self.unknown(text, at);
        match (known, other) {
            (Some(known), Some(other)) if other.tokens > known.tokens => {
                let single_names = text.tokens[at].kind != TokenKind::Han
                    && self.is_made_of_known(text, at, other.tokens);
                Some(if single_names { known } else { other })
            }
            (known, other) => known.or(other),
        }
    }

    fn unknown(&self, text: Text<'a>, at: usize) -> Option<Found<'a>> {
        match text.tokens[at].kind {
            TokenKind::Han => self.chinese.name_at(at),
            TokenKind::Word => self.english.name_at(at),
            TokenKind::Technical => self.english.name_at(at).or_else(|| {
                technical::name(text.surface(at, 1), text.is_beside_han(at))
                    .map(|name| Found::new(1, name))
            }),
            _ => None,
        }
    }

    /// The gazetteer's name that begins with token `at`.
    fn known(&self, text: Text<'a>, at: usize) -> Option<Found<'a>> {
        let (len, name) = self
            .gazetteer
            .longest_at(text.normalised, text.tokens, at)?;
        let accepted = !name.capitals_count
            || text.surface(at, len) == name.canonical && self.english.is_unmistakable(at, len);
        accepted.then_some(Found::new(len, &name.canonical))
    }

    /// Whether a run of capitalised words is but one known name after the other ("Python Django").
    fn is_made_of_known(&self, text: Text<'a>, mut at: usize, len: usize) -> bool {
        let end = at + len;
        while at < end {
            match self.known(text, at) {
                Some(found) => at += found.tokens,
                None => return false,
            }
        }
        at == end
    }
}

/// The names found so far, with their folded form to tell whether one is new.
#[derive(Default)]
struct Names {
    found: Vec<String>,
    folded: Vec<String>,
}

impl Names {
    fn add_all(&mut self, text: Text<'_>, gazetteer: &Gazetteer, at: usize, found: &Found<'_>) {
        if found.with_suffix {
            let inner = gazetteer.longest_at(text.normalised, text.tokens, at);
            if let Some((len, name)) = inner
                && len + 1 == found.tokens
            {
                self.add(&name.canonical);
            }
        }
        self.add(found.name);
    }

    fn add(&mut self, name: &str) {
        let folded = name.to_lowercase();
        if self.found.len() < MAX_ENTITIES && !self.folded.contains(&folded) {
            self.found.push(name.to_owned());
            self.folded.push(folded);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::test_tokens::cut;
    use super::*;

    fn check(marked: &str, expected: &[&str]) {
        let (text, tokens) = cut(marked);
        let found = extract(&text, &tokens, Gazetteer::builtin());
        assert_eq!(found, expected, "{marked}");
    }

    #[test]
    fn gazetteer_names() {
        check("We use Python and Django version 0", &["Python", "Django"]);
        check("we use python and django", &["Python", "Django"]);
        check("The JavaScript engine", &["JavaScript"]);
        check("MySQL is small", &["MySQL"]);
        check(
            "we run visual studio code on Windows",
            &["Visual Studio Code", "Windows"],
        );
        check("I moved to New York City in May", &["New York City"]);
        check("kubernetes, Kubernetes and KUBERNETES", &["Kubernetes"]);
        check("C++ or node.js or .NET", &["C++", "Node.js", ".NET"]);
        check("Use Python Django", &["Python", "Django"]);
        check(
            "我/r 买/v 了/ul 比特币/n 和/c 以太坊/x",
            &["比特币", "以太坊"],
        );
        check("用/p Python 写/v 脚本/n", &["Python"]);
    }

    #[test]
    fn ambiguous_words_count_only_as_names() {
        check("I go near the link and the rust", &[]);
        check("Go home and rust in peace", &[]);
        check("Near Paris", &["Paris"]);
        check("I write Go and Rust", &["Go", "Rust"]);
        check("Rust 1.80 is out", &["Rust"]);
        check("Rust is fast, and I like Rust", &["Rust"]);
        check("an apple a day", &[]);
        check("We met at Apple in June", &["Apple"]);
        check("The SOL price is solid", &["SOL"]);
        check("SOL rises", &["SOL"]);
        check("用/p Go 写/v 服务/n", &["Go"]);
    }

    #[test]
    fn capitalised_names() {
        check("Caroline: Hey Mel! Good to see you!", &["Caroline", "Mel"]);
        check(
            "I met Zorblatt Quux and Melanie's brother Kwame",
            &["Zorblatt Quux", "Melanie", "Kwame"],
        );
        check("Marigolds bloom. Sunlight helps.", &[]);
        check("Zorblatt left. I miss Zorblatt.", &["Zorblatt"]);
        check("Zorblatt Quux left.", &["Zorblatt Quux"]);
        check("Ask Zorblatt about it", &["Zorblatt"]);
        check("On Monday I saw The Doctor in July", &["Doctor"]);
        check(
            "Dr. Zorblatt of the University of Glarus",
            &["Dr. Zorblatt", "University of Glarus"],
        );
        check("Zorblatt 来/v 了/ul", &["Zorblatt"]);
        check("Names: Kwame, Zorblatt", &["Kwame", "Zorblatt"]);
        check("Kwame: Sure, I come", &["Kwame"]);
        check("User prefers tea with breakfast", &[]);
        check("What is the plan? Thanks! I'm Fine.", &[]);
        check("We love the myProject repository", &["myProject"]);
    }

    #[test]
    fn acronyms() {
        check("The JPL and the ESA met", &["JPL", "ESA"]);
        check("We have two KPIs", &["KPI"]);
        check("THIS IS SO BAD AND I HATE THE KPX", &[]);
        check("Please STOP doing this ASAP", &[]);
        check("I am SO tired, OMG", &[]);
        check("Please STOP Zorblatt", &["Zorblatt"]);
        check("见/v 了/ul KPI 报告/n", &["KPI"]);
    }

    #[test]
    fn technical_identifiers() {
        check(
            "see foo_bar in state.db and mail a.b@c.com",
            &["foo_bar", "state.db", "a.b@c.com"],
        );
        check(
            "bought $AAPL at $150 on 2024-05-01 at 10:30 for 50%",
            &["$AAPL"],
        );
        check("read https://www.example.com/a?b=c#d", &["example.com"]);
        check("重跑/v gen-itgc 后/f", &["gen-itgc"]);
        check("a well-known state-of-the-art re-check", &[]);
        check(
            "copy /opt/web/dist to C:\\Users\\bob",
            &["/opt/web/dist", "C:\\Users\\bob"],
        );
    }

    #[test]
    fn chinese_names() {
        check("张三/nr 在/p 杭州/ns 工作/v", &["张三", "杭州"]);
        check("我/r 在/p 腾讯/nz 公司/n 上班/v", &["腾讯", "腾讯公司"]);
        check("他/r 是/v 一家/m 科技/n 公司/n 的/uj 老板/n", &[]);
        check("去/v 华山/ns 医院/n 看病/v", &["华山医院"]);
        check("我/r 的/uj 大学/n", &[]);
        check("北京大学/nt 的/uj 学生/n", &["北京大学"]);
        check("我/r 明白/nr 了/ul ， 谢谢/nr", &[]);
        check("她/r 在/p 微/a 光/n 科技/n 实习/v", &["微光科技"]);
        check("OpenAI 公司/n", &["OpenAI"]);
    }

    #[test]
    fn bounded_and_total() {
        let many: String = (0..100).map(|i| format!("a_{i} ")).collect();
        let (text, tokens) = cut(&many);
        let found = extract(&text, &tokens, Gazetteer::builtin());
        assert_eq!(found.len(), MAX_ENTITIES);
        check("", &[]);
    }

    proptest! {
        #[test]
        fn any_text_gives_few_unique_names(words in prop::collection::vec(
            "(Zorblatt|NASA|Go|of|Dr.|公司/n|腾讯/nz|张三/nr|v1.2|[A-Za-z$#@/._:-]{1,9}|\\PC{0,5})", 0..60,
        )) {
            let (text, tokens) = cut(&words.join(" "));
            let found = extract(&text, &tokens, Gazetteer::builtin());
            prop_assert!(found.len() <= MAX_ENTITIES);
            let folded: Vec<String> = found.iter().map(|name| name.to_lowercase()).collect();
            for (at, name) in folded.iter().enumerate() {
                prop_assert!(!name.is_empty() && !folded[..at].contains(name));
            }
        }
    }
}
