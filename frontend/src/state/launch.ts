// The frames that start a run of a graph as it is shown: its exact bytes, in parts when they are too long for one frame. Pure.
import { encode } from "../igb/cbor";
import type { Graph, Id } from "../igb/graph";
import { mint } from "../igb/id";
import { write } from "../igb/igb";
import type { ClientFrame } from "../wire/frames";
import { split } from "../wire/parts";
import type { Editor } from "./editor";

export const INLINE = 900 * 1024; // bytes of graph and inputs in one frame, which holds 1 MiB

type Inputs = Parameters<Editor["start"]>[0];
type Targets = Parameters<Editor["start"]>[1];

export function sizeOf(inputs: Inputs): number {
  return inputs ? encode(inputs).length : 0;
}

export function launch(run: Id, graph: Graph, inputs: Inputs, targets: Targets): ClientFrame[] {
  const bytes = write(graph);
  const what = { type: "run", run, version: null, inputs: inputs ?? null, targets: targets ?? null } as const;
  if (bytes.length + sizeOf(inputs) <= INLINE) return [{ ...what, igb: bytes, transfer: null }];
  const transfer = mint();
  return [...split(transfer, bytes), { ...what, igb: null, transfer }];
}
