-- Acquires slots of a tool: as many of the requested ones as are free.
--
-- KEYS[1]  the tool's slots: each holder's id, scored by the expiry of its slot (Unix milliseconds)
-- ARGV[1]  the number of slots      ARGV[2]  the lease of a slot, in milliseconds
-- ARGV[3+] ids, drawn by the caller
--
-- Expired slots are free again: their holder has ended, or was suspended.
--
-- Returns the ids that hold a slot now. An id that holds one already keeps it, so repeating a request whose reply was
-- lost takes no second slot.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local expiry = now + tonumber(ARGV[2])

redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local free = tonumber(ARGV[1]) - redis.call('ZCARD', KEYS[1])

local taken = {}
for i = 3, #ARGV do
  local is_mine = redis.call('ZSCORE', KEYS[1], ARGV[i])
  if is_mine or free > 0 then
    redis.call('ZADD', KEYS[1], expiry, ARGV[i])
    taken[#taken + 1] = ARGV[i]
    free = is_mine and free or free - 1
  end
end

-- The key expires with its last slot.
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
if last[2] then
  redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', tonumber(last[2]) + 1))
end
return taken
