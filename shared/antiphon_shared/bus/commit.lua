-- Commits one delivery in one atomic step: its outputs, its state change and its acknowledgement, or nothing.
--
-- KEYS[1]  the inbox of the delivery
-- KEYS[2]  the session's log
-- KEYS[3]  the partition's feed
-- KEYS[4]  timers            KEYS[5]  timer messages
-- KEYS[6]  open sessions
-- KEYS[7+] keys that operations refer to by their index
--
-- ARGV[1]  group     ARGV[2]  entry     ARGV[3]  session id
-- ARGV[4]  retention of the session's data, in milliseconds
-- ARGV[5]  length of the feed
-- ARGV[6+] operations, four arguments each: name, key index (0: none), a, b
--   once     handled events, the id of the input, -      (a duplicate if it is among them; else it is added)
--   unless   handled events, the id of the input, -      (the same, but it is not added)
--   put      document, version it was read with or "any", content
--   append   list, length it was read with or "any", item
--   link     list, prefix of its last item (16 bytes; empty for an empty list), item
--   ends     list, prefix of its last item, -     (nothing is added)
--   keep     0, milliseconds that are added to the retention, -
--   sign     0, signature in the log, signature in the inbox      (for the next event)
--   event    inbox or 0, type, event         -> log, feed, inbox
--   into     all sessions, id of another session, "open" or "known"           (for the next event)
--   send     log of the other session, type, event   (skipped if a session to open exists, or a known one does not)
--   answer   stream of responses, length, event
--   timer    0, name, "+delay_ms header\nevent" or "=unix_ms header\nevent"; see due.lua for the header
--   cancel   0, name, -
--   stop     stopped sessions, the largest number to keep, -     (after the events)
--   close    0, -, -                  reopen   0, -, -          (whether the session counts as open)
--   dead_letter   dead letters, length, "letter\nevent"
--   take     inbox, consumer, group      (after the events: the oldest new entry is delivered to the consumer)
--
-- Returns one of:
--   "committed"                   everything is written
--   list of {inbox, entry, fields}   everything is written, and these entries were taken
--   "duplicate"                   nothing is written: this entry, or another of the same event, has been finished
--   "conflict"                    nothing is written: a document has changed since it was read
--
-- An error does not roll a script back. So everything is checked before the first write (reading a key of another
-- type is an error), and the first write is the acknowledgement, whose result is the fence: the first finisher wins,
-- no matter which worker holds the lease. The feed is for observers; its errors are ignored.

local OPERATION = 4
local group, entry, session, retention = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local is_log_checked, are_timers_checked, is_handled = false, false, false
for i = 6, #ARGV, OPERATION do
  local name = ARGV[i]
  local stale = false
  if name == 'once' or name == 'unless' then
    is_handled = redis.call('SISMEMBER', KEYS[tonumber(ARGV[i + 1])], ARGV[i + 2]) == 1
  elseif name == 'put' then
    local version = redis.call('HGET', KEYS[tonumber(ARGV[i + 1])], 'version') or '0'
    stale = ARGV[i + 2] ~= 'any' and version ~= ARGV[i + 2]
  elseif name == 'append' then
    local length = redis.call('LLEN', KEYS[tonumber(ARGV[i + 1])])
    stale = ARGV[i + 2] ~= 'any' and length ~= tonumber(ARGV[i + 2])
  elseif name == 'link' or name == 'ends' then
    local last = redis.call('LINDEX', KEYS[tonumber(ARGV[i + 1])], -1)
    stale = string.sub(last or '', 1, 16) ~= ARGV[i + 2]
  elseif name == 'keep' then
    retention = retention + ARGV[i + 2]
  elseif name == 'timer' or name == 'cancel' then
    if not are_timers_checked then
      redis.call('ZCARD', KEYS[4])
      redis.call('HLEN', KEYS[5])
      are_timers_checked = true
    end
  elseif name == 'close' or name == 'reopen' then
    redis.call('ZCARD', KEYS[6])
  elseif name == 'into' then
    redis.call('ZCARD', KEYS[tonumber(ARGV[i + 1])])
  elseif name == 'stop' then
    redis.call('ZCARD', KEYS[tonumber(ARGV[i + 1])])
  elseif name ~= 'take' then
    if name == 'event' and not is_log_checked then
      redis.call('XLEN', KEYS[2])
      is_log_checked = true
    end
    if ARGV[i + 1] ~= '0' then
      redis.call('XLEN', KEYS[tonumber(ARGV[i + 1])])
    end
  end
  if stale and not is_handled then
    local pending = redis.pcall('XPENDING', KEYS[1], group, entry, entry, 1)
    return pending[1] and 'conflict' or 'duplicate'
  end
