//! Measuring how near a model puts texts that have nothing in common.

use crate::ranking::noise::Noise;

/// Texts of everyday life without a common subject, in both languages: what is measured on them is
/// noise.
pub const UNRELATED: [&str; 32] = [
    "The dentist moved my appointment to Thursday",
    "She plays the cello in an amateur orchestra",
    "Tomatoes need a lot of sun and little wind",
    "The invoice for the office chairs is still unpaid",
    "Our train leaves from platform nine",
    "He broke his ankle while skiing",
    "The backup script runs every night at two",
    "My grandmother grew up on an island",
    "The recipe calls for two cups of flour",
    "They painted the kitchen dark blue",
    "A black cat sleeps on the neighbour's roof",
    "The museum is closed on Mondays",
    "Please renew the passport before summer",
    "The printer is out of paper again",
    "He collects stamps from South America",
    "The contract ends in December",
    "我妹妹在学画画",
    "这家餐厅的鱼很新鲜",
    "服务器昨晚重启了两次",
    "他周末去爬山",
    "冰箱里没有牛奶了",
    "老师布置了很多作业",
    "这本小说讲的是一位医生",
    "公司明年要搬到新大楼",
    "孩子对花生过敏",
    "地铁站离我家很远",
    "他买了一辆二手自行车",
    "合同需要两个人签字",
    "外婆做的饺子最好吃",
    "窗帘是灰色的",
    "下个月要交电费",
    "我们的狗怕打雷",
];

/// What people say to an assistant in passing, in both languages: nothing to remember by.
const SMALL_TALK: &str = include_str!("data/small_talk.txt");

/// All texts by which a model is known: the unrelated ones, then small talk.
pub fn probes() -> Vec<String> {
    UNRELATED
        .into_iter()
        .chain(SMALL_TALK.lines())
        .map(str::to_owned)
        .collect()
}

/// Least deviation that is believed.
const LEAST_DEVIATION: f64 = 0.01;

/// Measures the noise of a model by its vectors of [`UNRELATED`], of any length; empty ones are left
/// out.
pub fn measure(vectors: &[Vec<f32>]) -> Noise {
    let mut cosines = Vec::new();
    for (index, one) in vectors.iter().enumerate() {
        let before = &vectors[..index];
        cosines.extend(before.iter().filter_map(|other| cosine(one, other)));
    }
    let count = cosines.len().max(1) as f64;
    let mean = cosines.iter().sum::<f64>() / count;
    let squares = cosines.iter().map(|cosine| (cosine - mean).powi(2));
    Noise {
        mean,
        deviation: (squares.sum::<f64>() / count).sqrt().max(LEAST_DEVIATION),
    }
}

fn cosine(one: &[f32], other: &[f32]) -> Option<f64> {
    let product = |one: &[f32], other: &[f32]| -> f64 {
        one.iter()
            .zip(other)
            .map(|(x, y)| f64::from(*x) * f64::from(*y))
            .sum()
    };
    let lengths = (product(one, one) * product(other, other)).sqrt();
    (lengths > 0.0).then(|| product(one, other) / lengths)
}
