-- Version 2: what an index derived from this file needs to follow it.

-- The last change of what an index holds of a memory; `seq` also grows with its feedback.
ALTER TABLE memories ADD COLUMN indexed_seq INTEGER NOT NULL DEFAULT 0;
UPDATE memories SET indexed_seq = seq;

-- The turns around a turn.
CREATE INDEX memories_turns ON memories (namespace, session, turn)
    WHERE session IS NOT NULL AND turn IS NOT NULL;

-- `database` tells this store from every other, also from a copy that goes its own way; `epoch` grows
-- when the index is asked to be made anew.
INSERT INTO control (name, value) VALUES ('database', random()), ('epoch', 0);
