-- Resets a queue to the present, after an entry with a chosen id has moved its ids into the future and is gone:
-- Redis gives no id below the last one, and no id at all after the highest possible one.
--
-- KEYS[1]  the queue    ARGV[1]  group
--
-- Returns 1 when the queue was reset, 0 when it still has entries with ids in the future. All other entries that it
-- still has were delivered before the one that is gone.

if redis.call('XLEN', KEYS[1]) == 0 then
  redis.call('DEL', KEYS[1])
  redis.call('XGROUP', 'CREATE', KEYS[1], ARGV[1], '0', 'MKSTREAM')
  return 1
end
local time = redis.call('TIME')
local present = time[1] .. string.format('%03d', math.floor(time[2] / 1000)) .. '-0'
local reply = redis.pcall('XSETID', KEYS[1], present)
if type(reply) == 'table' and reply.err then
  return 0
end
redis.call('XGROUP', 'SETID', KEYS[1], ARGV[1], present)
return 1