end

if redis.call('XACK', KEYS[1], group, entry) == 0 then
  return 'duplicate'
end
redis.call('XDEL', KEYS[1], entry)
if is_handled then
  return 'duplicate'
end

local now
local function milliseconds()
  if not now then
    local time = redis.call('TIME')
    now = time[1] * 1000 + math.floor(time[2] / 1000)
  end
  return now
end

local of_log, of_inbox
local sessions, other, mode
local logged = 0
local taken = {}
for i = 6, #ARGV, OPERATION do
  local name, key, a, b = ARGV[i], KEYS[tonumber(ARGV[i + 1])], ARGV[i + 2], ARGV[i + 3]
  if name == 'sign' then
    of_log, of_inbox = a, b
  elseif name == 'event' then
    local at = add(KEYS[2], of_log, 'event', b)
    logged = tonumber(string.match(at, '^%d+'))
    try_append(KEYS[3], 'MAXLEN', '~', ARGV[5], '*', 'session', session, 'type', a, 'entry', at)
    if key then
      add(key, of_inbox, 'event', b, 'log', at)
    end
    of_log, of_inbox = nil, nil
  elseif name == 'into' then
    sessions, other, mode = key, a, b
  elseif name == 'send' then
    if (redis.call('EXISTS', key) == 1) == (mode == 'known') then
      local at = add(key, of_log, 'event', b)
      keep_for(key, retention)
      if mode == 'open' then
        redis.call('ZADD', sessions, milliseconds(), other)
      end
      add(KEYS[1], of_inbox, 'event', b, 'log', at)
      try_append(KEYS[3], 'MAXLEN', '~', ARGV[5], '*', 'session', other, 'type', a, 'entry', at)
    end
    of_log, of_inbox = nil, nil
  elseif name == 'once' then
    redis.call('SADD', key, a)
    keep_for(key, retention)
  elseif name == 'put' then
    keep_for(key, retention, redis.call('HSET', key, 'version', a == 'any' and 1 or a + 1, 'content', b) == 2)
  elseif name == 'append' or name == 'link' then
    keep_for(key, retention, redis.call('RPUSH', key, b) == 1)
  elseif name == 'answer' then
    append(key, 'MAXLEN', '~', a, '*', 'session_id', session, 'event', b)
  elseif name == 'timer' then
    local sign, due, message = string.match(b, '^([+=])(%d+) (.*)$')
    if sign == '+' then
      due = milliseconds() + due
    end
    redis.call('ZADD', KEYS[4], due, session .. '/' .. a)
    redis.call('HSET', KEYS[5], session .. '/' .. a, message)
  elseif name == 'cancel' then
    redis.call('ZREM', KEYS[4], session .. '/' .. a)
    redis.call('HDEL', KEYS[5], session .. '/' .. a)
  elseif name == 'close' then
    redis.call('ZREM', KEYS[6], session)
  elseif name == 'stop' then
    -- The time of the stop holds two conditions, also if the clock goes back. It is not before the session's latest
    -- request: later requests belong to a later session with the same id. It is after every earlier stop: a reader
    -- that asks for newer stops misses none.
    local newest = tonumber(redis.call('ZRANGE', key, -1, -1, 'WITHSCORES')[2] or 0)
    local at = math.max(milliseconds(), logged, newest + 1)
    redis.call('ZADD', key, at, session)
    redis.call('ZREMRANGEBYSCORE', key, '-inf', at - retention)
    redis.call('ZREMRANGEBYRANK', key, 0, -1 - a)
    redis.call('PEXPIRE', key, retention)
  elseif name == 'reopen' then
    redis.call('ZADD', KEYS[6], milliseconds(), session)
  elseif name == 'dead_letter' then
    local letter, event = string.match(b, '^([^\n]*)\n(.*)$')
    append(key, 'MAXLEN', '~', a, '*', 'letter', letter, 'event', event)
  elseif name == 'take' then
    -- Without the group, the entry waits for the reader, which creates it.
    local read = redis.pcall('XREADGROUP', 'GROUP', b, a, 'COUNT', 1, 'STREAMS', key, '>')
    if read and not is_error(read) then
      local entry = read[1][2][1]
      taken[#taken + 1] = { key, entry[1], entry[2] }
    end
  end
end
if session ~= '-' then
  -- The log outlives the session's other data: without a log, the session's id is free again.
  keep_for(KEYS[2], retention)
end
return taken[1] and taken or 'committed'
