-- Opens waiting sessions: those past their deadline, and as many more as there is room for, in fair order.
--
-- KEYS[1]  waiting queries        KEYS[2]  waiting tenants             KEYS[3]  deadlines of waiting sessions
-- KEYS[4]  turns                  KEYS[5]  open sessions               KEYS[6]  all sessions
-- KEYS[7]  the coordinator's inbox             KEYS[8]  the partition's feed
--
-- ARGV[1]  prefix of the partition's keys      ARGV[2]  sessions that may be open at once
-- ARGV[3]  sessions to open at most            ARGV[4]  retention in milliseconds     ARGV[5]  length of the feed
-- ARGV[6]  the cost of a turn in virtual time; ARGV[7+] a tenant, its own cost, and so on
--
-- The order is that of stride scheduling (Waldspurger and Weihl, 1995), which is start-time fair queueing (Goyal,
-- Vin and Cheng, 1996) with queries of one size: the tenant whose turn has the smallest virtual time is next, and
-- its following turn is 1/weight later. The present virtual time is that of the last turn. A tenant without waiting
-- queries keeps its next turn in `turns` until that is past, so that it gains nothing by submitting one by one.
-- `turns` also holds the present virtual time, under the empty name. When no query waits, `turns` is deleted.
--
-- Sessions opened because of their deadline do not count as open: they are opened only to be answered, and must not
-- take the room of others. A record that cannot be read becomes a dead letter without a description.
--
-- Returns {number of sessions that stopped waiting, number that still wait}. No waiting session is lost or opened
-- twice: it leaves the queue in the step that puts it into the inbox, and is dropped if its log exists already.

redis.call('XLEN', KEYS[7])
redis.call('ZCARD', KEYS[6])
redis.call('ZCARD', KEYS[4])
redis.call('ZCARD', KEYS[2])
local room = tonumber(ARGV[2]) - redis.call('ZCARD', KEYS[5])
local most = tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local costs = {}
for i = 7, #ARGV, 2 do
  costs[ARGV[i]] = tonumber(ARGV[i + 1])
end

local function list_of(tenant)
  return ARGV[1] .. 'waiting:of:' .. tenant
end

local function try_add(stream, signature, ...)
  if signature ~= '-' then
    return try_append(stream, '*', 'signature', signature, ...)
  end
  return try_append(stream, '*', ...)
end

local function open(session, record, is_counted)
  local log = ARGV[1] .. 'session:' .. session .. ':events'
  if redis.call('EXISTS', log) == 1 then
    return
  end
  local _, kind, of_log, of_inbox, event = string.match(record, '^(%S+) (%S+) (%S+) (%S+)\n(.*)$')
  local at = kind and try_add(log, of_log, 'event', event)
  if not at or is_error(at) then
    try_append(ARGV[1] .. 'dead', '*', 'letter', '', 'event', record)
    return
  end
  local opened = string.match(at, '^%d+')
  redis.call('PEXPIRE', log, ARGV[4])
  redis.call('ZADD', KEYS[6], opened, session)
  if is_counted then
    redis.call('ZADD', KEYS[5], opened, session)
    room = room - 1
  end
  try_add(KEYS[7], of_inbox, 'event', event, 'log', at)
  try_append(KEYS[8], 'MAXLEN', '~', ARGV[5], '*', 'session', session, 'type', kind, 'entry', at)
end

local function take_out(session, tenant, is_counted)
  local record = redis.call('HGET', KEYS[1], session)
  redis.call('HDEL', KEYS[1], session)
  redis.call('ZREM', KEYS[3], session)
  tenant = tenant or record and string.match(record, '^%S+')
  if tenant then
    redis.pcall('ZREM', list_of(tenant), session)
    if redis.pcall('EXISTS', list_of(tenant)) == 0 then
      local turn = redis.call('ZSCORE', KEYS[2], tenant)
      if turn then
        redis.call('ZREM', KEYS[2], tenant)
        redis.call('ZADD', KEYS[4], turn, tenant)
      end
    end
  end
  if record then
    open(session, record, is_counted)
  end
end

local taken = 0
for _, session in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now, 'LIMIT', 0, most)) do
  take_out(session, nil, false)
  taken = taken + 1
end

while room > 0 and taken < most do
  local first = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
  if not first[1] then
    break
  end
  local tenant, turn = first[1], tonumber(first[2])
  local oldest = redis.pcall('ZRANGE', list_of(tenant), 0, 0)
  if is_error(oldest) or not oldest[1] then
    redis.call('ZREM', KEYS[2], tenant)
  else
    redis.call('ZADD', KEYS[4], turn, '')
    redis.call('ZADD', KEYS[2], turn + (costs[tenant] or tonumber(ARGV[6])), tenant)
    take_out(oldest[1], tenant, true)
  end
  taken = taken + 1
end

local left = redis.call('HLEN', KEYS[1])
if left == 0 then
  redis.call('DEL', KEYS[4])
else
  local present = redis.call('ZSCORE', KEYS[4], '')
  if present then
    redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', '(' .. present)
  end
end
return { taken, left }
