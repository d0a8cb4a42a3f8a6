"""A service whose store is locked for a moment: the client is told to come again, and does.

Usage: hindsight_retry.py URL DATA_DIR
"""

import pathlib
import sqlite3
import sys
import threading
import time

from hindsight_client import Hindsight
from hindsight_client_api.exceptions import ApiException

url, folder = sys.argv[1], pathlib.Path(sys.argv[2])

hurried = Hindsight(base_url=url, max_attempts=1)
patient = Hindsight(base_url=url)
# It waits as long as it is told, and not a random part of that.
patient._retry_rng.uniform = lambda least, most: most

other = sqlite3.connect(folder / "keepsake.db", isolation_level=None, check_same_thread=False)
other.execute("BEGIN IMMEDIATE")
begun = time.monotonic()
try:
    hurried.retain("harbour", "The ferry leaves at nine")
    raise AssertionError("a store that is locked was written")
except ApiException as error:
    assert error.status == 503 and error.headers["Retry-After"], error
    assert "detail" in error.body, error.body
# Locked for longer than a write waits, so that the first attempt fails.
waited = time.monotonic() - begun
threading.Timer(waited + 0.5, lambda: other.execute("ROLLBACK")).start()
begun = time.monotonic()
patient.retain("harbour", "The ferry leaves at nine")
assert time.monotonic() - begun > waited, "it came again"
assert [result.text for result in patient.recall("harbour", "ferry").results] == ["The ferry leaves at nine"]
hurried.close()
patient.close()
print("ok")
