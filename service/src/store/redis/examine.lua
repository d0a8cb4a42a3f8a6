-- Which of these memories did someone else write to?
--
-- ARGV: what the keys of memories and of states begin with, then ids. Returns for each whose watched
-- fields are not what was last seen: {id, what they are now, what was last seen or nothing}.

local fragments, states = ARGV[1], ARGV[2]
local changed = {}
for i = 3, #ARGV do
  local now = look(fragments .. ARGV[i])
  local seen = redis.call('HGET', states .. ARGV[i], 'seen')
  if now ~= seen then
    changed[#changed + 1] = { ARGV[i], now, seen or '' }
  end
end
return changed
