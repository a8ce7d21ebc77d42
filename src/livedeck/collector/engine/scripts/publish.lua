-- Publish the answers of events that this worker holds; refuse the others.
-- KEYS: leases, answers. ARGV: this worker; number of answers to keep; then for each: event, epoch, body
-- Returns: the refused events
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
