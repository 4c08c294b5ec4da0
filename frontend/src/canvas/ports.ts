// The ports a node really has: the component's, those its template makes, and those only a wire still names.
import type { Edge, GraphNode } from "../igb/graph";
import type { CatalogueEntry, Label, PortType } from "../state/catalogue";
import { inputsOf } from "../state/ports";

export interface Pin {
  name: string;
  type: PortType;
  label: Label;
  required: boolean;
  connected: boolean;
  missing: boolean; // named by a wire, gone from the component
}

export interface Pins {
  inputs: Pin[];
  outputs: Pin[];
}

const asIs = (name: string): Label => ({ en: name, zh: name });

function withMissing(pins: Pin[], names: Iterable<string>): Pin[] {
  const known = new Set(pins.map((pin) => pin.name));
  for (const name of new Set(names)) {
    if (known.has(name)) continue;
    pins.push({ name, type: "any", label: asIs(name), required: false, connected: true, missing: true });
  }
  return pins;
}

export function pinsOf(node: GraphNode, entry: CatalogueEntry | undefined, into: Edge[], from: Edge[]): Pins {
  const fed = new Set(into.map((edge) => edge.input));
  const read = new Set(from.map((edge) => edge.output));
  const inputs: Pin[] = [];
  const outputs: Pin[] = [];
  if (entry) {
    for (const port of inputsOf(entry, node)) {
      if (!port.hidden) inputs.push({ ...port, connected: fed.has(port.name), missing: false });
    }
    for (const port of entry.outputs) {
      if (!port.hidden) outputs.push({ ...port, connected: read.has(port.name), missing: false });
    }
  }
  return { inputs: withMissing(inputs, fed), outputs: withMissing(outputs, read) };
}
