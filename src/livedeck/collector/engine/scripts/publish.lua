-- The answers of events that I hold, for the others to read; of one that I do not hold any more, none.
-- KEYS: leases, answers. ARGV: me; answers that are kept; then of each: event, epoch, body
-- Returns: the events that were refused
local refused = {}
for index = 3, #ARGV, 3 do
  local event, epoch = ARGV[index], ARGV[index + 1]
  local owner, held = string.match(redis.call('HGET', KEYS[1], event) or '', '^(.*) %d+ (%d+)$')
  if owner == ARGV[1] and held == epoch then
    redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[2], '*',
               'event', event, 'by', ARGV[1], 'epoch', epoch, 'body', ARGV[index + 2])
  else
    table.insert(refused, event)
  end
end
return refused
