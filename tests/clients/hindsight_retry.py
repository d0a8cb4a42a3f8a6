"""A service whose store is away for a moment: the client is told to come again, and does.

Usage: hindsight_retry.py URL DATA_DIR
"""

import pathlib
import sys
import threading

from hindsight_client import Hindsight
from hindsight_client_api.exceptions import ApiException

url, folder = sys.argv[1], pathlib.Path(sys.argv[2])
store, away = folder / "keepsake.db", folder / "away.db"

hurried = Hindsight(base_url=url, max_attempts=1)
patient = Hindsight(base_url=url)
# It waits as long as it is told, and not a random part of that.
patient._retry_rng.uniform = lambda least, most: most

store.rename(away)
try:
    hurried.recall("harbour", "when does the ferry leave?")
    raise AssertionError("a store that is away was read")
except ApiException as error:
    assert error.status == 503 and error.headers["Retry-After"], error
    assert "detail" in error.body, error.body
threading.Timer(0.5, lambda: away.rename(store)).start()
assert patient.recall("harbour", "when does the ferry leave?").results == []
patient.retain("harbour", "The ferry leaves at nine")
assert [result.text for result in patient.recall("harbour", "ferry").results] == ["The ferry leaves at nine"]
hurried.close()
patient.close()
print("ok")
