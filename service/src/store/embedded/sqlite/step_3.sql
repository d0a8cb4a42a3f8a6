-- Version 3: records beside the memories, and the memories of a document.

-- Small texts of the ways in; the greater the number, the later it was put.
CREATE TABLE records (
    number    INTEGER PRIMARY KEY,
    kind      TEXT NOT NULL,
    namespace TEXT NOT NULL,
    key       TEXT NOT NULL,
    value     TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX records_key ON records (kind, namespace, key);
CREATE INDEX records_newest ON records (kind, namespace, number);

CREATE INDEX memories_document ON memories (namespace, document) WHERE document IS NOT NULL;
