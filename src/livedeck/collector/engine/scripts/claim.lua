-- Register this worker, renew its leases, and take those it is responsible for (engine.md, "Leases").
-- KEYS: workers, leases, lost, generation, retry, shares
-- ARGV: this worker; its lifetime in ms; the expected Redis ms; the workers of the last claim, one per line, a slow one
--       with its share; a new generation; 1 if this worker may hold leases, else 0; its share in percent of what a
--       worker polls, 100 unless it is slow; then for each event its id and claim: 0 renew only, 1 take if those
--       workers are current (this one ranks first among them), 2 take if the lease is free
-- Returns: "late" | "ok", Redis ms, workers, held (id, epoch, ...), ms when the next lease of another worker expires,
--          lost, generation, ms for which nobody may poll, the share of each worker
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function text(number) return string.format('%.0f', number) end
local expected = tonumber(ARGV[3])
if math.abs(now - expected) > 1000 then
  return {'late', text(now)}
end

-- A lease written before the clock of Redis was set back ends later than any valid one, and would last too long.
local latest, never = now + 61000, 9007199254740000
local function number(value)
  local found = tonumber(value)
  return found and found >= 0 and found < never and found or 0
end

local me, span, able = ARGV[1], tonumber(ARGV[2]), ARGV[6] == '1'
local function person(worker) return string.match(worker, '^[^/]*') end
if able then
  redis.call('ZADD', KEYS[1], now, me)
  redis.call('HDEL', KEYS[3], person(me))
else
  redis.call('ZREM', KEYS[1], me)
end
if able and tonumber(ARGV[7]) < 100 then
  redis.call('HSET', KEYS[6], me, ARGV[7])
else
  redis.call('HDEL', KEYS[6], me)
end
for _, ahead in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. text(now + 1000), '+inf')) do
  redis.call('ZADD', KEYS[1], now, ahead)
end
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(' .. text(now - span))) do
  redis.call('ZREM', KEYS[1], gone)
  redis.call('HDEL', KEYS[6], gone)
  redis.call('HSET', KEYS[3], person(gone), text(now))
end
local workers, next_end = {}, now + span
local entries = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
for index = 1, #entries, 2 do
  table.insert(workers, entries[index])
  redis.call('HDEL', KEYS[3], person(entries[index]))
  if entries[index] ~= me then next_end = math.min(next_end, tonumber(entries[index + 1]) + span) end
end
table.sort(workers)
local shares, lines = {}, {}
for index, worker in ipairs(workers) do
  local share = string.match(redis.call('HGET', KEYS[6], worker) or '', '^[1-9]%d?$')
  shares[index] = share or '100'
  lines[index] = share and worker .. ' ' .. share or worker
end
local is_known = table.concat(lines, '\n') == ARGV[4]

local held = {}
for index = 8, #ARGV, 2 do
  local event, how = ARGV[index], ARGV[index + 1]
  local lease = redis.call('HGET', KEYS[2], event)
  local owner, ends, epoch = '', 0, 0
  if lease then
    local found, found_ends, found_epoch = string.match(lease, '^(.*) (%d+) (%d+)$')
    if found then owner, ends, epoch = found, number(found_ends), number(found_epoch) end
  end
  if ends > latest then
    ends = now + span
    redis.call('HSET', KEYS[2], event, owner .. ' ' .. text(ends) .. ' ' .. text(epoch))
  end
  local is_mine = (how == '1' and is_known) or (how == '2' and (owner == '' or ends <= now))
  if owner == me and not able then
    redis.call('HSET', KEYS[2], event, ' 0 ' .. text(epoch))
  elseif owner == me or (able and is_mine) then
    if owner ~= me then epoch = math.max(epoch + 1, now) end
    redis.call('HSET', KEYS[2], event, me .. ' ' .. text(now + span) .. ' ' .. text(epoch))
    table.insert(held, event)
    table.insert(held, text(epoch))
  elseif owner ~= '' and ends > now then
    next_end = math.min(next_end, ends)
  end
end

local lost = redis.call('HGETALL', KEYS[3])
for index = 1, #lost, 2 do
  if number(lost[index + 1]) < now - 3600000 then redis.call('HDEL', KEYS[3], lost[index]) end
end
-- Delete leases of old events, a few random ones at a time. An epoch is a time, so the next one is still higher.
local some = redis.call('HRANDFIELD', KEYS[2], 16, 'WITHVALUES')
for index = 1, #some, 2 do
  local ends, epoch = string.match(some[index + 1], ' (%d+) (%d+)$')
  if ends and math.max(number(ends), number(epoch)) < now - 3600000 then redis.call('HDEL', KEYS[2], some[index]) end
end
redis.call('SET', KEYS[4], ARGV[5], 'NX')
local retry = redis.call('PTTL', KEYS[5])
return {'ok', text(now), workers, held, text(next_end), redis.call('HKEYS', KEYS[3]), redis.call('GET', KEYS[4]),
        text(math.max(0, retry)), shares}
