// A quota as marks: 32 ticks are steps, 16 cells are pages of KV. The same marks on the card and in the inspector.
import type { CSSProperties } from "react";
import { megabytes } from "./values";

interface Props {
  kind: "steps" | "kv" | "time";
  label: string;
  used: number;
  committed?: number;
  limit: number;
  over?: boolean;
  quiet?: boolean; // nothing is running: ink instead of the running colour
}

const share = (part: number, whole: number): number => (whole > 0 ? Math.min(part / whole, 1) : 0);

export function Meter({ kind, label, used, committed = used, limit, over = false, quiet = false }: Props) {
  const style = { "--v": share(used, limit), "--c": share(Math.max(committed, used), limit) } as CSSProperties;
  const near = !over && !quiet && share(Math.max(committed, used), limit) >= 0.9;
  const mode = over ? "is-over" : near ? "is-near" : quiet ? "is-off" : "";
  const [now, most] = texts(kind, used, limit);
  return (
    <div className={`meter m-${kind} ${mode}`} style={style}>
      <span>{label}</span>
      <span className="scale" aria-hidden />
      <span className="mv">
        <b>{now}</b> / {most}
      </span>
    </div>
  );
}

function texts(kind: Props["kind"], used: number, limit: number): [string, string] {
  if (kind === "kv") return [megabytes(used), `${megabytes(limit)} MB`];
  if (kind === "time") return [used.toFixed(1), `${limit} s`];
  return [String(used), String(limit)];
}
