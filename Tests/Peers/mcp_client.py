"""Uses `roost mcp` by the client of the package mcp, as an assistant program would. The store has 30 notes of BOB, whom
alice follows, and an event of kind 4. Says `kill` and `start` where it wants roostd killed and started, and waits for a
line each; says `done` at the end."""
import asyncio, json, os, pathlib, sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients" / "python"))
from roost import Roost

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

BOB = os.environ["BOB"]
bus = Roost(program=os.environ["ROOST_PROGRAM"])  # to look at the other side
READING = {"search_events", "count_events", "watch_events", "event_relays", "get_profiles", "find_people",
           "resolve_name", "read_feed", "read_inbox", "get_list", "list_relays", "list_publications", "get_status"}

def session(*grants):
    arguments = ["mcp", "--socket", os.environ["ROOST_SOCKET"]] + [word for one in grants for word in ("--allow", one)]
    return StdioServerParameters(command=os.environ["ROOST_PROGRAM"], args=arguments)

async def ask(word):
    print(word, flush=True)
    assert (await asyncio.to_thread(sys.stdin.readline)).strip() == word

async def call(mcp, name, **arguments):
    """The answer of a tool; a refusal has `code`."""
    result = await mcp.call_tool(name, arguments)
    answer = json.loads(result.content[0].text)
    assert bool(result.is_error) == ("code" in answer and "message" in answer), answer
    return answer

async def refused(mcp, name):
    try:
        await mcp.call_tool(name, {})
    except Exception as error:
        return str(error)
    raise AssertionError(f"{name} was not refused")

async def reading(mcp):
    tools = {tool.name: tool for tool in (await mcp.list_tools()).tools}
    assert set(tools) == READING, set(tools) ^ READING
    assert all(tool.annotations.read_only_hint for tool in tools.values())
    assert tools["search_events"].input_schema["required"] == ["filters"], tools["search_events"].input_schema
    assert (await call(mcp, "count_events", filters=[{"authors": [BOB], "kinds": [1]}]))["count"] == 30
    seen, cursor = [], {}
    while True:
        page = await call(mcp, "search_events", filters=[{"authors": [BOB]}], limit=7, **cursor)
        seen += [event["content"] for event in page["items"]]
        if "next" not in page: break
        cursor = {"cursor": page["next"]}
    # Profile and notes, each once; not what is private.
    assert len(seen) == 31 and len(set(seen)) == 31 and "secret" not in seen, seen
    feed = await call(mcp, "read_feed", account="alice", policy="cache-only", limit=10)
    assert [item["event"]["pubkey"] for item in feed["items"] if "event" in item] == [BOB] * 10, feed
    profiles = await call(mcp, "get_profiles", keys=[BOB], policy="cache-only")
    assert "Bob of the test" in json.dumps(profiles), profiles
    assert [BOB] == [tag[1] for tag in (await call(mcp, "get_list", kind=3, account="alice"))["tags"]]
    assert (await call(mcp, "get_status"))["store"]["events"] > 30
    assert (await call(mcp, "list_relays"))["relays"]
    for name, arguments, code in [
        ("search_events", {"filters": [{"kinds": [4]}]}, "denied"),
        ("watch_events", {"filters": [{"kinds": [1059]}]}, "denied"),
        ("search_events", {"filter": []}, "bad-request"),
        ("search_events", {"filters": [{}], "limit": 0}, "bad-request"),
        ("count_events", {}, "bad-request"), ("count_events", {"filters": 7}, "bad-request"),
    ]:
        answer = await call(mcp, name, **arguments)
        assert answer["code"] == code and answer["outcome"] == "not-started", (name, arguments, answer)
    assert "--allow write" in await refused(mcp, "publish_note")
    assert "--allow private" in await refused(mcp, "read_messages")
    assert "did you mean 'read_feed'" in await refused(mcp, "read_fead")
    for name in ["signer.sign", "supervisor.shutdown", "sign", "decrypt"]:
        assert "there is no tool" in await refused(mcp, name)

async def granted(mcp, reader):
    names = {tool.name for tool in (await mcp.list_tools()).tools}
    assert names == READING | {"publish_note", "follow", "unfollow", "list_messages", "read_messages", "workers", "why"}
    assert (await call(mcp, "search_events", filters=[{"kinds": [4]}]))["items"][0]["content"] == "secret"
    # New events come while it waits, and are counted.
    counts = []
    async def progress(count, total, message):
        counts.append(count)
    watch = asyncio.create_task(reader.call_tool(
        "watch_events", {"filters": [{"kinds": [1], "search": "good morning"}], "limit": 2, "seconds": 60},
        progress_callback=progress))
    await watched("good morning")
    for text in ["good morning, world", "good evening", "good morning again"]:
        published = await call(mcp, "publish_note", text=text, account="alice")
        assert published["note"].startswith("note1") and published["relays"] == 1, published
    page = json.loads((await watch).content[0].text)
    assert [event["content"] for event in page["items"]] == ["good morning, world", "good morning again"], page
    assert counts == [1, 2], counts
    assert len((await call(mcp, "list_publications"))["items"]) == 3
    assert (await call(mcp, "why", worker="people"))["sentences"]
    # What is cancelled ends at the worker too.
    watch = asyncio.create_task(reader.call_tool("watch_events", {"filters": [{"kinds": [31337]}], "seconds": 300}))
    await watched("31337")
    watch.cancel()
    while is_watched("31337"): await asyncio.sleep(0.02)

async def watched(text):
    """Waits until the store has an observation with this text in its filters."""
    while not is_watched(text): await asyncio.sleep(0.02)

def is_watched(text):
    return any(text in json.dumps(one["filters"]) for one in bus.store.observes.list())

async def deaths(mcp):
    watch = asyncio.create_task(mcp.call_tool("watch_events", {"filters": [{"kinds": [31338]}], "seconds": 300}))
    await watched("31338")
    await ask("kill")
    result = await watch
    answer = json.loads(result.content[0].text)
    assert result.is_error and (answer["code"], answer["outcome"]) == ("disconnected", "unknown"), answer
    later = asyncio.create_task(mcp.call_tool("count_events", {"filters": [{"authors": [BOB], "kinds": [1]}]}))
    await ask("start")
    assert json.loads((await later).content[0].text)["count"] == 30

async def main():
    async with stdio_client(session()) as reader_pipes, ClientSession(*reader_pipes) as reader:
        begun = await reader.initialize()
        assert begun.server_info.name == "roost" and begun.protocol_version == "2025-11-25", begun
        await reading(reader)
        async with stdio_client(session("write", "private", "supervisor")) as pipes, ClientSession(*pipes) as mcp:
            await mcp.initialize()
            assert any(worker["name"] == "people" for worker in (await call(mcp, "workers"))["workers"])
            await granted(mcp, reader)
        await deaths(reader)
    print("done", flush=True)

asyncio.run(main())
