-- Retry or drop dead letters, at a person's request on any machine. It needs no lease, because it changes only
-- messages that are unchanged since they were read.
-- KEYS: messages. ARGV: for each: key, body as read, new body (empty: delete it)
-- Returns: number of changed messages
local changed = 0
for index = 1, #ARGV, 3 do
  if redis.call('HGET', KEYS[1], ARGV[index]) == ARGV[index + 1] then
    if ARGV[index + 2] == '' then
      redis.call('HDEL', KEYS[1], ARGV[index])
    else
      redis.call('HSET', KEYS[1], ARGV[index], ARGV[index + 2])
    end
    changed = changed + 1
  end
end
return changed
