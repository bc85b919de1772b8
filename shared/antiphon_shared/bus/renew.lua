-- Renews the leases of a worker on its deliveries in flight, or hands them back.
--
-- KEYS[1]  the inbox
-- ARGV[1]  group    ARGV[2]  the consumer
-- ARGV[3]  idle time to set, in milliseconds: 0 renews; a lease or more hands the delivery back at once
-- ARGV[4]  the change of the delivery count: 0; 1 when a handler begins after waiting for its turn; -1 when it is
--          handed back, which must not count
-- ARGV[5+] entries
--
-- Returns the entries that no longer belong to the worker. The script leaves them unchanged: without this check, a
-- claim would steal them back from the worker that took over.

local lost = {}
for i = 5, #ARGV do
  local mine = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[i], ARGV[i], 1, ARGV[2])
  if #mine == 0 then
    lost[#lost + 1] = ARGV[i]
  else
    local deliveries = math.max(0, mine[1][4] + ARGV[4])
    redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[i], 'IDLE', ARGV[3], 'RETRYCOUNT', deliveries, 'JUSTID')
  end
end
return lost
