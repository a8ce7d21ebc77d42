-- What the notifier knows and the messages that follow from it, whole or not at all; only from who holds the desk.
-- KEYS: leases, told, messages. ARGV: me, epoch, revision, state, then of each message: key, body (empty: forget it)
-- Returns: 1, or 0 where the desk is another's or a later revision is there
local owner, epoch = string.match(redis.call('HGET', KEYS[1], '@desk') or '', '^(.*) %d+ (%d+)$')
if owner ~= ARGV[1] or epoch ~= ARGV[2] then return 0 end
if redis.call('HGET', KEYS[2], 'epoch') == epoch
   and tonumber(redis.call('HGET', KEYS[2], 'revision')) >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[2], 'epoch', epoch, 'revision', ARGV[3], 'state', ARGV[4])
for index = 5, #ARGV, 2 do
  if ARGV[index + 1] == '' then
    redis.call('HDEL', KEYS[3], ARGV[index])
  else
    redis.call('HSETNX', KEYS[3], ARGV[index], ARGV[index + 1])
  end
end
return 1
