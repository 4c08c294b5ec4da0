// Every glyph of the interface, drawn on a 16 px square in the ink around it. `f` fills, the rest strokes 1.3 px.
export type GlyphName = keyof typeof GLYPHS;

interface Shape {
  d?: string; // stroked path
  f?: string; // filled path
  w?: number; // stroke width
  faint?: string; // stroked path at 55 %
  hole?: string; // stroke in the colour of the surface, over a filled path
}

export const GLYPHS = {
  // kinds of component
  input: { d: "M2.5 4.5h6.5M2.5 8h4M2.5 11.5h6.5M12 3.5v9M10.7 3.5h2.6M10.7 12.5h2.6" },
  output: { d: "M8.5 3h5v10h-5M2 8h7.5M7 5.2 9.8 8 7 10.8" },
  template: {
    d: "M5.5 2.5C4 2.5 4 3.6 4 5s0 3-1.5 3C4 8 4 9.6 4 11s0 2.5 1.5 2.5M10.5 2.5C12 2.5 12 3.6 12 5s0 3 1.5 3C12 8 12 9.6 12 11s0 2.5-1.5 2.5M7 8h2",
  },
  clean: { d: "M2.5 4h11M2.5 8h5.2M2.5 12h8M10.4 6.4l3.2 3.2M13.6 6.4l-3.2 3.2" },
  generate: {
    f: "M2.2 6h2.1a.6.6 0 0 1 .6.6v2.8a.6.6 0 0 1-.6.6H2.2a.6.6 0 0 1-.6-.6V6.6a.6.6 0 0 1 .6-.6zM6.6 6h2.1a.6.6 0 0 1 .6.6v2.8a.6.6 0 0 1-.6.6H6.6a.6.6 0 0 1-.6-.6V6.6a.6.6 0 0 1 .6-.6z",
    d: "M10.9 6.5h2.9v3h-2.9z",
    faint: "M1.6 13h12.8M1.6 3h12.8",
  },
  classify: {
    d: "M2 8h3M8 3.5H6.4v9H8M10.8 3.5h3M10.8 12.5h3",
    f: "M10 6.4h4a1.6 1.6 0 0 1 0 3.2h-4a1.6 1.6 0 0 1 0-3.2z",
  },
  branch: { d: "M2 8h4.5M6.5 8V4H13M6.5 8v4H13M11.2 2.2 13 4l-1.8 1.8M11.2 10.2 13 12l-1.8 1.8" },
  component: { d: "M3 3h10v10H3zM3 6.5h10" },
  // states
  idle: { d: "M11.2 8a3.2 3.2 0 1 1-6.4 0 3.2 3.2 0 0 1 6.4 0z" },
  queued: {
    d: "M8 3a5 5 0 0 1 1.6.26M11.9 4.9a5 5 0 0 1 .95 1.9M12.9 9a5 5 0 0 1-1 2.1M10.2 12.5a5 5 0 0 1-2.1.5M6 12.6a5 5 0 0 1-1.7-1.3M3.2 9.4a5 5 0 0 1 0-2.2M3.9 5.2a5 5 0 0 1 1.6-1.5",
    f: "M9.3 8a1.3 1.3 0 1 1-2.6 0 1.3 1.3 0 0 1 2.6 0z",
  },
  waiting: { d: "M13.2 8A5.2 5.2 0 1 1 2.8 8a5.2 5.2 0 0 1 10.4 0zM8 5.2V8l2 1.4" },
  running: { d: "M8 3a5 5 0 0 1 4.52 7.14", w: 2, faint: "M13 8A5 5 0 1 1 3 8a5 5 0 0 1 10 0z" },
  done: { d: "M3.2 8.4 6.5 11.6 12.9 4.6", w: 1.7 },
  skipped: {
    d: "M2 9.5C3.2 3.8 12.2 3.6 13.6 9M11.2 8l2.5 1.6L14.9 7",
    f: "M9.2 11.8a1.4 1.4 0 1 1-2.8 0 1.4 1.4 0 0 1 2.8 0z",
  },
  failed: { f: "M5.4 2h5.2L14 5.4v5.2L10.6 14H5.4L2 10.6V5.4z", hole: "M8 4.8v3.9M8 11.1v.1" },
  over: { f: "M1.5 5.75h8.2v4.5H1.5zM12.5 5.75H15v4.5h-2.5z", d: "M11 2.5v11", w: 1.6 },
  cancelled: { d: "M13 8A5 5 0 1 1 3 8a5 5 0 0 1 10 0z", f: "M6 6h4v4H6z" },
  disabled: { d: "M13 8A5 5 0 1 1 3 8a5 5 0 0 1 10 0zM4.5 11.5 11.5 4.5" },
  warn: { f: "M8 2 14.5 13.5h-13z", hole: "M8 6.3v3.2M8 11.6v.1" },
  // actions
  search: { d: "M11.2 7a4.2 4.2 0 1 1-8.4 0 4.2 4.2 0 0 1 8.4 0zM10.2 10.2 13.5 13.5" },
  down: { d: "M4.5 6.5 8 10l3.5-3.5" },
  up: { d: "M4.5 9.5 8 6l3.5 3.5" },
  right: { d: "M6.5 4.5 10 8l-3.5 3.5" },
  left: { d: "M9.5 4.5 6 8l3.5 3.5" },
  play: { f: "M4.5 2.8v10.4L13 8z" },
  stop: { f: "M5 4h6a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V5a1 1 0 0 1 1-1z" },
  plus: { d: "M8 3.5v9M3.5 8h9" },
  minus: { d: "M3.5 8h9" },
  x: { d: "M4.5 4.5l7 7M11.5 4.5l-7 7" },
  fit: { d: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10" },
  cursor: { d: "M3.5 2.5l9 4.3-3.9 1.3-1.4 4z" },
  hand: {
    d: "M4.5 8.5V5.2a1 1 0 0 1 2 0V7M6.5 7V3.8a1 1 0 0 1 2 0V7M8.5 7V4.5a1 1 0 0 1 2 0V8M10.5 8V6.4a1 1 0 0 1 2 0V10c0 2.3-1.5 3.8-3.8 3.8-2 0-2.9-.8-3.9-2.5L3 8.8",
  },
  copy: { d: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3" },
  theme: { d: "M13.3 8A5.3 5.3 0 1 1 2.7 8a5.3 5.3 0 0 1 10.6 0z", f: "M8 2.7a5.3 5.3 0 0 1 0 10.6z" },
  undo: { d: "M5.5 3 2.5 6l3 3M2.5 6h7a3.5 3.5 0 0 1 0 7H6" },
  redo: { d: "M10.5 3l3 3-3 3M13.5 6h-7a3.5 3.5 0 0 0 0 7H10" },
  reset: { d: "M3 8a5 5 0 1 0 1.6-3.7M2.8 2.6v2.6h2.6" },
  pencil: { d: "M3 13l.6-2.6L10.8 3.2l2 2L5.6 12.4zM9.4 4.6l2 2" },
  trash: { d: "M3 4.5h10M6 4.5V3h4v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5M6.9 7v3.5M9.1 7v3.5" },
  upload: { d: "M8 10V2.5M5 5.2 8 2.3l3 2.9M3 9v4.5h10V9" },
  download: { d: "M8 2.5V10M5 7.3l3 2.9 3-2.9M3 9.5v4h10v-4" },
  link: {
    d: "M6.7 9.3l2.6-2.6M7.2 4.8l1.3-1.3a2.8 2.8 0 0 1 4 4l-1.3 1.3M8.8 11.2l-1.3 1.3a2.8 2.8 0 0 1-4-4l1.3-1.3",
  },
  panel: { d: "M2.5 3h11v10h-11zM2.5 9.5h11" },
  keyboard: { d: "M1.5 4h13v8.5h-13zM4 6.6h.1M6.6 6.6h.1M9.2 6.6h.1M11.8 6.6h.1M4.8 9.9h6.4" },
  unlink: { d: "M4.5 4.5l7 7M11.5 4.5l-7 7" },
} as const satisfies Record<string, Shape>;

export const isGlyph = (name: string): name is GlyphName => Object.hasOwn(GLYPHS, name);
