-- What became of messages; only from who holds the desk.
-- KEYS: leases, messages. ARGV: me, epoch, then of each: key, body (empty: forget it)
-- Returns: 1, or 0 where the desk is another's
local owner, epoch = string.match(redis.call('HGET', KEYS[1], '@desk') or '', '^(.*) %d+ (%d+)$')
if owner ~= ARGV[1] or epoch ~= ARGV[2] then return 0 end
for index = 3, #ARGV, 2 do
  if ARGV[index + 1] == '' then
    redis.call('HDEL', KEYS[2], ARGV[index])
  else
    redis.call('HSET', KEYS[2], ARGV[index], ARGV[index + 1])
  end
end
return 1
