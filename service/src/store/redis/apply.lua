-- Writes if nothing changed since the writer looked: checks guards, then runs commands.
--
-- ARGV: what the keys of memories, of memories in the trash and of states begin with; the key of the
-- signals' version; the fields of a memory and of a state, each list after its length; the number of
-- guards and for each `id`, an id and its revision, `content`, a key and the id that it holds, or `note`,
-- a key and its value (nothing for what is not there); the number of commands and for each its words after their number.
--
-- Returns {1, version of the signals} when it has written, else {0, for each guard what is there now:
-- {id, fields of the memory, fields of the state}, {value}, or nothing}.

local at = 0
local function take()
  at = at + 1
  return ARGV[at]
end
local function take_list()
  local list = {}
  for i = 1, tonumber(take()) do
    list[i] = take()
  end
  return list
end

local fragments, trash, states, signals = take(), take(), take(), take()
local fields, state_fields = take_list(), take_list()

-- The key of the hash of a memory, or nil.
local function hash_of(id)
  if redis.call('EXISTS', fragments .. id) == 1 then
    return fragments .. id
  elseif redis.call('EXISTS', trash .. id) == 1 then
    return trash .. id
  end
end

-- The id that a content's key holds, if there is such a memory.
local function content_id(key)
  local id = redis.call('GET', key)
  if id and hash_of(id) then
    return id
  end
end

local guards, holds = {}, true
for i = 1, tonumber(take()) do
  local guard = { kind = take(), name = take(), expected = take() }
  guards[i] = guard
  if guard.kind == 'id' then
    guard.id = guard.name
    local found = ''
    if hash_of(guard.name) then
      found = redis.call('HGET', states .. guard.name, 'rev') or '0'
    end
    holds = holds and found == guard.expected
  elseif guard.kind == 'content' then
    guard.id = content_id(guard.name)
    holds = holds and (guard.id or '') == guard.expected
  else
    guard.value = redis.call('GET', guard.name)
    holds = holds and (guard.value or '') == guard.expected
  end
end

if not holds then
  local there = {}
  for i, guard in ipairs(guards) do
    local key = guard.id and hash_of(guard.id)
    there[i] = guard.kind == 'note' and { guard.value or nil }
      or key and { guard.id, redis.call('HMGET', key, unpack(fields)), redis.call('HMGET', states .. guard.id, unpack(state_fields)) }
      or {}
  end
  return { 0, there }
end

-- Commands that Redis does not have.
local own = {
  -- key, field, change: adds, and forgets what comes to nothing.
  COUNT = function(key, field, change)
    if redis.call('HINCRBY', key, field, change) <= 0 then
      redis.call('HDEL', key, field)
    end
  end,
  -- key, id, command, arguments: runs the command on the key if it holds the id.
  OWN = function(key, id, command, ...)
    if redis.call('GET', key) == id then
      redis.call(command, key, ...)
    end
  end,
  -- key of a memory, key of its state, names of fields (none: all): what was written there is seen.
  SEEN = function(key, state, ...)
    local now, seen = look(key), redis.call('HGET', state, 'seen')
    if seen and select('#', ...) > 0 then
      local written, parts = {}, {}
      for _, name in ipairs({ ... }) do
        written[name] = true
      end
      local before = string.gmatch(seen, '[^,]+')
      local i = 0
      for part in string.gmatch(now, '[^,]+') do
        i = i + 1
        local held = before()
        parts[i] = written[watched[i]] and part or held or part
      end
      now = table.concat(parts, ',')
    end
    redis.call('HSET', state, 'seen', now)
  end,
  -- key, field, change: adds to a field of a hash that there is.
  GAIN = function(key, field, change)
    if redis.call('EXISTS', key) == 1 then
      redis.call('HINCRBYFLOAT', key, field, change)
    end
  end,
  -- key of a day, key of the sums, field, number: raises the day's to the number, the sum by as much.
  RAISE = function(day, sums, field, number)
    local gained = tonumber(number) - tonumber(redis.call('HGET', day, field) or 0)
    if gained > 0 then
      redis.call('HSET', day, field, number)
      redis.call('HINCRBYFLOAT', sums, field, string.format('%.17g', gained))
    end
  end,
  -- key, field, mark, numbers: the vector of a memory, in place of an older one of the model; without
  -- numbers the model makes nothing of the content.
  MEAN = function(key, field, mark, numbers)
    local models = redis.call('HGET', key, 'models') or ''
    if not string.find(' ' .. models .. ' ', ' ' .. mark .. ' ', 1, true) then
      models = models == '' and mark or models .. ' ' .. mark
    end
    if numbers == '' then
      redis.call('HDEL', key, field)
      redis.call('HSET', key, 'models', models)
    else
      redis.call('HSET', key, 'models', models, field, numbers)
    end
  end,
  -- key, what the fields of vectors begin with: a memory loses those of all models.
  FORGET = function(key, field)
    local models = redis.call('HGET', key, 'models')
    local fields = { 'models' }
    for mark in string.gmatch(models or '', '%S+') do
      fields[#fields + 1] = field .. mark
    end
    if models then
      redis.call('HDEL', key, unpack(fields))
    end
  end,
  -- hash, order, key, value, most (nothing: any number): keeps a record as the newest of its order, and
  -- drops the oldest beyond the most.
  RECORD = function(records, order, key, value, most)
    local newest = redis.call('ZREVRANGE', order, 0, 0, 'WITHSCORES')
    redis.call('ZADD', order, string.format('%.0f', tonumber(newest[2] or 0) + 1), key)
    redis.call('HSET', records, key, value)
    if most ~= '' then
      for _, old in ipairs(redis.call('ZRANGE', order, 0, -tonumber(most) - 1)) do
        redis.call('ZREM', order, old)
        redis.call('HDEL', records, old)
      end
    end
  end,
  -- Any command: what only other programs read must not spoil a write.
  TRY = function(...)
    redis.pcall(...)
  end,
  -- key, field, number: keeps the largest.
  MAX = function(key, field, number)
    local held = redis.call('HGET', key, field)
    if not held or tonumber(held) < tonumber(number) then
      redis.call('HSET', key, field, number)
    end
  end,
}

for _ = 1, tonumber(take()) do
  local command = take_list()
  local ours = own[command[1]]
  if ours then
    ours(unpack(command, 2))
  else
    redis.call(unpack(command))
  end
end
return { 1, redis.call('GET', signals) or '0' }
