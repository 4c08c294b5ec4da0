// A number, with a scale to drag when it has two ends. Text that is no number stays as typed and is not sent.
import type { CSSProperties } from "react";
import type { Control } from "./Field";
import { type Field, rangeOf } from "./fields";
import { parseNumber } from "./verdict";

interface Props {
  control: Control;
  testId: string;
}

const digits = (step: number): number => Math.max(0, -Math.floor(Math.log10(step) + 1e-9));

function shownNumber(value: number, field: Field): string {
  return field.slider && field.schema.step ? value.toFixed(Math.max(digits(field.schema.step), 2)) : String(value);
}

export function NumberField({ control, testId }: Props) {
  const { field, value, id, draft, keepDraft, change, settle, describedBy, invalid } = control;
  const number = typeof value === "number" ? value : 0;
  const write = (text: string) => {
    const parsed = parseNumber(text, field);
    keepDraft(text);
    if (parsed.value !== null && parsed.value !== value) change(parsed.value);
  };
  const leave = () => {
    if (draft !== undefined && parseNumber(draft, field).problem === null) keepDraft(undefined);
    settle();
  };
  const nudge = (event: React.KeyboardEvent) => {
    const by = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    const { step } = rangeOf(field);
    const next = Number((number + by * step * (event.shiftKey ? 10 : 1)).toFixed(10));
    if (parseNumber(String(next), field).value === null) return;
    keepDraft(undefined);
    change(next);
  };
  const box = (
    <span className="inp num">
      <input
        id={id}
        value={draft ?? shownNumber(number, field)}
        inputMode={field.kind === "integer" ? "numeric" : "decimal"}
        aria-describedby={describedBy}
        aria-invalid={invalid}
        data-testid={testId}
        onChange={(event) => write(event.target.value)}
        onKeyDown={nudge}
        onBlur={leave}
      />
      {field.schema.unit && <span className="unit">{field.schema.unit}</span>}
    </span>
  );
  if (!field.slider) return box;
  const { least, most, step } = rangeOf(field);
  const share = (number - least) / (most - least);
  return (
    <span className="slide">
      <input
        type="range"
        tabIndex={-1}
        aria-hidden
        min={least}
        max={most}
        step={step}
        value={number}
        style={{ "--v": Math.min(Math.max(share, 0), 1) } as CSSProperties}
        onChange={(event) => {
          keepDraft(undefined);
          change(Number(event.target.value));
        }}
        onPointerUp={settle}
        onBlur={settle}
      />
      {box}
    </span>
  );
}
