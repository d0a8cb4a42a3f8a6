"""What programs do with the Hindsight client, against a service of Keepsake.

Usage: hindsight.py URL
"""

import asyncio
import json
import sys
import uuid
from datetime import datetime, timezone

from hindsight_client import Hindsight
from hindsight_client_api.exceptions import ApiException, NotFoundException

NEWER = hasattr(Hindsight, "get_version")


def texts(response):
    return [result.text for result in response.results]


def low(call):
    """The generated calls exist in the asynchronous form alone."""
    return asyncio.get_event_loop().run_until_complete(call)


def field(item, name):
    """The older client leaves entries of lists as they came."""
    return item[name] if isinstance(item, dict) else getattr(item, name)


def the_service_says_what_it_can(client):
    version = low(client.monitoring.get_version())
    assert version.api_version >= "0.9", version
    assert version.features.mcp is True and version.features.observations is False, version
    low(client.monitoring.health_endpoint_health_get())


def a_bank_is_made_written_and_read(client):
    # The older client sends the name of a bank that it makes with a bare slash.
    bank = "team a/b" if NEWER else "team a b"
    profile = client.create_bank(bank, name="Team", mission="Remember the harbour", disposition_empathy=5)
    assert (profile.bank_id, profile.name, profile.disposition.empathy) == (bank, "Team", 5), profile
    assert profile.mission == "Remember the harbour"
    stored = client.retain(
        bank,
        "Ann moors the blue boat at the north pier",
        timestamp=datetime(2026, 5, 1, 8, 0, tzinfo=timezone.utc),
        context="harbour log",
        metadata={"source": "log", "page": "3"},
        entities=[{"text": "Blue Boat", "type": "ship"}],
        tags=["boats"],
    )
    assert stored.success and stored.items_count == 1 and stored.var_async is False, stored
    response = client.recall(bank, "where is the blue boat?", trace=True, include_entities=True, include_chunks=True)
    first = response.results[0]
    assert first.text == "Ann moors the blue boat at the north pier", response
    assert first.context == "harbour log" and first.metadata == {"source": "log", "page": "3"}, first
    assert first.occurred_start.startswith("2026-05-01T08:00:00") and first.tags == ["boats"], first
    assert "Blue Boat" in first.entities and "Blue Boat" in response.entities, first
    assert response.chunks[first.chunk_id].text == first.text, response.chunks
    assert response.trace["mode"], response.trace
    client.retain(bank, "Ann moors the blue boat at the north pier")
    again = client.recall(bank, "where is the blue boat?")
    assert [r.id for r in again.results if r.text == first.text] == [first.id], again
    items = client.list_memories(bank, search_query="blue boat")
    assert items.total == 1 and "Blue Boat" in field(items.items[0], "entities"), items
    assert client.recall("nowhere", "boat").results == []


def asynchronous_writes_are_complete_when_asked_for(client):
    stored = client.retain("async", "The ferry leaves at nine", retain_async=True)
    assert stored.var_async is True and uuid.UUID(stored.operation_id), stored
    status = low(client.operations.get_operation_status("async", stored.operation_id))
    assert status.status == "completed", status
    listed = low(client.operations.list_operations("async"))
    assert [operation.id for operation in listed.operations] == [stored.operation_id], listed
    unknown = low(client.operations.get_operation_status("async", str(uuid.uuid4())))
    assert unknown.status == "not_found", unknown
    assert texts(client.recall("async", "when does the ferry leave?")) == ["The ferry leaves at nine"]


def an_operation_is_done_once(client):
    if not NEWER:
        return
    name = str(uuid.uuid4())
    for _ in range(2):
        stored = client.retain("once", "The lighthouse is red", retain_async=True, operation_id=name)
        assert stored.operation_id == name
    assert field(client.list_memories("once").items[0], "proof_count") == 1
    try:
        client.retain("once", "The lighthouse is green", retain_async=True, operation_id=name)
        raise AssertionError("another request took the name of an operation")
    except ApiException as error:
        assert error.status == 409, error


