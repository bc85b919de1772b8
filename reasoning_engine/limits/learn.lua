-- Records the limits that a model's server reports.
--
-- KEYS[1]  the model's limiter, as in reserve.lua
-- ARGV[1]  length of a pause in which no call starts, in microseconds (0: no pause)
-- ARGV[2]  size of a bucket, in microseconds
-- ARGV[3+] for each meter: the limit of the settings (0: none), the server's (0: not reported), and the rest that the
--          server reports (-1: not reported)
--
-- The server's latest limit is stored. The rest that it reports can only empty a bucket: it does not include turns
-- that were assigned and not used yet.
--
-- Returns 1.

local METERS = {'requests', 'tokens', 'input_tokens', 'output_tokens'}
local MINUTE, LONGEST, KEPT = 60000000, 600000000, 3600000

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local fields = {}

local function moment(name)
  local at = tonumber(redis.call('HGET', KEYS[1], name) or '') or 0
  return at <= now + 2 * LONGEST and at or 0
end

local function put(name, value)
  fields[#fields + 1] = name
  fields[#fields + 1] = string.format('%.0f', value)
end

local pause = math.min(tonumber(ARGV[1]), LONGEST)
if pause > 0 then
  put('paused', math.max(moment('paused'), now + pause))
end

for i, meter in ipairs(METERS) do
  local limit, learned, left = tonumber(ARGV[3 * i]), tonumber(ARGV[3 * i + 1]), tonumber(ARGV[3 * i + 2])
  if learned > 0 then
    put(meter .. ':limit', learned)
  end
  if limit == 0 or (learned > 0 and learned < limit) then
    limit = learned
  end
  if left >= 0 and limit > 0 then
    local interval = MINUTE / limit
    local bucket = math.max(tonumber(ARGV[2]), interval)
    put(meter .. ':full', math.max(moment(meter .. ':full'), now + bucket - math.min(bucket, left * interval)))
  end
end

if #fields > 0 then
  redis.call('HSET', KEYS[1], unpack(fields))
  redis.call('PEXPIRE', KEYS[1], KEPT)
end
return 1
