-- Acquires slots of a tool: as many of the requested ones as are free. An id that holds a slot keeps it, renewed.
--
-- KEYS[1]  the tool's slots: each holder's id, scored by the expiry of its slot (Unix milliseconds)
-- ARGV[1]  the number of slots      ARGV[2]  the lease of a slot, in milliseconds
-- ARGV[3+] ids, drawn by the caller
--
-- Expired slots are free again: their holder has ended, or was suspended. A holder that was suspended acquires free
-- slots again when it renews its own, so that its calls, which are still in flight, count. The bound always holds.
--
-- Returns the ids that hold a slot now. Repeating a request whose reply was lost takes no second slot.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local expiry = now + tonumber(ARGV[2])

-- The caller's slots are renewed before expired ones are dropped, so that none of them is dropped.
local holding = {}
local missing = {}
for i = 3, #ARGV do
  if redis.call('ZSCORE', KEYS[1], ARGV[i]) then
    redis.call('ZADD', KEYS[1], expiry, ARGV[i])
    holding[#holding + 1] = ARGV[i]
  else
    missing[#missing + 1] = ARGV[i]
  end
end

redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local free = tonumber(ARGV[1]) - redis.call('ZCARD', KEYS[1])
for _, id in ipairs(missing) do
  if free > 0 then
    redis.call('ZADD', KEYS[1], expiry, id)
    holding[#holding + 1] = id
    free = free - 1
  end
end

-- The key expires with its last slot.
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
if last[2] then
  redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', tonumber(last[2]) + 1))
end
return holding
