"""A service whose store another program has locked: a write is told to come again, reads go on.

Usage: hindsight_locked.py URL DATA_DIR
"""

import pathlib
import sqlite3
import sys

from hindsight_client import Hindsight
from hindsight_client_api.exceptions import ApiException

url, folder = sys.argv[1], pathlib.Path(sys.argv[2])

client = Hindsight(base_url=url)
other = sqlite3.connect(folder / "keepsake.db", isolation_level=None)
other.execute("BEGIN IMMEDIATE")
try:
    client.retain("harbour", "The ferry leaves at nine")
    raise AssertionError("a store that is locked was written")
except ApiException as error:
    assert error.status == 503 and error.headers["Retry-After"], error
    assert "detail" in error.body, error.body
assert client.recall("harbour", "when does the ferry leave?").results == []
other.execute("ROLLBACK")
client.retain("harbour", "The ferry leaves at nine")
assert [result.text for result in client.recall("harbour", "ferry").results] == ["The ferry leaves at nine"]
client.close()
print("ok")
