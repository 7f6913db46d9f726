"""Energy parity games on the host: recursion over games that are solved by others."""

from jaxgames.energyparity.host._inner import WORD as WORD
from jaxgames.energyparity.host._inner import Inner as Inner
from jaxgames.energyparity.host._modes import modes_of as modes_of
from jaxgames.energyparity.host._modes import parted as parted
from jaxgames.energyparity.host._regions import Region as Region
from jaxgames.energyparity.host._regions import solve as solve
from jaxgames.energyparity.host._verify import verify as verify
