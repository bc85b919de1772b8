-- Claims an unclaimed write whose key is given, as in runs and in sessions of format 1; begin.lua claims the others.
--
-- KEYS[1]  the record of the write
-- KEYS[2]  the journal of its batch
-- KEYS[3]  stopped sessions, scored by the time of the stop
--
-- ARGV[1]  claimant: drawn for each claim      ARGV[2]  tool     ARGV[3]  fingerprint of tool and arguments
-- ARGV[4]  lease in milliseconds
-- ARGV[5]  life of the record, ARGV[6] of the journal, in milliseconds
-- ARGV[7]  session      ARGV[8]  when it requested the write, in Unix milliseconds
-- ARGV[9+] journal entries that say that a call of this write has begun
--
-- Returns one of:
--   the claim's fence, a number
--   "recorded"   there is a record already, in any state (see status.lua)
--   "mismatch"   the record is that of another tool or of other arguments; nothing is written
--   "stopped"    the write has not begun, and its session was stopped after the request; nothing is written
--
-- The session's end and its stop are one commit, so an assembler that composes its answer after that finds in the
-- journal every write that has begun.
--
-- Repeating a claim whose reply was lost finds its own claimant, and restarts the lease. A journal that says "begun"
-- without a record means that the record was lost, or that the call was planned differently before. The outcome is
-- not known, so the record is written as unknown, and the write does not run.

local record = redis.call('HMGET', KEYS[1], 'state', 'claimant', 'fence', 'tool', 'fingerprint')
local state, claimant, fence = record[1], record[2], record[3]
if state and (record[4] ~= ARGV[2] or record[5] ~= ARGV[3]) then
  return 'mismatch'
end
if state and (state ~= 'in_progress' or claimant ~= ARGV[1]) then
  return 'recorded'
end

local is_lost = false
for i = 9, #ARGV do
  local is_begun = redis.call('HEXISTS', KEYS[2], ARGV[i]) == 1
  is_lost = is_lost or (is_begun and not state)
end
local stopped = tonumber(redis.call('ZSCORE', KEYS[3], ARGV[7]) or -1)
if not state and not is_lost and stopped >= tonumber(ARGV[8]) then
  return 'stopped'
end

local time = redis.call('TIME')
local lease_ends = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[4]
redis.call('HSET', KEYS[1], 'state', is_lost and 'unknown' or 'in_progress', 'claimant', ARGV[1],
  'fence', fence or 1, 'tool', ARGV[2], 'fingerprint', ARGV[3], 'lease_ends', string.format('%.0f', lease_ends))
redis.call('PEXPIRE', KEYS[1], ARGV[5])
if is_lost then
  return 'recorded'
end
for i = 9, #ARGV do
  redis.call('HSETNX', KEYS[2], ARGV[i], ARGV[1])
end
redis.call('PEXPIRE', KEYS[2], ARGV[6])
return tonumber(fence or 1)