def documents_are_replaced_and_appended(client):
    bank, document = "documents", "Folder/My Note.md"
    turn = lambda said, minute: {"role": "user", "content": said, "timestamp": f"2026-05-01T08:{minute:02}:00Z"}
    talk = lambda *turns: json.dumps([list(turns)])
    append = lambda content: client.retain_batch(
        bank, [{"content": content, "update_mode": "append", "tags": ["talk"]}], document_id=document
    )
    held = lambda: low(client.documents.get_document(bank, document))
    append(talk(turn("I sail to Kos", 1)))
    append(talk(turn("I sail to Kos", 1), turn("Then to Rhodes", 2)))
    append(talk(turn("Then to Rhodes", 2)))
    assert held().original_text == "User: I sail to Kos\nUser: Then to Rhodes", held()
    assert held().memory_unit_count == 2 and held().tags == ["talk"], held()
    listed = client.list_memories(bank)
    assert listed.total == 2 and all(field(item, "document_id") == document for item in listed.items), listed
    client.retain(bank, talk(turn("I sail to Crete", 3), turn("Then to Rhodes", 2)), document_id=document)
    assert sorted(held().original_text.split("\n")) == ["User: I sail to Crete", "User: Then to Rhodes"], held()
    assert texts(client.recall(bank, "Kos")) == [], client.recall(bank, "Kos")
    # What was replaced may be told again.
    append(talk(turn("I sail to Kos", 1)))
    assert "User: I sail to Kos" in texts(client.recall(bank, "Kos"))
    assert field(low(client.documents.list_documents(bank)).items[0], "memory_unit_count") == 3
    assert low(client.documents.delete_document(bank, document)).memory_units_deleted == 3
    try:
        held()
        raise AssertionError("a deleted document is there")
    except NotFoundException as error:
        assert "Folder/My Note.md" in str(error.body), error
    append(talk(turn("I sail to Kos", 1)))
    assert held().original_text == "User: I sail to Kos"


def tags_match_in_five_ways(client):
    bank = "tags"
    for name, tags in [("amber", []), ("blue", ["a"]), ("green", ["b", "a"]), ("red", ["a", "b", "c"]), ("white", ["z"])]:
        client.retain(bank, f"The {name} buoy floats", tags=tags or None)
    found = lambda **how: sorted(text.split()[1] for text in texts(client.recall(bank, "which buoy floats?", **how)))
    everything = ["amber", "blue", "green", "red", "white"]
    assert found() == everything, found()
    for how, expected in [
        ("any", ["amber", "blue", "green", "red"]),
        ("all", ["amber", "green", "red"]),
        ("any_strict", ["blue", "green", "red"]),
        ("all_strict", ["green", "red"]),
        ("exact", ["green"]),
    ]:
        if how == "exact" and not NEWER:
            continue
        assert found(tags=["a", "b"], tags_match=how) == expected, (how, found(tags=["a", "b"], tags_match=how))
        assert found(tags=[], tags_match=how) == (["amber"] if how == "exact" else everything), how
    assert found(tags=["A"]) == ["amber"], "tags are compared with case"
    group = [{"or": [{"tags": ["c"]}, {"and": [{"tags": ["a"]}, {"not": {"tags": ["b"]}}]}]}]
    if NEWER:
        assert found(tag_groups=group) == ["blue", "red"], found(tag_groups=group)
        assert len(client.recall(bank, "buoy", min_scores={"final": 0.99}).results) <= 1
    counted = {field(item, "tag"): field(item, "count") for item in low(client.memory.list_tags(bank)).items}
    assert counted == {"a": 3, "b": 2, "c": 1, "z": 1}, counted


def reflect_tells_what_is_remembered(client):
    client.retain("thoughts", "The harbour master is called Theo")
    response = client.reflect("thoughts", "who is the harbour master?", include_facts=True)
    assert "The harbour master is called Theo" in response.text, response
    assert response.based_on.memories[0].text == "The harbour master is called Theo", response
    assert client.reflect("thoughts", "zugzwang").text == ""
    try:
        client.reflect("thoughts", "who?", response_schema={"type": "object"})
        raise AssertionError("an answer followed a schema without a model")
    except ApiException as error:
        assert error.status == 422 and "language model" in str(error.body), error


