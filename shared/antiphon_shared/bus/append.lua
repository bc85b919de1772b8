-- Functions that append to streams and extend the life of keys. scripts.py prepends them to scripts that use them.
--
-- After an entry with the highest possible id Redis never adds another one, and any client with write access to a
-- stream may have added it. So entries of that last millisecond are removed, which makes them dead letters without a
-- description, and the stream continues at the present.

local LAST_MS = '18446744073709551615'
local HIGHEST = LAST_MS .. '-' .. LAST_MS

local function is_error(reply)
  return type(reply) == 'table' and reply.err ~= nil
end

-- Returns whether the entry was delivered, as far as can be determined.
local function remove(stream, group, id, fields)
  local is_delivered = group and redis.call('XACK', stream, group, id) == 1
  if redis.call('XDEL', stream, id) == 1 then
    local dead = string.match(stream, '^(.-{%d+}:)')
    redis.pcall('XADD', (dead or stream) .. 'dead', '*', 'letter', '', 'event', table.concat(fields, '\n'))
  elseif id == HIGHEST then
    return true  -- an inbox loses an entry only after it and all earlier entries were delivered
  end
  return is_delivered
end

local function begin_anew(stream)
  local group = string.match(stream, ':inbox:([^:]+)$')
  local late = redis.pcall('XRANGE', stream, LAST_MS .. '-0', '+')
  if is_error(late) then
    late = {}  -- no permission to read it: the highest is removed unread
  end
  if not late[1] or late[#late][1] ~= HIGHEST then
    late[#late + 1] = { HIGHEST, { 'An entry with the highest id there is.' } }
  end
  local are_delivered = false
  for _, entry in ipairs(late) do
    are_delivered = remove(stream, group, entry[1], entry[2]) or are_delivered
  end
  local time = redis.call('TIME')
  local last = time[1] .. string.format('%03d', math.floor(time[2] / 1000)) .. '-0'
  if is_error(redis.pcall('XSETID', stream, last)) then
    -- Other entries have ids in the future.
    local top = redis.pcall('XREVRANGE', stream, '+', '-', 'COUNT', 1)
    last = is_error(top) and LAST_MS .. '-0' or top[1][1]
    redis.call('XSETID', stream, last)
  end
  if group and are_delivered then
    redis.pcall('XGROUP', 'SETID', stream, group, last)
  end
end

-- Appends as XADD does; returns the new entry's id, or an error.
local function try_append(stream, ...)
  local at = redis.pcall('XADD', stream, ...)
  if is_error(at) and string.find(tostring(at.err), 'exhausted', 1, true) then
    begin_anew(stream)
    return redis.pcall('XADD', stream, ...)
  end
  return at
end

local function append(stream, ...)
  local at = try_append(stream, ...)
  return is_error(at) and redis.call('XADD', stream, ...) or at
end

-- Returns the fields of an entry, with its signature if it has one.
local function add(stream, signature, ...)
  if signature then
    return append(stream, '*', 'signature', signature, ...)
  end
  return append(stream, '*', ...)
end

-- Sets a key's life to a number of milliseconds from now, unless it is longer already. A new key has no expiry yet.
local function keep_for(key, milliseconds, is_new)
  if is_new then
    redis.call('PEXPIRE', key, milliseconds)
  elseif redis.call('PEXPIRE', key, milliseconds, 'GT') == 0 then
    redis.call('PEXPIRE', key, milliseconds, 'NX')
  end
end
