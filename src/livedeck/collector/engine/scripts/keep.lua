-- What the notifier knows and the messages that follow from it, whole or not at all; only from who holds the desk.
-- KEYS: leases, told, messages. ARGV: me, epoch, epoch of what this follows from, revision, state, then of each
--       message: key, body (empty: forget it)
-- Returns: 1, or 0 where the desk is another's, another one has told meanwhile, or a later revision is there
local owner, epoch = string.match(redis.call('HGET', KEYS[1], '@desk') or '', '^(.*) %d+ (%d+)$')
if owner ~= ARGV[1] or epoch ~= ARGV[2] then return 0 end
local function number(value)  -- what nobody of us can have written is nothing
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
