"""A heap of vertices with four children to a node, in two arrays."""

from jaxgames.host import compiled


@compiled
def push(keys, vertices, size, key, vertex):
    """Adds a vertex to a heap of that size; returns the new size."""
    place = size
    while place > 0:
        parent = (place - 1) >> 2
        if keys[parent] <= key:
            break
        keys[place], vertices[place] = keys[parent], vertices[parent]
        place = parent
    keys[place], vertices[place] = key, vertex
    return size + 1


@compiled
def drop(keys, vertices, size):
    """Removes the first entry, which has the least key; returns the new size."""
    size -= 1
    key, vertex = keys[size], vertices[size]
    place = 0
    while True:
        first = 4 * place + 1
        if first >= size:
            break
        least, best = first, keys[first]
        for child in range(first + 1, min(first + 4, size)):
            if keys[child] < best:
                least, best = child, keys[child]
        if best >= key:
            break
        keys[place], vertices[place] = best, vertices[least]
        place = least
    keys[place], vertices[place] = key, vertex
    return size
