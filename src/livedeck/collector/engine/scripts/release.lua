-- Unregister this worker and free its leases; their epochs stay.
-- KEYS: workers, leases, answers, shares. ARGV: this worker
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[4], ARGV[1])
local leases, released = redis.call('HGETALL', KEYS[2]), 0
for index = 1, #leases, 2 do
  local owner, epoch = string.match(leases[index + 1], '^(.*) %d+ (%d+)$')
  if owner == ARGV[1] then
    redis.call('HSET', KEYS[2], leases[index], ' 0 ' .. epoch)
    released = released + 1
  end
end
redis.call('XADD', KEYS[3], 'MAXLEN', '~', '10000', '*', 'left', ARGV[1])
return released
