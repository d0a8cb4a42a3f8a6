"""Writes vectors.ndjson: what Python's model2vec makes of a list of texts, to compare ours with.

    pip install model2vec==0.10.0
    python make.py ../en-zh-static-256 vectors.ndjson
"""

import json
import sys

from model2vec import StaticModel

TEXTS = [
    # English
    "Ann prefers green tea, never coffee",
    "what does Ann drink?",
    "deploy the application",
    "The wifi code is 1234",
    "User's birthday is on 2026-05-02",
    "C++ and Rust, node.js v1.2.3",
    "A",
    "the",
    "state-of-the-art",
    "Ünïcödé CAFÉ naïve",
    "ＦＵＬＬ ｗｉｄｔｈ １２３",
    "tabs\tand\nnew lines",
    "https://example.com/a?b=1&c=2",
    # Chinese
    "王小明的生日是5月2号，他喜欢打乒乓球",
    "猫",
    "我们上次部署用的什么数据库？",
    "設備清單和臺灣的數據庫",
    "今天天气真好！",
    "小明不喜欢猫",
    "一二三四五六七八九十",
    # mixed
    "部署流程：先运行 make build，然后 kubectl apply",
    "调试 JWT token 过期",
    "重跑gen-itgc后再看结果",
    "用 Python 写的服务，端口 8080",
    "Ann 喜欢 green tea 和 乒乓球",
    "👍 great job",
    "心情😀不错",
    # nothing that the model knows
    "🎉",
    "👨‍👩‍👧",
    "",
    "   ",
    "...",
    "？！",
    "안녕하세요 서버",
    "Привет мир",
    "مرحبا",
    "\u0000\u0001",
    # other scripts, no words, long
    "こんにちは",
    "zxqjvkw qqqqzzz",
    "word " * 300,
    "memory retrieval ranks entries by evidence. " * 40,
    "这是一段很长的文字，用来测试长度。" * 30,
    "a" * 1000,
]

model = StaticModel.from_pretrained(sys.argv[1])
with open(sys.argv[2], "w", encoding="utf-8") as file:
    for text, vector in zip(TEXTS, model.encode(TEXTS)):
        rounded = [round(float(value), 5) for value in vector]
        line = {"text": text, "vector": rounded if any(rounded) else []}
        file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
