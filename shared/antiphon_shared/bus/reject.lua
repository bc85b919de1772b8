-- Adds a submission to the rejected ones, once.
--
-- KEYS[1]  stream of rejections      KEYS[2]  marker of this submission
-- KEYS[3]  marker of its session id  (if it has one)
-- ARGV[1]  life of the markers in milliseconds      ARGV[2]  length of the stream
-- ARGV[3+] fields and values
--
-- Returns 1 when it was added, 0 when it had been added before.

if not redis.call('SET', KEYS[2], '1', 'NX', 'PX', ARGV[1]) then
  return 0
end
if KEYS[3] then
  redis.call('SET', KEYS[3], '1', 'PX', ARGV[1])
end
append(KEYS[1], 'MAXLEN', '~', ARGV[2], '*', unpack(ARGV, 3))
return 1
