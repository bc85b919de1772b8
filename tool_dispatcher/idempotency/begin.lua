-- Claims a write of a session by its identity: decides the key under which a call runs, or that it does not run.
--
-- KEYS[1]  the journal of its batch
-- KEYS[2]  stopped sessions, scored by the time of the stop
-- KEYS[3]  the session's writes: hash
--            count          counts claims and ends
--            call:ROUND/ID  "own KEY", "repeated KEY ITEM" or "between KEY OTHER": the decision on a call
--            of:IDENTITY    "ORDINAL STATE KEY ITEM": the newest write with this identity; STATE is open, done, unknown,
--                           or none if it certainly had no effect; ITEM counts the calls of one record from 1
-- KEYS[4]  their order: sorted set of "ROUND/INDEX/KEY" by the count at their end, infinite while they are open;
--          writes without effect are not in it
--
-- ARGV[1]  claimant: drawn for each claim      ARGV[2]  tool     ARGV[3]  fingerprint of tool and arguments
-- ARGV[4]  lease in milliseconds
-- ARGV[5]  life of the record, ARGV[6] of the journal, in milliseconds
-- ARGV[7]  session      ARGV[8]  when it requested the write, in Unix milliseconds
-- ARGV[9]  prefix of all records' keys, which are in the same slot
-- ARGV[10] the idempotency key without its ordinal
-- ARGV[11] "once": an identical write answers it; "again": a deliberate repetition; "next": each call is a new write
-- ARGV[12] round        ARGV[13] index of the first call in its batch
-- ARGV[14] "1" when a person has approved its repetition, whatever the outcome of the write before
-- ARGV[15+] for each call: its id, its journal entry for "begun", its identity
--
-- Returns an array:
--   {"claimed", key, fence}                     the right to run it
--   {"recorded", key}                           it has a record of its own, in any state: see status.lua
--   {"unsettled", key, item, state, by, at}     an identical write, or the write to be repeated, is open or unknown
--   {"repeated", key, item, by, at, outcomes}   an identical write answers it, and no other has come in between
--   {"between", key, item, by, at, other}       another write, `other` ("ROUND/INDEX/KEY"), has come in between
--   {"split"}                                   the calls of a group must run one by one
--   {"stopped"}                                 its session was stopped after the request; nothing is written
--
-- The decision is written at once, so that a worker that takes the batch over decides the same. A write is in
-- between when it was open after the identical one had been claimed; a later call of the same batch is not, nor is a
-- deliberate repetition of the same write.

