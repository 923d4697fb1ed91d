import { describe, expect, it } from 'vitest';
import { sheetTriangles } from '../src/scene/shells';

describe('sheets', () => {
  it('have two triangles a face, which turn the same way', () => {
    const triangles = sheetTriangles({ rows: 2, columns: 3 });
    expect(triangles.length).toBe(2 * 3 * 2 * 3);
    expect(Math.max(...triangles)).toBe(11);
    const place = (vertex: number) => [vertex % 4, Math.floor(vertex / 4)] as const;
    let area = 0;
    for (let i = 0; i < triangles.length; i += 3) {
      const [a, b, c] = [place(triangles[i]!), place(triangles[i + 1]!), place(triangles[i + 2]!)];
      const twice = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
      expect(twice).toBe(1);
      area += twice / 2;
    }
    expect(area).toBe(6);
  });
});
