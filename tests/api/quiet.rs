//! prefetch is silent and automatic: what people say every day must bring nothing to mind that has
//! nothing to do with it, however many memories there are.

use serde_json::{Value, json};

use crate::support::TestServer;

/// Two hundred messages, English and Chinese.
const EVERYDAY: &str = include_str!("data/everyday.txt");

/// Who or what, what about it, when or where: each memory is one of each.
const PEOPLE: [&str; 20] = [
    "Marta",
    "Olaf",
    "Priya",
    "The gardener",
    "My landlord",
    "Aunt Rosa",
    "Captain Hale",
    "The baker's son",
    "Doctor Lindqvist",
    "Our neighbour",
    "周师傅",
    "表姐",
    "房东",
    "老校长",
    "李医生",
    "隔壁的画家",
    "船长",
    "小提琴老师",
    "邻居家的孩子",
    "外公",
];
const ENGLISH: [&str; 25] = [
    "grows orchids in a heated greenhouse",
    "owes me forty euros for the ferry",
    "is allergic to walnuts and shellfish",
    "restores antique barometers",
    "bought a second-hand kayak",
    "keeps bees behind the chapel",
    "sings alto in the cathedral choir",
    "lost a passport in Lisbon",
    "collects porcelain from Delft",
    "walks two greyhounds before breakfast",
    "plays the oboe in a wind quintet",
    "painted the shutters turquoise",
    "was born on the island of Gotland",
    "studies medieval tapestries",
    "repairs clocks and musical boxes",
    "sails to Corsica every spring",
    "has a metal plate in the left knee",
    "rents a cottage near the lighthouse",
    "bakes rye bread with caraway",
    "breeds alpine goats",
    "translates Hungarian poetry",
    "swims in the lake until November",
    "inherited a vineyard in Burgundy",
    "drives a vintage tractor",
    "photographs migrating cranes",
];
const CHINESE: [&str; 25] = [
    "在阳台上种了三盆兰花",
    "对核桃和虾过敏",
    "收藏景德镇的瓷器",
    "每年春天去云南采茶",
    "在合唱团唱女低音",
    "修理老式座钟",
    "租了灯塔旁边的小屋",
    "养了两只灰猎犬",
    "欠我四十块船票钱",
    "出生在舟山群岛",
    "会做桂花糯米藕",
    "买了一艘二手皮划艇",
    "左膝里有一块钢板",
    "把百叶窗漆成了蓝绿色",
    "在湖里游泳到十一月",
    "翻译匈牙利诗歌",
    "继承了一座葡萄园",
    "拍摄迁徙的丹顶鹤",
    "研究敦煌壁画",
    "在教堂后面养蜜蜂",
    "用黑麦烤面包",
    "吹双簧管",
    "丢过一本护照",
    "开一辆老拖拉机",
    "织毛衣卖到北欧",
];
const WHEN: [&str; 10] = [
    "since 1998",
    "since the flood",
    "on doctor's orders",
    "against all advice",
    "for charity",
    "自从退休以后",
    "为了参加比赛",
    "瞒着家里人",
    "已经二十年",
    "是听邮差说的",
];

/// The first of five thousand memories of people's lives, in both languages.
fn memories(count: usize) -> Vec<String> {
    let mut all = Vec::with_capacity(count);
    for when in WHEN {
        for (english, chinese) in ENGLISH.iter().zip(CHINESE) {
            for (number, who) in PEOPLE.iter().enumerate() {
                let (what, comma) = if number < 10 {
                    (*english, " ")
                } else {
                    (chinese, "，")
                };
                all.push(format!(
                    "{who}{}{what}{comma}{when}",
                    if number < 10 { " " } else { "" }
                ));
            }
        }
    }
    // Neighbours in the list are alike: a small store should have some of all.
    let step = (all.len() / count).max(1);
    all.into_iter().step_by(step).take(count).collect()
}

fn store(server: &TestServer, count: usize) {
    for chunk in memories(count).chunks(1_000) {
        let items: Vec<Value> = chunk
            .iter()
            .map(|content| json!({"content": content, "is_primary": true}))
            .collect();
        assert_eq!(server.post("/v1/memories/batch", json!(items)).status, 200);
    }
}

#[test]
fn everyday_messages_bring_nothing_to_mind_whatever_the_store_holds() {
    let messages: Vec<&str> = EVERYDAY.lines().collect();
    assert_eq!(messages.len(), 200);
    for count in [3, 200, 5_000] {
        let server = TestServer::start();
        store(&server, count);
        let injected: Vec<(&str, Value)> = messages
            .iter()
            .filter_map(|message| {
                let answer = server.prefetch(json!({"query": message}));
                let recalled = !answer["context"].as_str().unwrap().is_empty();
                recalled.then(|| (*message, answer["results"][0]["content"].clone()))
            })
            .collect();
        assert!(
            injected.len() <= messages.len() / 50,
            "{} of {} messages recall something among {count} memories: {injected:#?}",
            injected.len(),
            messages.len()
        );
    }
}

#[test]
fn a_question_about_the_store_still_brings_its_answer_to_mind() {
    let server = TestServer::start();
    store(&server, 200);
    server.add_all(&[
        "Priya is allergic to walnuts and shellfish",
        "隔壁的老周会修座钟",
    ]);
    for (query, expected) in [
        ("Which of my friends has a nut allergy?", "walnuts"),
        ("谁会修理钟表？", "座钟"),
    ] {
        let context = server.prefetch(json!({"query": query}))["context"].clone();
        assert!(
            context.as_str().unwrap().contains(expected),
            "{query}: {context}"
        );
    }
}
