-- Forbid all collectors to poll the platform until then.
-- KEYS: retry, answers. ARGV: ms from now
local time = redis.call('TIME')
local until_ms = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[1])
if tonumber(ARGV[1]) > redis.call('PTTL', KEYS[1]) then
  local text = string.format('%.0f', until_ms)
  redis.call('SET', KEYS[1], text, 'PX', ARGV[1])
  redis.call('XADD', KEYS[2], 'MAXLEN', '~', '10000', '*', 'retry', text)
end
return 1
