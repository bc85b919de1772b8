-- Admits a call of a rate-limited tool, at once or at the time of its turn.
--
-- The generic cell rate algorithm (ITU-T I.371, "virtual scheduling") stores one number, the theoretical arrival time:
-- the time at which the next call would begin if all calls came evenly. A call may come earlier by a tolerance, which
-- allows a burst.
--
-- KEYS[1]  the tool's theoretical arrival time, in Unix microseconds
-- ARGV[1]  the time between two calls, in microseconds     ARGV[2]  calls of a burst
-- ARGV[3]  longest wait of the caller, in microseconds
--
-- Returns {1, microseconds to wait} if the call is admitted and has its turn; {0, microseconds to wait} if the turn
-- would be later than the caller can wait, and nothing has changed. Repeating a request whose reply was lost takes a
-- second turn, which wastes a little of the rate and never exceeds it.

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval = tonumber(ARGV[1])

local arrival = math.max(now, tonumber(redis.call('GET', KEYS[1]) or '') or 0)
local wait = math.max(0, arrival - interval * (tonumber(ARGV[2]) - 1) - now)
if wait > tonumber(ARGV[3]) then
  return {0, math.ceil(wait)}
end

local next_arrival = arrival + interval
local lifetime = math.ceil((next_arrival - now) / 1000)
redis.call('SET', KEYS[1], string.format('%.0f', next_arrival), 'PX', math.max(1, lifetime))
return {1, math.ceil(wait)}
