// A refused wire says why at the port it was dropped on, in place of the wire.
import { useWords } from "../i18n/language";
import type { Id } from "../igb/graph";
import { HEAD, ROW } from "./cards";
import type { Pin } from "./ports";
import { refusalWords } from "./refusal";
import { useView } from "./screen";

interface Props {
  node: Id;
  inputs: Pin[];
  outputs: Pin[];
}

export function PortRefusalNote({ node, inputs, outputs }: Props) {
  const { t } = useWords();
  const refusal = useView((view) => (view.refusal?.at.node === node ? view.refusal : null));
  if (!refusal) return null;
  const pins = refusal.at.side === "in" ? inputs : outputs;
  const row = Math.max(
    pins.findIndex((pin) => pin.name === refusal.at.port),
    0,
  );
  return (
    <div
      className={`port-refusal at-${refusal.at.side}`}
      style={{ top: HEAD + 8 + ROW * (row + 1) }}
      data-testid="port-refusal"
    >
      {refusalWords(t, refusal.verdict)}
    </div>
  );
}
