// Nodes on the system clipboard, as text around the bytes of a small .igb: what comes back is read as strictly as any file.

import type { Graph } from "../igb/graph";
import { EMPTY, Invalid, Malformed, read, write } from "../igb/igb";
import type { Clip } from "../state/edits";

const MARK = "spaces-nodes:";
const LONGEST = 8 * 1024 * 1024;

export function toClipboard(clip: Clip): string {
  const graph: Graph = {
    ...EMPTY,
    nodes: new Map(clip.nodes.map((node) => [node.id, node])),
    edges: clip.edges,
    positions: clip.positions,
    labels: clip.labels,
  };
  let binary = "";
  for (const byte of write(graph)) binary += String.fromCharCode(byte);
  return MARK + btoa(binary);
}

/** null: the text is not ours. */
export function fromClipboard(text: string): Clip | null {
  if (!text.startsWith(MARK) || text.length > LONGEST) return null;
  try {
    const binary = atob(text.slice(MARK.length));
    const { nodes, edges, positions, labels } = read(Uint8Array.from(binary, (char) => char.charCodeAt(0)));
    return { nodes: [...nodes.values()], edges, positions, labels };
  } catch (error) {
    if (error instanceof Malformed || error instanceof Invalid || error instanceof DOMException) return null;
    throw error;
  }
}
