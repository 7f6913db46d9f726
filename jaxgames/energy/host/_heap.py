"""A heap of vertices with four children to a node, in two arrays."""

from jaxgames.energy.host._numbers import at, put
from jaxgames.host import compiled


@compiled
def push(keys, vertices, size, key, vertex):
    """Adds a vertex to a heap of that size; returns the new size."""
    place = size
    while place > 0:
        parent = (place - 1) >> 2
        above = at(keys, parent)
        if above <= key:
            break
        put(keys, place, above)
        vertices[place] = vertices[parent]
        place = parent
    put(keys, place, key)
    vertices[place] = vertex
    return size + 1


@compiled
def drop(keys, vertices, size):
    """Removes the first entry, which has the least key; returns the new size."""
    size -= 1
    key, vertex = at(keys, size), vertices[size]
    place = 0
    while True:
        first = 4 * place + 1
        if first >= size:
            break
        least, best = first, at(keys, first)
        for child in range(first + 1, min(first + 4, size)):
            other = at(keys, child)
            if other < best:
                least, best = child, other
        if best >= key:
            break
        put(keys, place, best)
        vertices[place] = vertices[least]
        place = least
    put(keys, place, key)
    vertices[place] = vertex
    return size
