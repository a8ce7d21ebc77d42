-- Store the notifier's state and its messages together; only for the holder of the notifier lease.
-- KEYS: leases, told, messages. ARGV: this worker, epoch, epoch of the state that this one follows, revision, state,
--       then for each message: key, body (empty: delete it)
-- Returns: 1, or 0 if another worker holds the lease or has notified since, or a later revision is stored
local owner, epoch = string.match(redis.call('HGET', KEYS[1], '@desk') or '', '^(.*) %d+ (%d+)$')
if owner ~= ARGV[1] or epoch ~= ARGV[2] then return 0 end
local function number(value)  -- a value that no collector can have written counts as 0
  local found = tonumber(value)
  return found and found < 9007199254740000 and found or 0
end
local told = redis.call('HGET', KEYS[2], 'epoch')
if told == epoch then
  if number(redis.call('HGET', KEYS[2], 'revision')) >= tonumber(ARGV[4]) then return 0 end
elseif number(told) > tonumber(ARGV[3]) then
  return 0
end
redis.call('HSET', KEYS[2], 'epoch', epoch, 'revision', ARGV[4], 'state', ARGV[5])
for index = 6, #ARGV, 2 do
  if ARGV[index + 1] == '' then
    redis.call('HDEL', KEYS[3], ARGV[index])
  else
    redis.call('HSETNX', KEYS[3], ARGV[index], ARGV[index + 1])
  end
end
return 1
