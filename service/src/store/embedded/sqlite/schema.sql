-- Version 1 of the embedded store. Times are milliseconds since 1970, UTC; days are days since then.

CREATE TABLE memories (
    number           INTEGER PRIMARY KEY,
    id               TEXT    NOT NULL UNIQUE,
    -- Change number: grows with every change of any memory, so that an index knows what is new to it.
    seq              INTEGER NOT NULL UNIQUE,
    namespace        TEXT    NOT NULL,
    agent            TEXT,
    -- Session and turn, or document: equal contents at two places are two memories.
    place            TEXT    NOT NULL,
    content_hash     BLOB    NOT NULL,
    content          TEXT    NOT NULL,
    session          TEXT,
    turn             INTEGER,
    document         TEXT,
    shared           INTEGER NOT NULL,
    category         TEXT,
    source           TEXT,
    entry_type       TEXT,
    pinned           INTEGER NOT NULL,
    metadata         TEXT    NOT NULL,
    tags             TEXT    NOT NULL,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    reinforced_at    INTEGER,
    invalid_at       INTEGER,
    superseded_by    TEXT,
    consumed_by      TEXT,
    corrected_at     INTEGER,
    trashed_at       INTEGER,
    mentions         INTEGER NOT NULL,
    feedback         REAL    NOT NULL,
    level            INTEGER NOT NULL,
    sources          TEXT    NOT NULL,
    analysis_version INTEGER NOT NULL,
    terms            TEXT    NOT NULL,
    length           INTEGER NOT NULL,
    keywords         TEXT    NOT NULL,
    entities         TEXT    NOT NULL,
    intensity        REAL    NOT NULL,
    polarity         REAL    NOT NULL,
    fingerprint      INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX memories_content ON memories (namespace, ifnull(agent, char(0)), place, content_hash);
CREATE INDEX memories_newest ON memories (namespace, created_at DESC, id);

-- What was deleted for good, so that an index can forget it.
CREATE TABLE purged (
    seq    INTEGER PRIMARY KEY,
    number INTEGER NOT NULL
) STRICT;

CREATE TABLE memory_entities (
    namespace TEXT    NOT NULL,
    entity    TEXT    NOT NULL,
    number    INTEGER NOT NULL,
    PRIMARY KEY (namespace, entity, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_entities_number ON memory_entities (number);

-- Statistics of BM25, over the memories that are not in the trash.
CREATE TABLE namespace_statistics (
    namespace TEXT    NOT NULL PRIMARY KEY,
    memories  INTEGER NOT NULL,
    length    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE term_statistics (
    namespace TEXT    NOT NULL,
    term      TEXT    NOT NULL,
    memories  INTEGER NOT NULL,
    PRIMARY KEY (namespace, term)
) STRICT, WITHOUT ROWID;

-- Counters of a namespace and an agent ('' for none), by the day that the memories are about, ...
CREATE TABLE topic_days (
    namespace TEXT    NOT NULL,
    agent     TEXT    NOT NULL,
    day       INTEGER NOT NULL,
    topic     TEXT    NOT NULL,
    mentions  REAL    NOT NULL,
    attention REAL    NOT NULL,
    PRIMARY KEY (namespace, agent, day, topic)
) STRICT, WITHOUT ROWID;
-- ... and their sums.
CREATE TABLE topics (
    namespace TEXT    NOT NULL,
    agent     TEXT    NOT NULL,
    topic     TEXT    NOT NULL,
    last_day  INTEGER NOT NULL,
    mentions  REAL    NOT NULL,
    attention REAL    NOT NULL,
    PRIMARY KEY (namespace, agent, topic)
) STRICT, WITHOUT ROWID;
-- Pairs of folded entities in both directions; `name` is the spelling of `other` to show.
CREATE TABLE entity_pairs (
    namespace TEXT    NOT NULL,
    agent     TEXT    NOT NULL,
    entity    TEXT    NOT NULL,
    other     TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    memories  INTEGER NOT NULL,
    PRIMARY KEY (namespace, entity, agent, other)
) STRICT, WITHOUT ROWID;

CREATE TABLE synonyms (
    namespace TEXT    NOT NULL,
    term      TEXT    NOT NULL,
    terms     TEXT    NOT NULL,
    manual    INTEGER NOT NULL,
    PRIMARY KEY (namespace, term)
) STRICT, WITHOUT ROWID;

-- Vectors by the identity of the model that made them.
CREATE TABLE vectors (
    number INTEGER NOT NULL,
    model  TEXT    NOT NULL,
    vector BLOB    NOT NULL,
    PRIMARY KEY (number, model)
) STRICT, WITHOUT ROWID;

-- Skills, a collection for each host profile.
CREATE TABLE skills (
    collection   TEXT NOT NULL,
    path         TEXT NOT NULL,
    hash         TEXT NOT NULL,
    name         TEXT NOT NULL,
    description  TEXT NOT NULL,
    front_matter TEXT NOT NULL,
    PRIMARY KEY (collection, path)
) STRICT, WITHOUT ROWID;

-- Answers that a repeated operation or idempotency key gets again.
CREATE TABLE operations (
    scope   TEXT    NOT NULL,
    key     TEXT    NOT NULL,
    answer  TEXT    NOT NULL,
    done_at INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX operations_done ON operations (done_at);

-- Single values: `seq` (the last change number), `signals` (their version), `lock` (until when).
CREATE TABLE control (
    name  TEXT    NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO control (name, value) VALUES ('seq', 0), ('signals', 0);
