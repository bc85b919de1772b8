-- Assigns a call to a model its turn, at once or later, and reserves the expected usage.
--
-- The generic cell rate algorithm (ITU-T I.371, "virtual scheduling") with calls of any size, once for each meter:
-- requests, all tokens, input tokens and output tokens. A meter is a bucket that is refilled evenly, stored as one
-- number: the time at which it will be full again. A call starts when all its buckets hold enough. A call larger
-- than a bucket starts when the bucket is full, and later calls wait the longer.
--
-- In any span of time, the calls started use no more than the span's share of the limit plus one bucket, apart from
-- calls larger than a bucket.
--
-- KEYS[1]  the model's limiter: <meter>:full (Unix microseconds), <meter>:limit (reported by the server, per minute),
--          paused (no call starts before), latest (the latest turn assigned)
-- ARGV[1]  longest wait of the caller       ARGV[2]  size of a bucket; both in microseconds
-- ARGV[3+] for each meter: the limit of the settings (0: none), the call's expected usage (0: the meter is unchanged)
--
-- Returns {1, microseconds to wait, the turn, and the limit of each meter (0: none)}; or {0, microseconds to wait} if
-- the wait is too long for the caller, and nothing has changed. A call without usage waits only for a pause.

local METERS = {'requests', 'tokens', 'input_tokens', 'output_tokens'}
local MINUTE, LONGEST, APART, KEPT = 60000000, 600000000, 50000, 3600000

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

-- A time too far ahead was written before the clock was set back, and is ignored.
local function moment(value)
  local at = tonumber(value) or 0
  return at <= now + 2 * LONGEST and at or 0
end

local times = redis.call('HMGET', KEYS[1], 'paused', 'latest')
local paused, latest = moment(times[1]), moment(times[2])

local start, meters = now, {}
for i, meter in ipairs(METERS) do
  local limit, units = tonumber(ARGV[2 * i + 1]), tonumber(ARGV[2 * i + 2])
  local known = redis.call('HMGET', KEYS[1], meter .. ':full', meter .. ':limit')
  local learned = tonumber(known[2]) or 0
  if limit == 0 or (learned > 0 and learned < limit) then
    limit = learned
  end
  meters[i] = {limit = limit, full = moment(known[1]), charge = 0}
  if limit > 0 and units > 0 then
    local interval = MINUTE / limit
    local bucket = math.max(tonumber(ARGV[2]), interval)
    local charge = math.min(units * interval, LONGEST)
    meters[i].charge = charge
    start = math.max(start, meters[i].full + math.min(charge, bucket) - bucket)
  end
end

-- After a pause calls start one by one, even if no limit is known.
if paused > now then
  start = math.max(start, paused)
  if latest >= paused then
    start = math.max(start, latest + APART)
  end
end

local wait = math.ceil(start - now)
if wait > math.min(tonumber(ARGV[1]), LONGEST) then
  return {0, wait}
end

local granted = {1, wait, string.format('%.0f', start)}
local fields = {'latest', string.format('%.0f', math.max(latest, start))}
for i, meter in ipairs(METERS) do
  granted[#granted + 1] = meters[i].limit
  if meters[i].charge > 0 then
    fields[#fields + 1] = meter .. ':full'
    fields[#fields + 1] = string.format('%.0f', math.ceil(math.max(start, meters[i].full) + meters[i].charge))
  end
end
redis.call('HSET', KEYS[1], unpack(fields))
redis.call('PEXPIRE', KEYS[1], KEPT)
return granted
