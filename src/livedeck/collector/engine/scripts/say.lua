-- Publish rows of people, each once, however often it arrives. It needs no lease, because the order does not matter.
-- KEYS: said, said:ids. ARGV: ms to keep a row; then for each: uid, body
-- Returns: number of new rows
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local before = string.format('%.0f', now - tonumber(ARGV[1]))
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', before)
redis.call('XTRIM', KEYS[1], 'MINID', '~', before)
local news = 0
for index = 2, #ARGV, 2 do
  if redis.call('ZADD', KEYS[2], 'NX', string.format('%.0f', now), ARGV[index]) == 1 then
    redis.call('XADD', KEYS[1], '*', 'row', ARGV[index + 1])
    news = news + 1
  end
end
return news
