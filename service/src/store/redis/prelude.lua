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
