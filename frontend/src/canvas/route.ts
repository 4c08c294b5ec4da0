// Square routing of a wire: right angles with radius 7, a stub of at least 12 at both ends.
const RADIUS = 7;
export const STUB = 12;

export type Point = readonly [x: number, y: number];

export interface Ends {
  from: Point;
  to: Point;
  lane?: number; // which of the source's outputs, so that their falls stand apart
  late?: boolean; // fall beside the target instead of beside the source
  between?: number | null; // height of the way back, when the target stands to the left
}

/** Corners of the wire, ends included; each neighbour differs in one coordinate. */
export function corners({ from, to, lane = 0, late = false, between = null }: Ends): Point[] {
  const [x0, y0] = from;
  const [x1, y1] = to;
  const shift = STUB + 2 + lane * 8;
  if (x1 - x0 >= STUB) {
    if (y0 === y1) return [from, to];
    if (x1 - x0 < 2 * STUB) {
      const half = (x0 + x1) / 2; // too narrow for both stubs: it falls half way
      return [from, [half, y0], [half, y1], to];
    }
    const most = x1 - STUB;
    const middle = late ? Math.max(x0 + STUB, x1 - shift) : Math.min(x0 + shift, Math.max(most, x0 + STUB));
    return [from, [middle, y0], [middle, y1], to];
  }
  // The target stands to the left: out, around between the two, and in.
  const out = x0 + shift;
  const into = x1 - shift;
  const back = between ?? (Math.abs(y1 - y0) > 4 * RADIUS ? (y0 + y1) / 2 : Math.max(y0, y1) + 96);
  return [from, [out, y0], [out, back], [into, back], [into, y1], to];
}

/** SVG path through the corners, each rounded by at most half of its shorter leg. */
export function path(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  let d = `M${first[0]} ${first[1]}`;
  for (let i = 0; i < rest.length; i += 1) {
    const at = rest[i] as Point;
    const next = rest[i + 1];
    const last = points[i] as Point;
    if (!next) {
      d += `L${at[0]} ${at[1]}`;
      continue;
    }
    const r = Math.min(RADIUS, length(last, at) / 2, length(at, next) / 2);
    const enter = toward(at, last, r);
    const leave = toward(at, next, r);
    d += `L${enter[0]} ${enter[1]}Q${at[0]} ${at[1]} ${leave[0]} ${leave[1]}`;
  }
  return d;
}

const length = (a: Point, b: Point): number => Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]);

function toward(at: Point, other: Point, by: number): Point {
  return [at[0] + Math.sign(other[0] - at[0]) * by, at[1] + Math.sign(other[1] - at[1]) * by];
}

/** Where the count sits: above the arriving end, or above the middle of a short straight wire. */
export function labelAt(points: readonly Point[]): { x: number; y: number; anchor: "end" | "middle" } {
  const to = points[points.length - 1] as Point;
  const bend = points[points.length - 2] as Point;
  const run = to[0] - bend[0];
  if (points.length === 2 && run < 120) return { x: (to[0] + bend[0]) / 2, y: to[1] - 5, anchor: "middle" };
  if (run < 48) return { x: bend[0] - 6, y: to[1] - 10, anchor: "end" };
  return { x: to[0] - 8, y: to[1] - 5, anchor: "end" };
}

/** The middle of the wire's middle level or fall. */
export function middleOf(points: readonly Point[]): Point {
  const at = Math.floor(points.length / 2);
  const [[ax, ay], [bx, by]] = [points[at - 1] as Point, points[at] as Point];
  return [(ax + bx) / 2, (ay + by) / 2];
}

/** Does the wire's last level run through a box? Used to choose the side on which it falls. */
export function crosses(
  points: readonly Point[],
  box: { x: number; y: number; width: number; height: number },
): boolean {
  for (let i = 1; i < points.length; i += 1) {
    const [ax, ay] = points[i - 1] as Point;
    const [bx, by] = points[i] as Point;
    const apart =
      Math.max(ax, bx) <= box.x ||
      Math.min(ax, bx) >= box.x + box.width ||
      Math.max(ay, by) <= box.y ||
      Math.min(ay, by) >= box.y + box.height;
    if (!apart) return true;
  }
  return false;
}
