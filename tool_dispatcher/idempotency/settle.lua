-- Ends a write: its outcomes go into its record and into the journal of its batch, in one step.
--
-- KEYS[1]  the record of the write
-- KEYS[2]  the journal of its batch
-- KEYS[3]  the session's writes, KEYS[4] their order: see begin.lua; neither in sessions of format 1
--
-- ARGV[1]  claimant     ARGV[2]  its fence
-- ARGV[3]  "settled", or "unknown" when it is not known whether the write took effect
-- ARGV[4]  tool         ARGV[5]  fingerprint of tool and arguments
-- ARGV[6]  life of the record, ARGV[7] of the journal, in milliseconds
-- ARGV[8]  with KEYS[3]: "ROUND/INDEX/KEY" of the write     ARGV[9]  "ROUND/ID" of its first call
-- ARGV[10+] for each call of the write: its entry in the journal, its outcome as JSON; with KEYS[3] also its identity,
--          and "done", "unknown", or "none" when it certainly had no effect
--
-- Returns 1; 0, and changes nothing, when the write was taken over: the new claimant's outcome counts. An expired
-- lease is no reason to refuse as long as it was not taken over. Repeating a settle whose reply was lost finds its
-- own claimant and returns 1. A record that Redis has lost in the meantime is written again: its claimant knows the
-- outcome. In the journal, the first outcome of a call counts.

local record = redis.call('HMGET', KEYS[1], 'state', 'claimant', 'fence')
local state, claimant, fence = record[1], record[2], record[3]
if state and (claimant ~= ARGV[1] or fence ~= ARGV[2]) then
  return 0
end
if state and state ~= 'in_progress' then
  return 1
end
redis.call('HLEN', KEYS[2]) -- fails, before anything is written, on a key of another type

local is_indexed = #KEYS > 2
local width = is_indexed and 4 or 2
local outcomes = {}
for i = 10, #ARGV, width do
  outcomes[#outcomes + 1] = ARGV[i + 1]
end
redis.call('HSET', KEYS[1], 'state', ARGV[3], 'claimant', ARGV[1], 'fence', ARGV[2], 'tool', ARGV[4],
  'fingerprint', ARGV[5], 'outcomes', '[' .. table.concat(outcomes, ',') .. ']')
redis.call('PEXPIRE', KEYS[1], ARGV[6])
for i = 10, #ARGV, width do
  redis.call('HSETNX', KEYS[2], ARGV[i], ARGV[i + 1])
end
redis.call('PEXPIRE', KEYS[2], ARGV[7])
if not is_indexed then
  return 1
end

local key, effect = string.match(ARGV[8], '^%d+/%d+/(.*)$'), '0'
for i = 10, #ARGV, width do
  local of, state = 'of:' .. ARGV[i + 2], ARGV[i + 3]
  local item = (i - 10) / width + 1
  local newest = redis.call('HGET', KEYS[3], of)
  if not newest or string.match(newest, '^%d+ %a+ (%S+)') == key then
    local text = string.format('%s %s %s %.0f', string.match(key, '(%d+)$'), state, key, item)
    redis.call('HSET', KEYS[3], of, text)
  end
  if state == 'unknown' or (state == 'done' and effect == '0') then
    effect = state == 'unknown' and '?' or '1'
  end
end
local time = redis.call('TIME')
local at = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('HSET', KEYS[1], 'at', at, 'effect', effect, 'member', ARGV[8])
redis.call('HSETNX', KEYS[1], 'by', ARGV[9])
if effect == '0' then
  redis.call('ZREM', KEYS[4], ARGV[8])
else
  redis.call('ZADD', KEYS[4], string.format('%.0f', redis.call('HINCRBY', KEYS[3], 'count', 1)), ARGV[8])
end
redis.call('PEXPIRE', KEYS[3], ARGV[6])
redis.call('PEXPIRE', KEYS[4], ARGV[6])
return 1
