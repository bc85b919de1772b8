-- Ends a write: its outcomes go into its record and into the journal of its batch, in one step.
--
-- KEYS[1]  the record of the write
-- KEYS[2]  the journal of its batch
--
-- ARGV[1]  claimant     ARGV[2]  its fence
-- ARGV[3]  "settled", or "unknown" when it cannot be told whether the write took effect
-- ARGV[4]  tool         ARGV[5]  fingerprint of tool and arguments
-- ARGV[6]  life of the record, ARGV[7] of the journal, in milliseconds
-- ARGV[8+] for each call of the write: its entry in the journal, its outcome as JSON
--
-- Returns 1; 0, and changes nothing, when somebody has taken the write over: what they find out counts. A lease
-- that has run out is no reason to refuse while nobody has. Repeating a settle whose reply was lost finds its
-- own claimant and is answered 1. A record that Redis has lost meanwhile is written anew: whoever was at it knows
-- what came of it. In the journal, whoever settled a call first is right.

local record = redis.call('HMGET', KEYS[1], 'state', 'claimant', 'fence')
local state, claimant, fence = record[1], record[2], record[3]
if state and (claimant ~= ARGV[1] or fence ~= ARGV[2]) then
  return 0
end
if state and state ~= 'in_progress' then
  return 1
end
redis.call('HLEN', KEYS[2]) -- fails, while nothing is written, on a key of another type

local outcomes = {}
for i = 8, #ARGV, 2 do
  outcomes[#outcomes + 1] = ARGV[i + 1]
end
redis.call('HSET', KEYS[1], 'state', ARGV[3], 'claimant', ARGV[1], 'fence', ARGV[2], 'tool', ARGV[4],
  'fingerprint', ARGV[5], 'outcomes', '[' .. table.concat(outcomes, ',') .. ']')
redis.call('PEXPIRE', KEYS[1], ARGV[6])
for i = 8, #ARGV, 2 do
  redis.call('HSETNX', KEYS[2], ARGV[i], ARGV[i + 1])
end
redis.call('PEXPIRE', KEYS[2], ARGV[7])
return 1
