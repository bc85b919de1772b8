-- Corrects a call's reservation to its actual usage.
--
-- Unused units are returned only as far as no later turn relies on them: turns already assigned are not moved, so a
-- bucket gets back at most the part after the latest of them. Excess usage is charged.
--
-- KEYS[1]  the model's limiter, as in reserve.lua
-- ARGV[1]  the call's turn, in Unix microseconds
-- ARGV[2+] for each meter, in microseconds of its refilling: usage beyond the reservation; below 0: less usage
--
-- Returns 1.

local METERS = {'requests', 'tokens', 'input_tokens', 'output_tokens'}
local LONGEST, KEPT = 600000000, 3600000

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local function moment(name)
  local at = tonumber(redis.call('HGET', KEYS[1], name) or '') or 0
  return at <= now + 2 * LONGEST and at or 0
end

local latest = moment('latest')
local later = math.max(0, latest - tonumber(ARGV[1]))

for i, meter in ipairs(METERS) do
  local change = tonumber(ARGV[i + 1])
  local full = moment(meter .. ':full')
  if change < 0 then
    full = full - math.max(0, -change - later)
  else
    full = math.max(now, full) + math.min(change, LONGEST)
  end
  if change ~= 0 then
    redis.call('HSET', KEYS[1], meter .. ':full', string.format('%.0f', math.min(full, now + 2 * LONGEST)))
    redis.call('PEXPIRE', KEYS[1], KEPT)
  end
end
return 1
