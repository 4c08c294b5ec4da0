// What goes in and what comes out of a component, as marks.
import { PortMark } from "../look/PortMark";
import type { CatalogueEntry } from "../state/catalogue";
import { bare } from "./finder";
import { pinsOf } from "./ports";

export function Signature({ entry }: { entry: CatalogueEntry }) {
  const { inputs, outputs } = pinsOf(bare("0000000000", entry), entry, [], []);
  return (
    <span className="sig" aria-hidden>
      {inputs.map((pin) => (
        <PortMark key={pin.name} type={pin.type} size={10} />
      ))}
      <i />
      {outputs.map((pin) => (
        <PortMark key={pin.name} type={pin.type} size={10} />
      ))}
    </span>
  );
}
