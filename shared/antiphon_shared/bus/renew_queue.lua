-- Begins a queue anew whose ids an entry with an id of its own has carried into the future, once it is empty:
-- Redis gives no id below the last one, and none at all after the highest there is.
--
-- KEYS[1]  the queue    ARGV[1]  group
--
-- Returns 1 when it was begun anew, else 0.

if redis.call('XLEN', KEYS[1]) > 0 then
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('XGROUP', 'CREATE', KEYS[1], ARGV[1], '0', 'MKSTREAM')
return 1
