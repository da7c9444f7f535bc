-- unlock: renews or gives up an operator's lock, where it is still the caller's.
--
-- KEYS and the head of ARGV: its own. KEYS[1] the lock. ARGV: the lock's value,
-- milliseconds to hold it for (0: give it up). Reply: 1 when it was the caller's.

if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if tonumber(ARGV[2]) > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
else
  redis.call('DEL', KEYS[1])
end
return 1
