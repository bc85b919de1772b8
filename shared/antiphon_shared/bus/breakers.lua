-- Changes the state of one circuit breaker, if it is still the state that the caller has read. The script does not
-- interpret states.
--
-- KEYS[1]  breakers
-- ARGV[1]  name of the breaker              ARGV[2]  its state as read, '' if it had none
-- ARGV[3]  its new state, '' to delete it   ARGV[4]  the largest number of stored breakers
--
-- Returns {outcome, state stored now}. The outcome is 'done', 'changed' (since it was read) or 'full'.

local current = redis.call('HGET', KEYS[1], ARGV[1]) or ''
if current ~= ARGV[2] then return {'changed', current} end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
  return {'done', ''}
end
if current == '' and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then return {'full', ''} end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return {'done', ARGV[3]}
