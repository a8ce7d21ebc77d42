-- Store the outcome of messages; only for the holder of the notifier lease.
-- KEYS: leases, messages. ARGV: this worker, epoch, then for each: key, body (empty: delete it)
-- Returns: 1, or 0 if another worker holds the lease
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
