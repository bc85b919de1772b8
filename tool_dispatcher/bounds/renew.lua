-- Renews the slots that a process holds of a tool.
--
-- KEYS[1]  the tool's slots: each holder's id, scored by the expiry of its slot (Unix milliseconds)
-- ARGV[1]  the number of slots      ARGV[2]  the lease of a slot, in milliseconds
-- ARGV[3+] ids
--
-- If a slot expired while its holder was suspended, the holder acquires a free one again, so that its call, which is
-- still in flight, counts. The bound always holds.
--
-- Returns the ids for which no slot was free.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local expiry = now + tonumber(ARGV[2])

-- Our slots are renewed before expired ones are dropped, so that none of ours is dropped.
local lost = {}
local missing = {}
for i = 3, #ARGV do
  if redis.call('ZSCORE', KEYS[1], ARGV[i]) then
    redis.call('ZADD', KEYS[1], expiry, ARGV[i])
  else
    missing[#missing + 1] = ARGV[i]
  end
end

redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local free = tonumber(ARGV[1]) - redis.call('ZCARD', KEYS[1])
for _, id in ipairs(missing) do
  if free > 0 then
    redis.call('ZADD', KEYS[1], expiry, id)
    free = free - 1
  else
    lost[#lost + 1] = id
  end
end

-- The key expires with its last slot.
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
if last[2] then
  redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', tonumber(last[2]) + 1))
end
return lost