local calls = {}
for i = 15, #ARGV, 3 do
  calls[#calls + 1] = { id = ARGV[i], begun = ARGV[i + 1], identity = ARGV[i + 2] }
end
local own_call = ARGV[12] .. '/' .. calls[1].id

local function decided(call)
  return redis.call('HGET', KEYS[3], 'call:' .. ARGV[12] .. '/' .. call.id)
end

local function newest(identity)
  local text = redis.call('HGET', KEYS[3], 'of:' .. identity)
  if not text then
    return nil
  end
  local ordinal, state, key, item = string.match(text, '^(%d+) (%a+) (%S+) (%d+)$')
  return { ordinal = tonumber(ordinal), state = state, key = key, item = tonumber(item) }
end

local function record(key)
  local found = redis.call('HMGET', ARGV[9] .. key, 'state', 'claimant', 'fence', 'effect', 'by', 'at', 'since', 'outcomes')
  return { state = found[1], claimant = found[2], fence = found[3], effect = found[4], by = found[5] or '',
    at = found[6] or '0', since = found[7] or '0', outcomes = found[8] or '' }
end

-- Returns the state of a record that the session's index lacks because the index was lost.
local function state_of(found)
  if not found.state then
    return 'none'
  end
  if found.state == 'in_progress' then
    return 'open'
  end
  return found.effect == '0' and 'none' or found.effect == '1' and 'done' or 'unknown'
end

local function between(key, since)
  for _, other in ipairs(redis.call('ZRANGEBYSCORE', KEYS[4], '(' .. since, '+inf')) do
    local round, index, name = string.match(other, '^(%d+)/(%d+)/(.*)$')
    local is_later = round == ARGV[12] and tonumber(index) > tonumber(ARGV[13])
    local is_same = string.sub(name, 1, #ARGV[10] + 1) == ARGV[10] .. '/'  -- another ordinal of the same write
    if name ~= key and not is_same and not is_later then
      return other
    end
  end
  return nil
end

-- The index must not expire before the records of the session's writes.
local function keep_index()
  redis.call('PEXPIRE', KEYS[3], ARGV[5])
  redis.call('PEXPIRE', KEYS[4], ARGV[5])
end

local function answered(verdict, key, item, other)
  local found = record(key)
  if verdict == 'between' then
    return { 'between', key, item, found.by, found.at, other }
  end
  return { 'repeated', key, item, found.by, found.at, found.outcomes }
end

local key
local fresh = true
if #calls > 1 then
  key = ARGV[10] .. '/1'
  local own = decided(calls[1]) == 'own ' .. key
  for _, call in ipairs(calls) do
    local verdict, write = decided(call), newest(call.identity)
    if own and verdict ~= 'own ' .. key then
      return { 'split' }
    end
    if not own and (verdict or (write and write.state ~= 'none')) then
      return { 'split' }
    end
  end
  local state = state_of(record(key))
  if not own and state ~= 'none' then
    return { 'split' }
  end
  fresh = not own
else
  local verdict = decided(calls[1])
  if verdict then
    local kind, of, rest = string.match(verdict, '^(%a+) (%S+) ?(.*)$')
    if kind == 'repeated' then
      return answered('repeated', of, tonumber(rest))
    elseif kind == 'between' then
      return answered('between', of, 1, rest)
    end
    key, fresh = of, false
  else
    local write = newest(calls[1].identity)
    if not write then
      local known = ARGV[10] .. '/1'
      write = { ordinal = 1, state = state_of(record(known)), key = known, item = 1 }
      if write.state == 'none' and ARGV[11] ~= 'once' then
        write.ordinal = 0
      end
    end
    if ARGV[11] == 'once' then
      key = ARGV[10] .. '/' .. write.ordinal
      if write.state == 'done' then
        local other = between(write.key, record(write.key).since)
        local decision = other and ('between ' .. write.key .. ' ' .. other) or ('repeated ' .. write.key .. ' ' .. write.item)
        redis.call('HSET', KEYS[3], 'call:' .. own_call, decision)
        keep_index()
        return answered(other and 'between' or 'repeated', write.key, write.item, other)
      elseif write.state ~= 'none' then
        local found = record(write.key)
        return { 'unsettled', write.key, write.item, write.state, found.by, found.at }
      end
    else
      local found = record(write.key)
      local here = string.sub(found.by, 1, #ARGV[12] + 1) == ARGV[12] .. '/'
      local uncertain = write.state == 'unknown' or (write.state == 'open' and not here)
      if ARGV[11] == 'again' and uncertain and ARGV[14] ~= '1' then
        return { 'unsettled', write.key, write.item, write.state, found.by, found.at }
      end
      local ordinal = write.ordinal
      repeat
        ordinal = ordinal + 1
        key = ARGV[10] .. '/' .. ordinal
      until not record(key).state
    end
  end
end

local found = record(key)
if not fresh and found.state and not (found.state == 'in_progress' and found.claimant == ARGV[1]) then
  return { 'recorded', key }
end

local is_lost = false
for _, call in ipairs(calls) do
  local is_begun = redis.call('HEXISTS', KEYS[1], call.begun) == 1
  is_lost = is_lost or (is_begun and (fresh or not found.state))
end
local stopped = tonumber(redis.call('ZSCORE', KEYS[2], ARGV[7]) or -1)
if fresh and not is_lost and stopped >= tonumber(ARGV[8]) then
  return { 'stopped' }
end

local is_again = not fresh and found.state
local ordinal = string.match(key, '(%d+)$')
local fence = found.fence or 1
if not is_again then
  fence = tonumber(found.fence or 0) + 1
  redis.call('HDEL', ARGV[9] .. key, 'outcomes', 'effect', 'at')
  local since = string.format('%.0f', redis.call('HINCRBY', KEYS[3], 'count', 1))
  redis.call('HSET', ARGV[9] .. key, 'since', since, 'by', own_call,
    'before', #calls == 1 and redis.call('HGET', KEYS[3], 'of:' .. calls[1].identity) or '')
end
local time = redis.call('TIME')
local lease_ends = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[4]
redis.call('HSET', ARGV[9] .. key, 'state', is_lost and 'unknown' or 'in_progress', 'claimant', ARGV[1],
  'fence', fence, 'tool', ARGV[2], 'fingerprint', ARGV[3], 'lease_ends', string.format('%.0f', lease_ends))
redis.call('PEXPIRE', ARGV[9] .. key, ARGV[5])
for item, call in ipairs(calls) do
  redis.call('HSET', KEYS[3], 'call:' .. ARGV[12] .. '/' .. call.id, 'own ' .. key,
    'of:' .. call.identity, ordinal .. (is_lost and ' unknown ' or ' open ') .. key .. ' ' .. item)
end
local member = ARGV[12] .. '/' .. ARGV[13] .. '/' .. key
redis.call('ZADD', KEYS[4], '+inf', member)
redis.call('HSET', ARGV[9] .. key, 'member', member)
keep_index()
if is_lost then
  return { 'recorded', key }
end
for _, call in ipairs(calls) do
  redis.call('HSETNX', KEYS[1], call.begun, ARGV[1])
end
redis.call('PEXPIRE', KEYS[1], ARGV[6])
return { 'claimed', key, tonumber(fence) }
