-- Version 4: what maintenance knows of memories, outside their rows: no index follows it.

-- When a memory was last found for someone.
CREATE TABLE retrievals (
    number INTEGER PRIMARY KEY,
    at     INTEGER NOT NULL
) STRICT;

-- The content that was checked for duplicates.
CREATE TABLE checked (
    number       INTEGER PRIMARY KEY,
    content_hash BLOB NOT NULL
) STRICT;
