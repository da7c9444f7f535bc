-- offer: a living process tells what it last saw, after a loss.
--
-- KEYS and the head of ARGV: lib.lua, with all its gates. Then: the offer as JSON
-- {"views":{scope:{state,epoch,fence,paused,incident...}},"seen":{scope:epoch}}.
-- Reply: head, 1 when something is lost and the offer stands.

local offer = arg()
guard()
local lost = isLost(A.s)
for _, g in ipairs(gates) do if isLost(gateScope(g).s) then lost = true end end
if lost then redis.call('HSET', K.offers, caller, offer) end
tell()
return { head(), lost and '1' or '0' }
