#!/usr/bin/env python3
"""Reads the .pvd and .vtp files of a folder with an XML parser, checks that sizes agree, and prints what they contain as JSON.

For polygons it prints the volume they enclose (divergence theorem), and whether the surface is closed and consistently oriented: every edge
is then used once in each direction.
"""
import base64
import json
import pathlib
import struct
import sys
import xml.etree.ElementTree as ET
from collections import Counter

CODES = {"Float32": ("f", 4), "Float64": ("d", 8), "Int64": ("q", 8)}


def values(array):
    code, size = CODES[array.get("type")]
    data = base64.b64decode(array.text, validate=True)
    (length,) = struct.unpack_from("<Q", data)
    assert length == len(data) - 8 and length % size == 0, "the header does not give the size of the data"
    return struct.unpack_from(f"<{length // size}{code}", data, 8)


def fields(section, count, where):
    found = {}
    for array in section:
        components = int(array.get("NumberOfComponents"))
        data = values(array)
        assert len(data) == count * components, f"{where}: field {array.get('Name')} has {len(data)} values"
        found[array.get("Name")] = [data[i : i + components] for i in range(0, len(data), components)]
    return found


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def measure(points, cells):
    edges = Counter((cell[i - 1], cell[i]) for cell in cells for i in range(len(cell)))
    closed = all(count == 1 and edges[(b, a)] == 1 for (a, b), count in edges.items())
    volume = 0.0
    for cell in cells:
        a = points[cell[0]]
        for i in range(1, len(cell) - 1):
            normal = cross(points[cell[i]], points[cell[i + 1]])
            volume += sum(x * n for x, n in zip(a, normal)) / 6
    return {"closed": closed, "volume": volume}


def read_poly_data(path):
    root = ET.parse(path).getroot()
    assert root.get("type") == "PolyData" and root.get("header_type") == "UInt64"
    piece = root.find("PolyData/Piece")
    count = int(piece.get("NumberOfPoints"))
    points = fields(piece.find("Points"), count, path)["points"]
    result = {"points": count}
    for kind in ("Verts", "Lines", "Strips", "Polys"):
        cells = int(piece.get(f"NumberOf{kind}"))
        section = piece.find(kind)
        assert (section is not None) == (cells > 0), f"{path}: {kind}"
        if cells == 0:
            continue
        arrays = {array.get("Name"): values(array) for array in section}
        connectivity, offsets = arrays["connectivity"], arrays["offsets"]
        assert len(offsets) == cells and offsets[-1] == len(connectivity)
        assert all(0 <= i < count for i in connectivity) and all(a < b for a, b in zip((0,) + offsets, offsets))
        lists = [connectivity[a:b] for a, b in zip((0,) + offsets, offsets)]
        result["cells"] = cells
        if kind == "Polys":
            result |= measure(points, lists)
        result["cell_fields"] = {name: data[0] for name, data in fields(piece.find("CellData"), cells, path).items()}
    result["point_fields"] = {name: data[-1] for name, data in fields(piece.find("PointData"), count, path).items()}
    result["last_point"] = points[-1]
    return result


def main():
    folder = pathlib.Path(sys.argv[1])
    report = {}
    for collection in sorted(folder.glob("*.pvd")):
        sets = ET.parse(collection).getroot().findall("Collection/DataSet")
        report[collection.stem] = [{"time": float(s.get("timestep"))} | read_poly_data(folder / s.get("file")) for s in sets]
    print(json.dumps(report))


if __name__ == "__main__":
    main()
