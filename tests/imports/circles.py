"""Finds the import circles between the files of a crate and prints them."""

from collections import deque

from imports.modules import arrows, read_crate


def roots_of(source):
    """Returns the crate roots in a `src` folder: the library and the binary, each a module tree of its own."""
    return [file for file in (source / "lib.rs", source / "main.rs") if file.exists()]


def graph_of(source):
    """Returns the imports between the files of a `src` folder, by file and imported file."""
    graph = {}
    for root_file in roots_of(source):
        root = read_crate(root_file)
        for module in root.walk():
            graph.setdefault(module.file, {})
        for file, imported, use in arrows(root):
            graph[file].setdefault(imported, []).append(use)
    return graph


def circles_of(graph):
    """Returns the strongly connected components of at least two files, the largest first."""
    reach = {file: reachable(graph, file) for file in graph}
    circles = {frozenset({file} | {other for other in reach[file] if file in reach[other]})
               for file in graph if file in reach[file]}
    return sorted(circles, key=lambda circle: (-len(circle), min(circle)))


def reachable(graph, start):
    found, waiting = set(), deque(graph[start])
    while waiting:
        file = waiting.popleft()
        if file not in found:
            found.add(file)
            waiting.extend(graph[file])
    return found


def ways_round(graph, circle):
    """Returns the shortest ways round a circle that together cover each import inside the circle."""
    ways = set()
    for file in circle:
        for imported in graph[file]:
            if imported in circle:
                way = [file, *shortest_way(graph, circle, imported, file)]
                turn = way.index(min(way))
                ways.add(tuple(way[turn:] + way[:turn]))
    return sorted(ways, key=lambda way: (len(way), way))


def shortest_way(graph, circle, start, end):
    """Returns the files from `start` up to, without, `end`."""
    ways = deque([[start]])
    seen = {start}
    while ways:
        way = ways.popleft()
        for imported in sorted(graph[way[-1]]):
            if imported == end:
                return way
            if imported in circle and imported not in seen:
                seen.add(imported)
                ways.append([*way, imported])
    raise AssertionError("a circle is strongly connected")


def describe(graph, circle, source):
    """Yields the lines of the report on one circle: its files, the ways round, and the import behind each arrow."""
    def name(file):
        return str(file.relative_to(source))

    yield f"circle of {len(circle)} files: {', '.join(sorted(map(name, circle)))}"
    for way in ways_round(graph, circle):
        steps = list(zip(way, [*way[1:], way[0]]))
        yield "  " + " → ".join(map(name, [*way, way[0]]))
        for file, imported in steps:
            for use in graph[file][imported]:
                yield f"      {name(file)}:{use.line}: {use} → {name(imported)}"
