"""Discounted games on the host: strategy improvement, and bounds that are certain."""

from jaxgames.discounted.host._bounds import Certain as Certain
from jaxgames.discounted.host._bounds import certain as certain
from jaxgames.discounted.host._improve import improve as improve
from jaxgames.discounted.host._verify import verify as verify
