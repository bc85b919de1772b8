-- Changes the state of one circuit breaker, if it is still the one that the caller has read. The caller decides
-- about the meaning of states.
--
-- KEYS[1]  breakers
-- ARGV[1]  name of the breaker              ARGV[2]  its state as read, '' when there was none
-- ARGV[3]  its new state, '' to delete it   ARGV[4]  breakers stored at most
-- Returns {outcome, state stored now}; the outcome is 'done', 'changed' (since it was read) or 'full'

local current = redis.call('HGET', KEYS[1], ARGV[1]) or ''
if current ~= ARGV[2] then return {'changed', current} end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
  return {'done', ''}
end
if current == '' and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then return {'full', ''} end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return {'done', ARGV[3]}
