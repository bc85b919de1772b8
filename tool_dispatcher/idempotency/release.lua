-- Takes a claim back under which nothing has begun: from in_progress to nothing.
--
-- KEYS[1]  the record of the write
-- KEYS[2]  the journal of its batch
-- ARGV[1]  claimant      ARGV[2+] the journal entries that say that a call of this write has begun
--
-- Returns 1; 0, and changes nothing, when the record is another claimant's, or settled: what it says holds.

local record = redis.call('HMGET', KEYS[1], 'state', 'claimant')
if record[1] ~= 'in_progress' or record[2] ~= ARGV[1] then
  return 0
end
redis.call('DEL', KEYS[1])
for i = 2, #ARGV do
  if redis.call('HGET', KEYS[2], ARGV[i]) == ARGV[1] then
    redis.call('HDEL', KEYS[2], ARGV[i])
  end
end
return 1
