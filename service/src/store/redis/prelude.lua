-- What the scripts share. In a library of functions `verified` lives as long as the server does, so
-- that after a restart, while the index is still being read in, no search gets half an answer.

local verified = {}
local function ready(index)
  if verified[index] then
    return
  end
  local info = redis.call('FT.INFO', index)
  for i = 1, #info - 1 do
    if info[i] == 'indexing' and tonumber(info[i + 1]) ~= 0 then
      error({ err = 'KEEPSAKEINDEXING the search index is being built' })
    end
  end
  verified[index] = true
end

-- The fields that the Python Keepsake writes, and people by hand; in the order of `adoption::WATCHED`.
local watched = {
  'content', 'tags', 'category', 'source', 'created', 'fragment_type', 'invalid_at', 'valid_until',
  'consumed_by', 'corrected_at', 'feedback_score',
}

-- A short digest of each watched field of a hash, so that a change by someone else can be seen.
local function look(key)
  local values = redis.pcall('HMGET', key, unpack(watched))
  if values.err then
    return 'no hash'
  end
  for i = 1, #watched do
    values[i] = values[i] and string.sub(redis.sha1hex(values[i]), 1, 8) or '-'
  end
  return table.concat(values, ',')
end
