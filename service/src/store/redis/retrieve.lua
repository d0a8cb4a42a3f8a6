-- One read of one moment: lock, statistics, the best by BM25, the nearest by their vectors, and the
-- neighbours of both.
--
-- The engine finds candidates and puts them in a rough order; more of them than are wanted are told,
-- to be scored exactly by whoever asked, who knows most memories already. Nothing is written.
--
-- ARGV is read in the order of `take()` below. Returns {'locked', value, milliseconds left} or
-- {'found', version of the signals, memories, words, document frequencies, whether something is
-- hidden, ids of the best, ids of the nearest, ids of both and of neighbours each with its revision,
-- and if fields are asked for, for each of those the fields of the memory and the fields of the state}.

local at = 0
local function take()
  at = at + 1
  return ARGV[at]
end
local function take_number()
  return tonumber(take())
end
local function take_list()
  local list = {}
  for i = 1, take_number() do
    list[i] = take()
  end
  return list
end

-- As many arguments as one call may have.
local MOST = 4000

local fragments, states, turns = take(), take(), take()
local lock_key, signals_key, totals_key, frequencies_key, index = take(), take(), take(), take(), take()
local now = take_number()
local pool, depth, reach, most_neighbours = take_number(), take_number(), take_number(), take_number()
local most_terms, search_timeout = take_number(), take()
local universal, universal_from = take_number(), take_number()
local marker, admitted, refused = take(), take(), take()
local near, vector = take(), take()
local fields, state_fields = take_list(), take_list()
local names, given, weights, own = {}, {}, {}, {}
for i = 1, take_number() do
  names[i], given[i], own[i] = take(), take_number(), take() == '1'
end

local lock = redis.call('GET', lock_key)
if lock then
  local till = string.match(lock, '^until:(%-?%d+)$')
  if not till or tonumber(till) > now then
    return { 'locked', lock, redis.call('PTTL', lock_key) }
  end
end

ready(index)

-- Statistics.
local totals = redis.call('HMGET', totals_key, 'memories', 'words')
local memories, words = tonumber(totals[1] or 0), tonumber(totals[2] or 0)
local frequencies = {}
for from = 1, #names, MOST do
  local part = redis.call('HMGET', frequencies_key, unpack(names, from, math.min(from + MOST - 1, #names)))
  for i = 1, #part do
    frequencies[from + i - 1] = tonumber(part[i] or 0)
  end
end
local version = redis.call('GET', signals_key) or '0'

-- Weight times idf of each term; 0 for one that is left out (see `ranking::bm25::Scorer`).
local function is_universal(i)
  return memories >= universal_from and frequencies[i] > universal * memories
end
local rarer_remain = false
for i = 1, #names do
  rarer_remain = rarer_remain or (own[i] and not is_universal(i))
end
local looked_for = {}
for i = 1, #names do
  if rarer_remain and is_universal(i) then
    weights[i] = 0
  else
    local frequency = math.min(frequencies[i], memories)
    weights[i] = given[i] * math.log(1 + (memories - frequency + 0.5) / (frequency + 0.5))
  end
  if weights[i] > 0 and frequencies[i] > 0 then
    looked_for[#looked_for + 1] = i
  end
end

-- The most telling terms, bounded in number.
table.sort(looked_for, function(left, right)
  if weights[left] ~= weights[right] then
    return weights[left] > weights[right]
  end
  return left < right
end)
-- Each term is filtered for itself: where a filter stands beside an alternative of terms, the engine
-- (RediSearch 2.10) loses terms of about every fifth memory. An alternative of more than twenty with a
-- negation in it lets through what is negated, so there are groups. A term alone has no weight, one
-- with a filter has.
local GROUP = 16
local terms, groups = {}, {}
for at = 1, math.min(#looked_for, most_terms) do
  local i = looked_for[at]
  terms[at] = marker .. names[i]
  local group = math.ceil(at / GROUP)
  groups[group] = groups[group] or {}
  table.insert(groups[group], string.format('(@terms:%s %s)=>{$weight:%.4f}', terms[at], admitted, given[i]))
end
local any = #terms > 0 and '@terms:(' .. table.concat(terms, '|') .. ')'
for group, members in ipairs(groups) do
  groups[group] = '(' .. table.concat(members, '|') .. ')'
end

-- Everyone who comes along, each once, and those whose neighbours come along, too.
local known, told, chosen = {}, {}, {}
local count = 0
local function take_along(id)
  if not known[id] then
    local state = redis.call('HMGET', states .. id, 'rev', 'place')
    known[id] = state[2] or ''
    count = count + 1
    told[#told + 1] = id
    told[#told + 1] = state[1] or ''
  end
end
-- Takes along what a search found; the ids in its order.
local function ids_of(found)
  local ids = {}
  for i = 2, #found do
    local id = string.sub(found[i], #fragments + 1)
    ids[i - 1] = id
    if i - 1 <= pool and not known[id] then
      chosen[#chosen + 1] = id
    end
    take_along(id)
  end
  return ids
end

local best, nearest = {}, {}
if any then
  best = ids_of(redis.call('FT.SEARCH', index, table.concat(groups, '|'), 'NOCONTENT', 'VERBATIM', 'SCORER', 'BM25STD',
    'LIMIT', '0', depth, 'TIMEOUT', search_timeout, 'DIALECT', '2'))
end
if near ~= '' then
  nearest = ids_of(redis.call('FT.SEARCH', index, near, 'PARAMS', '2', 'vector', vector, 'SORTBY', 'distance', 'NOCONTENT',
    'LIMIT', '0', depth, 'TIMEOUT', search_timeout, 'DIALECT', '2'))
end

local hidden = 0
if count == 0 and any then
  local first = redis.call('FT.AGGREGATE', index, refused .. any, 'VERBATIM', 'LIMIT', '0', '1',
    'TIMEOUT', search_timeout, 'DIALECT', '2')
  hidden = #first > 1 and 1 or 0
end

local function turns_around(id, turn)
  -- Beyond this a number cannot be counted on here (see `tokens::around`).
  if #turn > 15 then
    local around = redis.call('HGET', fragments .. id, 'around')
    if around then
      return string.gmatch(around, '%S+')
    end
  end
  local distance = -reach - 1
  return function()
    distance = distance + 1
    if distance <= reach then
      return string.format('%.0f', tonumber(turn) + distance)
    end
  end
end
if reach > 0 then
  local most = count + most_neighbours
  for _, id in ipairs(chosen) do
    local session, turn = string.match(known[id], '^(.*:)(%-?%d+)$')
    if session and count < most then
      for beside in turns_around(id, turn) do
        for _, neighbour in ipairs(redis.call('SMEMBERS', turns .. session .. beside)) do
          if count < most then
            take_along(neighbour)
          end
        end
      end
    end
  end
end
local rows = {}
if #fields > 0 then
  for i = 1, #told, 2 do
    rows[i] = redis.call('HMGET', fragments .. told[i], unpack(fields))
    rows[i + 1] = redis.call('HMGET', states .. told[i], unpack(state_fields))
  end
end
return { 'found', version, memories, words, frequencies, hidden, best, nearest, told, rows }
