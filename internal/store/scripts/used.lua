-- used: how many slots were taken in the window that ends now. It reads only.
--
-- KEYS and the head of ARGV: lib.lua. Reply: the number.

if not A.s or A.s.slots_n == 0 then return '0' end
return str(usedSlots(A.s.slots_per))
