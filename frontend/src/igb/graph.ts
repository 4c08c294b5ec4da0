// A graph and its ops, as `docs/formats.md` §2 and §3 define them. Values only.
export type Id = string;
export type Value =
  | null
  | boolean
  | number
  | string
  | Uint8Array
  | readonly Value[]
  | ReadonlyMap<string | number, Value>;

export interface GraphNode {
  readonly id: Id;
  readonly component: string;
  readonly version: number;
  readonly params: ReadonlyMap<string, Value>;
  readonly flags: ReadonlyMap<string, Value>;
}

export interface Edge {
  readonly source: Id;
  readonly output: string;
  readonly target: Id;
  readonly input: string;
  readonly slot: number;
}

export type Note = readonly [x: number, y: number, width: number, height: number, text: string];
export type Group = readonly [label: string, members: readonly Id[]];

export interface Graph {
  readonly nodes: ReadonlyMap<Id, GraphNode>;
  readonly edges: readonly Edge[]; // sorted
  readonly settings: ReadonlyMap<string, Value>;
  readonly positions: ReadonlyMap<Id, readonly [number, number]>;
  readonly labels: ReadonlyMap<Id, string>;
  readonly notes: ReadonlyMap<Id, Note>;
  readonly groups: ReadonlyMap<Id, Group>;
  readonly extra: ReadonlyMap<number, Value>; // sections 68 and above
}

export type EdgeKey = readonly [source: Id, output: string, target: Id, input: string, slot: number];
export type NodeValue = readonly [
  component: string,
  version: number,
  params: ReadonlyMap<string, Value>,
  flags: ReadonlyMap<string, Value>,
];
export type Maybe = readonly [] | readonly [Value]; // [] is ABSENT

export type Op =
  | readonly ["edge-" | "edge+", EdgeKey]
  | readonly ["node-" | "node+", readonly [Id], NodeValue]
  | readonly ["retype" | "move" | "label" | "note" | "group", readonly [Id], Maybe, Maybe]
  | readonly ["set" | "flag", readonly [Id, string], Maybe, Maybe]
  | readonly ["graph", readonly [string], Maybe, Maybe]
  | readonly ["extra", readonly [number], Maybe, Maybe];
