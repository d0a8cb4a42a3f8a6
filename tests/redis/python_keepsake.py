"""Uses the Python Keepsake on a Redis, for the tests of this folder.

    python_keepsake.py SOCKET write      stores what the tests expect, in the shapes of several versions
    python_keepsake.py SOCKET search Q   prints the contents that it finds, one JSON string a line
    python_keepsake.py SOCKET dump       prints every key of a memory with its fields, as JSON
"""

import json
import sys
import types


def stub_host() -> None:
    """The package imports two modules of its host when it is loaded."""
    for name, members in {
        "agent": (),
        "agent.memory_provider": ("MemoryProvider",),
        "tools": (),
        "tools.registry": ("tool_error",),
    }.items():
        module = types.ModuleType(name)
        for member in members:
            setattr(module, member, type(member, (), {}))
        sys.modules[name] = module


def write(storage, client) -> None:
    storage.ensure_index()
    storage.store("User prefers TypeScript and Vite for frontend projects", tags="user")
    storage.store("数据库密码轮换流程在每月一号执行", tags="ops,shared", category="fact")
    # A version of before 1.1: a key with a time, superseded by the same text.
    client.hset(
        "memory:frag:0123456789ab:1700000000",
        mapping={
            "content": "The wifi code of the office is 1234",
            "tags": "office",
            "created": "2023-11-14T22:13:20",
            "valid_until": "2024-01-01T00:00:00",
            "sentiment_score": "-0.3",
        },
    )
    client.hset(
        "memory:frag:0123456789ab:1704067200",
        mapping={
            "content": "The wifi code of the office is 1234",
            "tags": "office",
            "created": "2024-01-01T00:00:00",
            "sentiment_score": "0.2",
            "feedback_score": "2",
        },
    )
    # A vector of the wrong size, a field missing, bytes that are no text, no content at all.
    client.hset("memory:frag:vector", mapping={"content": "An otter is embedded wrongly", "embed_bin": b"\x00\x01\x02"})
    client.hset("memory:frag:bare", mapping={"content": "A bare walrus without any other field"})
    client.hset("memory:frag:broken", mapping={"content": b"a broken seal \xff\xfe"})
    client.hset("memory:frag:empty", mapping={"tags": "nothing"})
    client.set("memory:frag:nohash", "not a hash")


def main() -> None:
    stub_host()
    import redis
    from keepsake.storage import RedisStorage

    socket, verb = sys.argv[1], sys.argv[2]
    client = redis.Redis(unix_socket_path=socket, protocol=2)
    storage = RedisStorage(agent_id="main-brain")
    storage._get_client = lambda: client
    if verb == "write":
        write(storage, client)
    elif verb == "search":
        for found in storage.search_bm25(sys.argv[3], is_primary=True):
            print(json.dumps(found["content"], ensure_ascii=False))
    elif verb == "dump":
        raw = redis.Redis(unix_socket_path=socket, protocol=2)
        fields = {}
        for key in raw.scan_iter("memory:frag:*"):
            name = key.decode()
            if raw.type(key) == b"hash":
                fields[name] = {field.decode(): value.hex() for field, value in raw.hgetall(key).items()}
            else:
                fields[name] = raw.get(key).hex()
        print(json.dumps(fields))


main()
