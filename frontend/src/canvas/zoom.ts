// Three zoom levels with one footprint, and the viewport that shows a box.
import type { Box } from "./cards";

export type Level = "card" | "compact" | "box";
export const LEAST = 0.1;
export const MOST = 2;

export function levelOf(zoom: number): Level {
  if (zoom >= 0.75) return "card";
  return zoom >= 0.35 ? "compact" : "box";
}

export interface Viewport {
  x: number;
  y: number;
  zoom: number;
}

/** Centre a box in a pane with a margin; never larger than life. */
export function viewportOf(box: Box, pane: { width: number; height: number }, margin = 48, most = 1): Viewport {
  const wide = (pane.width - 2 * margin) / Math.max(box.width, 1);
  const high = (pane.height - 2 * margin) / Math.max(box.height, 1);
  const zoom = Math.min(Math.max(Math.min(wide, high), LEAST), most);
  return {
    zoom,
    x: Math.round(pane.width / 2 - (box.x + box.width / 2) * zoom),
    y: Math.round(pane.height / 2 - (box.y + box.height / 2) * zoom),
  };
}
