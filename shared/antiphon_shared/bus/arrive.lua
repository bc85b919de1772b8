-- Admits a new query: opens its session at once if there is room and no query waits; otherwise queues it.
--
-- KEYS[1]  the session's log      KEYS[2]  the coordinator's inbox     KEYS[3]  the partition's feed
-- KEYS[4]  open sessions          KEYS[5]  all sessions
-- KEYS[6]  waiting queries        KEYS[7]  waiting tenants             KEYS[8]  waiting sessions of the tenant
-- KEYS[9]  deadlines of waiting sessions       KEYS[10]  turns
--
-- ARGV[1]  session id     ARGV[2]  event type      ARGV[3]  event
-- ARGV[4]  sessions that may be open at once       ARGV[5]  sessions that may wait
-- ARGV[6]  retention in milliseconds               ARGV[7]  length of the feed
-- ARGV[8]  tenant         ARGV[9]  when the query was submitted    ARGV[10]  its deadline, both Unix milliseconds
-- ARGV[11] signature in the log, ARGV[12] in the inbox             (if messages are signed)
--
-- Returns "sent"; "waiting"; "known" when the session exists or waits already; "overloaded" when too many wait. The
-- last two write nothing, so the script may be repeated. On a key of another type its first reads fail, before
-- anything is written.
--
-- When the queue is full, a tenant with less than its share may still queue, up to twice the bound in all, so that
-- one tenant's flood does not lock out the others. A new tenant gets its turn at the present virtual time, or later
-- if it has used turns ahead of that time; see admit.lua.

redis.call('XLEN', KEYS[2])
if redis.call('EXISTS', KEYS[1]) == 1 then
  return 'known'
end

local waiting = redis.call('HLEN', KEYS[6])
if waiting == 0 and redis.call('ZCARD', KEYS[4]) < tonumber(ARGV[4]) then
  redis.call('ZCARD', KEYS[5])
  local at = add(KEYS[1], ARGV[11], 'event', ARGV[3])
  local opened = string.match(at, '^%d+')
  redis.call('PEXPIRE', KEYS[1], ARGV[6])
  redis.call('ZADD', KEYS[4], opened, ARGV[1])
  redis.call('ZADD', KEYS[5], opened, ARGV[1])
  add(KEYS[2], ARGV[12], 'event', ARGV[3], 'log', at)
  try_append(KEYS[3], 'MAXLEN', '~', ARGV[7], '*', 'session', ARGV[1], 'type', ARGV[2], 'entry', at)
  return 'sent'
end
if redis.call('HEXISTS', KEYS[6], ARGV[1]) == 1 then
  return 'known'
end

local bound, mine, tenants = tonumber(ARGV[5]), redis.call('ZCARD', KEYS[8]), redis.call('ZCARD', KEYS[7])
if waiting >= bound then
  if mine == 0 then
    tenants = tenants + 1
  end
  if waiting >= 2 * bound or mine * tenants >= bound then
    return 'overloaded'
  end
end

redis.call('ZCARD', KEYS[9])
local present = tonumber(redis.call('ZSCORE', KEYS[10], '') or 0)
local earned = tonumber(redis.call('ZSCORE', KEYS[10], ARGV[8]) or 0)
redis.call('ZADD', KEYS[7], 'NX', math.max(present, earned), ARGV[8])
redis.call('ZADD', KEYS[8], ARGV[9], ARGV[1])
redis.call('ZADD', KEYS[9], ARGV[10], ARGV[1])
local header = table.concat({ ARGV[8], ARGV[2], ARGV[11] or '-', ARGV[12] or '-' }, ' ')
redis.call('HSET', KEYS[6], ARGV[1], header .. '\n' .. ARGV[3])
return 'waiting'
