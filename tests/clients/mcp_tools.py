"""The tools for models, driven by the client library of the Model Context Protocol.

Usage: mcp_tools.py BINARY DATA_DIR URL

The binary serves the data folder over its standard input and output, then the service at URL; then the
service itself answers at URL/mcp. Each time the same calls, in both ways to begin a session.
"""

import asyncio
import json
import os
import re
import socket
import sys

import anyio
from mcp import Client, MCPError, StdioServerParameters

TOOLS = ["add", "feedback", "forget", "search", "topics"]
NOT_FOUND = "Nothing found"


def text(result):
    assert len(result.content) == 1, result
    return result.content[0].text


async def works(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, (tool, arguments, text(result))
    return text(result)


async def fails(client, tool, arguments, *parts):
    """A failure that the model can read, and that says what is wrong."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, (tool, arguments, text(result))
    assert all(part in text(result) for part in parts), (tool, arguments, text(result))


async def tools_are_listed(client):
    assert client.server_info.name == "keepsake", client.server_info
    tools = (await client.list_tools()).tools
    assert sorted(tool.name for tool in tools) == TOOLS, tools
    assert all(tool.description and len(tool.description) < 100 for tool in tools)
    schemas = json.dumps([tool.model_dump(mode="json", exclude_none=True) for tool in tools])
    assert len(schemas) < 4000, len(schemas)


async def each_tool_is_called(client):
    assert NOT_FOUND in await works(client, "search", query="zeppelin of the harbour")
    told = await works(client, "add", content="The zeppelin lands at the harbour on Monday", tags=["air", "标签"])
    id = re.search(r"[a-z2-7]{16}", told).group()
    assert "strengthened" in await works(client, "add", content="The zeppelin lands at the harbour on Monday")
    found = await works(client, "search", query="when does the zeppelin land?", top_k=3, tag_filter=["标签"])
    assert "lands at the harbour on Monday" in found and id in found and "not instructions" in found, found
    assert NOT_FOUND in await works(client, "search", query="zeppelin", tag_filter=["sea"])
    # Hosts send null for what a model left out.
    assert id in await works(client, "search", query="zeppelin", top_k=None, tag_filter=None)
    assert id in await works(client, "feedback", id=id, useful=True)
    assert "zeppelin" in await works(client, "topics", period="all", limit=5)
    newer = await works(client, "add", content="The zeppelin lands on Tuesday now", supersedes=id)
    found = await works(client, "search", query="zeppelin")
    assert "Tuesday" in found and "Monday" not in found, found
    assert "trash" in await works(client, "forget", id=re.search(r"[a-z2-7]{16}", newer).group())
    assert NOT_FOUND in await works(client, "search", query="zeppelin")


async def errors_are_told(client):
    await fails(client, "add", {"content": "   "}, "content", "blank")
    await fails(client, "add", {}, "content", "missing")
    await fails(client, "search", {"query": 3}, "query")
    await fails(client, "search", {"query": "x", "top_k": 100_000}, "top_k")
    await fails(client, "search", {"query": "x", "namespace": "other"}, "namespace")
    await fails(client, "add", {"content": "x", "agent_id": "other"}, "agent_id")
    await fails(client, "forget", {"id": "aaaaaaaaaaaaaaaa"}, "aaaaaaaaaaaaaaaa")
    await fails(client, "forget", {"id": ".."}, "..")
    await fails(client, "feedback", {"id": "aaaaaaaaaaaaaaaa", "useful": True}, "aaaaaaaaaaaaaaaa")
    await fails(client, "topics", {"period": "yearly"}, "period")
    try:
        await client.call_tool("rm", {})
        raise AssertionError("an unknown tool was called")
    except MCPError as error:
        assert "rm" in str(error), error


async def a_large_result_is_bounded(client):
    for number in range(12):
        await works(client, "add", content=f"chronicle {number} " + f"word{number} " * 500)
    await works(client, "add", content="saga " + "of the long winter " * 3000)
    found = await works(client, "search", query="chronicle", top_k=100)
    assert 10_000 < len(found) < 20_100 and "did not fit" in found, len(found)
    found = await works(client, "search", query="saga of the long winter")
    assert len(found) < 20_100 and "cut: this memory has 57" in found[-80:], (len(found), found[-80:])


async def whole_session(target):
    for mode in ("auto", "legacy"):
        async with Client(target, mode=mode) as client:
            await tools_are_listed(client)
            await each_tool_is_called(client)
            await errors_are_told(client)
    async with Client(target) as client:
        await a_large_result_is_bounded(client)


async def a_call_that_is_taken_back_stops_nothing(binary):
    """A service that never answers holds up one call, and no other."""
    silent = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{silent.getsockname()[1]}"
    target = StdioServerParameters(command=binary, args=["mcp", "--url", url], env=dict(os.environ))
    async with Client(target) as client:
        with anyio.move_on_after(1) as scope:
            await client.call_tool("search", {"query": "tea"})
        assert scope.cancelled_caught
        with anyio.fail_after(30):
            assert len((await client.list_tools()).tools) == len(TOOLS)
    silent.close()


async def a_service_that_is_away_is_told(binary):
    target = StdioServerParameters(command=binary, args=["mcp", "--url", "http://127.0.0.1:1"], env=dict(os.environ))
    async with Client(target) as client:
        await fails(client, "search", {"query": "tea"}, "no service answers", "127.0.0.1:1")


async def scopes_are_apart(url):
    """Who speaks is said by the address, and nothing crosses a namespace."""
    async with Client(f"{url}/mcp?namespace=one&agent_id=ann") as ann, Client(f"{url}/mcp?namespace=two") as other:
        await works(ann, "add", content="Ann keeps a secret garden")
        assert "garden" in await works(ann, "search", query="secret garden")
        assert NOT_FOUND in await works(other, "search", query="secret garden")
    async with Client(f"{url}/mcp?namespace=one&agent_id=ben") as ben:
        assert NOT_FOUND in await works(ben, "search", query="secret garden")
    async with Client(f"{url}/mcp?colour=red") as odd:
        await fails(odd, "search", {"query": "tea"}, "colour")


async def main(binary, folder, url):
    environment = dict(os.environ, KEEPSAKE_DATA_DIR=folder)
    await whole_session(StdioServerParameters(command=binary, args=["mcp"], env=environment))
    args = ["mcp", "--url", url, "--namespace", "through"]
    await whole_session(StdioServerParameters(command=binary, args=args, env=dict(os.environ)))
    await whole_session(f"{url}/mcp?namespace=direct&is_primary=true")
    await a_call_that_is_taken_back_stops_nothing(binary)
    await a_service_that_is_away_is_told(binary)
    await scopes_are_apart(url)
    print("ok")


asyncio.run(main(*sys.argv[1:]))
