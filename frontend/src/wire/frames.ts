// Frames of an open Space. Generated from backend/spaces/wire.py by `make gen`: change it there.
import type { Id, Op, Value } from "../igb/graph";

export const PROTOCOL = 1;
export const FRAME_LIMIT = 1048576;
export const PART_SIZE = 262144;
export const TRANSFER_LIMIT = 16777224;

export interface Member {
  client: Id;
  name: string;
}

export interface SpaceInfo {
  id: Id;
  name: string;
}

export interface Version {
  number: number;
  message: string;
  author: string;
  created: string;
  file: Uint8Array;
  sem: Uint8Array;
  patch: Uint8Array | null;
  dotbin: Uint8Array | null;
}

export interface Diagnostic {
  code: string;
  where: string;
  node: Id | null;
  field: string | null;
  expected: string;
  got: string;
  hint: string;
}

export interface HelloFrame {
  type: "hello";
  protocol: 1;
  client: Id;
  resume: ReadonlyMap<Id, number> | null;
}

export interface PushFrame {
  type: "push";
  id: readonly [Id, number];
  base_seq: number;
  ops: readonly Op[];
}

export interface SaveFrame {
  type: "save";
  id: readonly [Id, number];
  seq: number;
  base_version: number | null;
  message: string;
}

export interface RunFrame {
  type: "run";
  run: Id;
  igb: Uint8Array | null;
  transfer: Id | null;
  version: number | null;
  inputs: ReadonlyMap<string, Value> | null;
  targets: readonly Id[] | null;
}

export interface CancelFrame {
  type: "cancel";
  run: Id;
}

export interface ResumeFrame {
  type: "resume";
  run: Id;
  after_seq: number;
}

export interface PresenceFrame {
  type: "presence";
  data: ReadonlyMap<string, Value>;
}

export interface PartFrame {
  type: "part";
  transfer: Id;
  offset: number;
  total: number;
  bytes: Uint8Array;
}

export interface WelcomeFrame {
  type: "welcome";
  space: SpaceInfo;
  seq: number;
  igb: Uint8Array | null;
  transfer: Id | null;
  version: Version | null;
  members: readonly Member[];
  runs: readonly Id[];
}

export interface AckFrame {
  type: "ack";
  id: readonly [Id, number];
  seq: number;
}

export interface PatchedFrame {
  type: "patched";
  seq: number;
  ops: readonly Op[];
  author: Id;
  overtaken: ReadonlyArray<readonly [readonly Value[], string]>;
}

export interface RefusalFrame {
  type: "refused";
  id: readonly [Id, number] | Id | null;
  code: string;
  where: string;
  expected: string;
  got: string;
}

export interface DiagnosedFrame {
  type: "diagnosed";
  seq: number;
  diagnostics: readonly Diagnostic[];
}

export interface SavedFrame {
  type: "saved";
  id: readonly [Id, number];
  version: Version;
}

export interface EventFrame {
  type: "event";
  run: Id;
  seq: number;
  first: number;
  node: Id | null;
  kind: string;
  data: ReadonlyMap<string, Value>;
  time: number;
}

export interface PresentFrame {
  type: "presence";
  client: Id;
  name: string;
  data: ReadonlyMap<string, Value>;
}

export type ClientFrame =
  | HelloFrame
  | PushFrame
  | SaveFrame
  | RunFrame
  | CancelFrame
  | ResumeFrame
  | PresenceFrame
  | PartFrame;

export type ServerFrame =
  | WelcomeFrame
  | AckFrame
  | PatchedFrame
  | RefusalFrame
  | DiagnosedFrame
  | SavedFrame
  | EventFrame
  | PresentFrame
  | PartFrame;
