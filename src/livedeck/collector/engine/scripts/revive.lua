-- Have messages tried again that were given up. A person wants it, at whichever machine: it needs no lease, for it
-- changes only what is as it was read.
-- KEYS: messages. ARGV: of each: key, body as it was read, body as it is to be
-- Returns: how many were changed
local changed = 0
for index = 1, #ARGV, 3 do
  if redis.call('HGET', KEYS[1], ARGV[index]) == ARGV[index + 1] then
    redis.call('HSET', KEYS[1], ARGV[index], ARGV[index + 2])
    changed = changed + 1
  end
end
return changed
