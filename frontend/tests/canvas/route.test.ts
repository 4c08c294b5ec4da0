import { expect, test } from "vitest";
import { corners, crosses, labelAt, type Point, path, STUB } from "../../src/canvas/route";

const square = (points: readonly Point[]) =>
  points.every((point, i) => i === 0 || point[0] === points[i - 1]?.[0] || point[1] === points[i - 1]?.[1]);

test("a level wire is one line", () => {
  expect(corners({ from: [0, 50], to: [100, 50] })).toEqual([
    [0, 50],
    [100, 50],
  ]);
});

test("a wire to the right falls beside its source and keeps a stub at both ends", () => {
  const points = corners({ from: [0, 0], to: [200, 80] });
  expect(points).toEqual([
    [0, 0],
    [14, 0],
    [14, 80],
    [200, 80],
  ]);
  expect(square(points)).toBe(true);
});

test("a second output falls in a lane of its own", () => {
  expect(corners({ from: [0, 20], to: [200, 80], lane: 1 })[1]).toEqual([22, 20]);
});

test("a late wire falls beside its target", () => {
  expect(corners({ from: [0, 0], to: [200, 80], late: true })[1]).toEqual([186, 0]);
});

test("in a narrow gap the fall still leaves the stub before the target", () => {
  const [, bend] = corners({ from: [0, 0], to: [26, 80], lane: 3 });
  expect(bend?.[0]).toBeLessThanOrEqual(26 - STUB);
  expect(bend?.[0]).toBeGreaterThanOrEqual(STUB);
});

test("a wire to the left goes out, around between the cards, and in", () => {
  const points = corners({ from: [300, 0], to: [100, 200], between: 120 });
  expect(points).toEqual([
    [300, 0],
    [314, 0],
    [314, 120],
    [86, 120],
    [86, 200],
    [100, 200],
  ]);
  expect(square(points)).toBe(true);
});

test("corners are rounded by 7, or by half of a shorter leg", () => {
  expect(path(corners({ from: [0, 0], to: [200, 80] }))).toBe("M0 0L7 0Q14 0 14 7L14 73Q14 80 21 80L200 80");
  expect(path(corners({ from: [0, 0], to: [200, 4] }))).toBe("M0 0L12 0Q14 0 14 2L14 2Q14 4 16 4L200 4");
});

test("the count stands over the arriving end, over the middle of a short line, and clear of a late fall", () => {
  expect(labelAt(corners({ from: [0, 0], to: [200, 80] }))).toEqual({ x: 192, y: 75, anchor: "end" });
  expect(labelAt(corners({ from: [0, 50], to: [60, 50] }))).toEqual({ x: 30, y: 45, anchor: "middle" });
  expect(labelAt(corners({ from: [300, 0], to: [100, 200] }))).toEqual({ x: 80, y: 190, anchor: "end" });
});

test("a wire crosses a card that stands in its way, and none that it only passes", () => {
  const points = corners({ from: [0, 0], to: [300, 80] });
  expect(crosses(points, { x: 100, y: 60, width: 50, height: 50 })).toBe(true);
  expect(crosses(points, { x: 100, y: 81, width: 50, height: 50 })).toBe(false);
});

test("where there is no room for two stubs the wire falls half way", () => {
  expect(corners({ from: [0, 0], to: [20, 80] })).toEqual([
    [0, 0],
    [10, 0],
    [10, 80],
    [20, 80],
  ]);
});
