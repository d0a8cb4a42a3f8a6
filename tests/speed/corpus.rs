//! Texts and questions like those of a long life with an assistant, in English and Chinese.

/// Common words first; how often a word comes follows from its place (Zipf's law).
const ENGLISH: &str = "project meeting budget report team customer deadline review launch server \
    database issue release plan design contract invoice email call week morning family house car \
    doctor school garden music coffee dinner travel ticket hotel flight weather phone computer \
    password wifi bank insurance tax salary office window kitchen weekend birthday present friend \
    mother father sister brother daughter son dog cat bicycle train station bridge river mountain \
    holiday summer winter spring autumn book film song concert museum painting camera photo video \
    football tennis running swimming yoga recipe bread cheese apple tea juice breakfast lunch \
    market shop price discount order delivery package letter address street city country passport \
    visa language lesson teacher student exam degree course paper research model data cluster \
    deploy backup restore pipeline container network latency memory storage kernel driver \
    firmware sensor battery engine motor pump valve pressure temperature schedule calendar reminder \
    policy security certificate token account subscription refund warranty repair cleaning paint \
    wood metal glass plastic cotton leather blue green red yellow black white large small early \
    late quick slow cheap expensive important urgent broken new old favourite allergic vegetarian";

const CHINESE: &str = "项目 会议 预算 报告 团队 客户 进度 评审 上线 服务器 数据库 问题 版本 计划 设计 合同 发票 邮件 \
    电话 早上 家人 房子 汽车 医生 学校 花园 音乐 咖啡 晚饭 旅行 车票 酒店 航班 天气 手机 电脑 密码 银行 保险 工资 办公室 \
    厨房 周末 生日 礼物 朋友 妈妈 爸爸 妹妹 弟弟 女儿 儿子 自行车 火车 车站 大桥 河流 山顶 假期 夏天 冬天 春天 秋天 电影 \
    歌曲 音乐会 博物馆 相机 照片 视频 足球 网球 跑步 游泳 菜谱 面包 苹果 茶叶 果汁 早餐 午饭 市场 商店 价格 折扣 订单 快递 \
    包裹 地址 街道 城市 护照 签证 语言 课程 老师 学生 考试 论文 研究 模型 数据 部署 备份 网络 内存 存储 电池 温度 日历 提醒 \
    安全 证书 账号 订阅 退款 维修 清洁 重要 紧急 喜欢 过敏 素食 北京 上海 广州 深圳 杭州 成都";

const STOP_WORDS: [&str; 16] = [
    "the", "a", "of", "to", "and", "in", "is", "it", "that", "for", "on", "with", "was", "at",
    "we", "I",
];
const SYLLABLES: [&str; 24] = [
    "ba", "cor", "del", "fin", "gra", "hol", "jun", "kel", "lo", "mar", "nev", "or", "pal", "quin",
    "ros", "sta", "tem", "ul", "ver", "wes", "yar", "zen", "bri", "cla",
];
const NAMES: [&str; 12] = [
    "Alice Morgan",
    "Bob",
    "Chen Wei",
    "Diana Prince",
    "Erik",
    "Fatima",
    "Grace Hopper",
    "Hiro",
    "Ivan",
    "Julia Child",
    "Kofi",
    "Lena",
];
/// Different rare words of each language.
const RARE: usize = 30_000;
/// So many of a hundred texts are Chinese.
const CHINESE_SHARE: usize = 35;

/// Makes texts from a seed.
pub(crate) struct Corpus {
    dice: fastrand::Rng,
    english: Vec<&'static str>,
    chinese: Vec<&'static str>,
}

impl Corpus {
    pub(crate) fn new(seed: u64) -> Corpus {
        Corpus {
            dice: fastrand::Rng::with_seed(seed),
            english: ENGLISH.split_whitespace().collect(),
            chinese: CHINESE.split_whitespace().collect(),
        }
    }

    /// A place in a list of so many: the first ones by far the most often.
    fn zipf(&mut self, most: usize) -> usize {
        let most = most as f64;
        (most.powf(self.dice.f64()) - 1.0) as usize
    }

    fn rare_english(&mut self) -> String {
        let mut number = self.dice.usize(..RARE);
        let mut word = String::new();
        for _ in 0..3 {
            word.push_str(SYLLABLES[number % SYLLABLES.len()]);
            number /= SYLLABLES.len();
        }
        word + SYLLABLES[number % SYLLABLES.len()]
    }

    fn rare_chinese(&mut self) -> String {
        let number = self.dice.u32(..RARE as u32);
        let character =
            |number: u32| char::from_u32(0x4e00 + number * 37 % 8000).expect("a Han character");
        [character(number), character(number / 8 + 13)]
            .iter()
            .collect()
    }

    fn english_word(&mut self) -> String {
        match self.dice.u8(..100) {
            0..=39 => STOP_WORDS[self.dice.usize(..STOP_WORDS.len())].to_owned(),
            40..=84 => {
                let place = self.zipf(self.english.len());
                self.english[place].to_owned()
            }
            85..=94 => self.rare_english(),
            95..=97 => NAMES[self.dice.usize(..NAMES.len())].to_owned(),
            _ => self.dice.u16(..2000).to_string(),
        }
    }

    fn chinese_word(&mut self) -> String {
        match self.dice.u8(..100) {
            0..=29 => ["的", "了", "我们", "是", "在", "和", "一个", "也"][self.dice.usize(..8)]
                .to_owned(),
            30..=87 => {
                let place = self.zipf(self.chinese.len());
                self.chinese[place].to_owned()
            }
            _ => self.rare_chinese(),
        }
    }

    /// A memory of 80 to 320 characters (30 to 120 in Chinese).
    pub(crate) fn text(&mut self) -> String {
        if self.dice.usize(..100) < CHINESE_SHARE {
            let words = self.dice.usize(15..60);
            (0..words).map(|_| self.chinese_word()).collect()
        } else {
            let words = self.dice.usize(15..60);
            let words: Vec<String> = (0..words).map(|_| self.english_word()).collect();
            words.join(" ")
        }
    }

    /// A text of one language of about so many characters.
    pub(crate) fn text_of(&mut self, chinese: bool, characters: usize) -> String {
        let mut text = String::new();
        while text.chars().count() < characters {
            if chinese {
                text += &self.chinese_word();
            } else {
                text = text + &self.english_word() + " ";
            }
        }
        text.chars().take(characters).collect()
    }

    /// A question as people ask it: stop words and words that many memories hold.
    pub(crate) fn everyday_question(&mut self) -> String {
        if self.dice.usize(..100) < CHINESE_SHARE {
            let words: Vec<&str> = (0..3)
                .map(|_| {
                    let place = self.zipf(self.chinese.len());
                    self.chinese[place]
                })
                .collect();
            return format!(
                "我们上次说的{}和{}的{}怎么样了?",
                words[0], words[1], words[2]
            );
        }
        let words: Vec<&str> = (0..3)
            .map(|_| {
                let place = self.zipf(self.english.len());
                self.english[place]
            })
            .collect();
        let name = NAMES[self.dice.usize(..NAMES.len())];
        format!(
            "What did we say about the {} and the {} of the {} with {name}?",
            words[0], words[1], words[2]
        )
    }

    /// A question with words that few memories hold.
    pub(crate) fn rare_question(&mut self) -> String {
        let (english, chinese) = (self.rare_english(), self.rare_chinese());
        format!("{english} {chinese} {}", self.rare_english())
    }
}
