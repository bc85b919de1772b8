-- Removes a consumer from a group, if it holds no entry: XGROUP DELCONSUMER alone would drop its entries.
--
-- KEYS[1]  the inbox    ARGV[1]  group    ARGV[2]  the consumer
--
-- Returns 1 when it was removed, 0 when it still holds deliveries.

if #redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1, ARGV[2]) > 0 then
  return 0
end
redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
return 1
