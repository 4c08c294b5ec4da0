// A graph as a schematic drawing: boxes where its nodes stand, square wires between them.

import { corners, path } from "../canvas/route";
import type { Graph } from "../igb/graph";

const WIDTH = 112;
const HEIGHT = 56;
const NODE = { width: 220, height: 150 };

export function Thumbnail({ graph }: { graph: Graph | null }) {
  if (!graph || graph.nodes.size === 0) return <svg className="thumb" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden />;
  const places = [...graph.nodes.keys()].map((id) => [id, graph.positions.get(id) ?? [0, 0]] as const);
  const place = new Map(places);
  const left = Math.min(...places.map(([, [x]]) => x));
  const top = Math.min(...places.map(([, [, y]]) => y));
  const right = Math.max(...places.map(([, [x]]) => x)) + NODE.width;
  const bottom = Math.max(...places.map(([, [, y]]) => y)) + NODE.height;
  const scale = Math.min((WIDTH - 16) / (right - left), (HEIGHT - 14) / (bottom - top), 0.16);
  const dx = (WIDTH - (right - left) * scale) / 2 - left * scale;
  const dy = (HEIGHT - (bottom - top) * scale) / 2 - top * scale;
  const at = ([x, y]: readonly [number, number]) => [x * scale + dx, y * scale + dy] as const;
  const wires = graph.edges.map((edge) => {
    const [sx, sy] = place.get(edge.source) ?? [0, 0];
    const [tx, ty] = place.get(edge.target) ?? [0, 0];
    return path(corners({ from: [sx + NODE.width, sy + 50], to: [tx, ty + 50] }).map((point) => at(point)));
  });
  return (
    <svg className="thumb" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden>
      {[...new Set(wires)].map((d) => (
        <path key={d} className="thumb-wire" d={d} />
      ))}
      {places.map(([id, point]) => {
        const [x, y] = at(point);
        return (
          <g key={id}>
            <rect className="thumb-node" x={x} y={y} width={NODE.width * scale} height={NODE.height * scale} rx={1} />
            <rect className="thumb-rail" x={x} y={y} width={NODE.width * scale} height={1.6} />
          </g>
        );
      })}
    </svg>
  );
}