def mental_models_are_saved_searches(client):
    bank = "models"
    client.retain(bank, "Deploys go out on Thursdays", tags=["project:x"])
    made = client.create_mental_model(bank, "Deploys", "when do deploys go out?", tags=["project:x"])
    model = client.get_mental_model(bank, made.mental_model_id)
    assert model.content == "- Deploys go out on Thursdays", model
    assert [item.id for item in client.list_mental_models(bank).items] == [model.id]
    client.update_mental_model(bank, model.id, name="Releases")
    assert client.get_mental_model(bank, model.id).name == "Releases"
    client.refresh_mental_model(bank, model.id)
    client.delete_mental_model(bank, model.id)
    assert client.list_mental_models(bank).items == []


def banks_are_listed_counted_and_deleted(client):
    bank = "short lived"
    client.create_bank(bank, background="old")
    assert bank in [item.bank_id for item in low(client.banks.list_banks()).banks]
    client.retain_batch(bank, [{"content": f"Gull number {number}"} for number in range(40)])
    stats = low(client.banks.get_agent_stats(bank))
    assert stats.total_nodes == 40 and stats.nodes_by_fact_type == {"world": 40}, stats
    page = client.list_memories(bank, limit=15, offset=30)
    assert page.total == 40 and len(page.items) == 10, page
    client.update_bank_config(bank, retain_extraction_mode="verbatim")
    assert client.get_bank_config(bank)["overrides"] == {"retain_extraction_mode": "verbatim"}
    entity = low(client.entities.list_entities(bank)).items
    assert isinstance(entity, list)
    assert client.delete_bank(bank).deleted_count == 40
    assert client.list_memories(bank).total == 0
    assert bank not in [item.bank_id for item in low(client.banks.list_banks()).banks]


def wrong_requests_are_explained(client):
    for wrong, status, part in [
        ({"content": "   "}, 422, "blank"),
        ({"content": "x", "update_mode": "append"}, 400, "document_id"),
        ({"content": "x", "timestamp": "yesterday"}, 422, "yesterday"),
    ]:
        try:
            client.retain_batch("wrong", [wrong])
            raise AssertionError(wrong)
        except ApiException as error:
            assert error.status == status and part in str(error.body), (wrong, error.status, error.body)
    try:
        client.recall("wrong", " ?! ")
        raise AssertionError("a query without a word was answered")
    except ApiException as error:
        assert error.status == 422, error
        assert json.loads(error.body)["detail"][0]["loc"] == ["body", "query"], error.body


def large_and_foreign_texts_are_kept(client):
    text = "The tide table of the strait. " * 35_000
    assert len(text) > 1_000_000
    client.retain("large", text)
    found = client.recall("large", "tide table of the strait", max_tokens=2000)
    assert found.results and sum(len(result.text) for result in found.results) <= 8_400, len(found.results)
    client.retain("foreign", "王小明的生日是5月2号，他喜欢打乒乓球 🏓", tags=["生日"])
    assert texts(client.recall("foreign", "乒乓球", tags=["生日"], tags_match="all_strict"))


def main(url):
    client = Hindsight(base_url=url, timeout=120.0)
    for check in [
        the_service_says_what_it_can,
        a_bank_is_made_written_and_read,
        asynchronous_writes_are_complete_when_asked_for,
        an_operation_is_done_once,
        documents_are_replaced_and_appended,
        tags_match_in_five_ways,
        reflect_tells_what_is_remembered,
        mental_models_are_saved_searches,
        banks_are_listed_counted_and_deleted,
        wrong_requests_are_explained,
        large_and_foreign_texts_are_kept,
    ]:
        check(client)
        print(check.__name__)
    client.close()
    print("ok")


main(*sys.argv[1:])
