// One line or many. What is typed lives here, so the caret never jumps; the graph follows at every key.
import { useLayoutEffect, useRef, useState } from "react";
import type { Control } from "./Field";

/** The typed text, and the graph's when that changes from elsewhere (undo, another person). */
export function useTyped(outside: string): [string, (text: string) => void] {
  const [typed, setTyped] = useState(outside);
  const seen = useRef(outside);
  if (seen.current !== outside) {
    seen.current = outside;
    if (outside !== typed) setTyped(outside);
  }
  return [typed, setTyped];
}

const HIGHEST = 320;

export function TextField({ control, many, testId }: { control: Control; many: boolean; testId: string }) {
  const { value, id, change, settle, describedBy, invalid } = control;
  const [typed, type] = useTyped(typeof value === "string" ? value : "");
  const composing = useRef(false);
  const box = useRef<HTMLTextAreaElement>(null);
  const write = (text: string) => {
    type(text);
    if (!composing.current) change(text);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the box grows with its text
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight + 2, HIGHEST)}px`;
  }, [typed]);
  const shared = {
    id,
    value: typed,
    "aria-describedby": describedBy,
    "aria-invalid": invalid,
    "data-testid": testId,
    spellCheck: false,
    onBlur: settle,
    onCompositionStart: () => {
      composing.current = true;
    },
    onCompositionEnd: (event: React.CompositionEvent<HTMLInputElement | HTMLTextAreaElement>) => {
      composing.current = false;
      change(event.currentTarget.value);
    },
  };
  if (!many) return <input {...shared} className="inp" onChange={(event) => write(event.target.value)} />;
  return <textarea {...shared} ref={box} className="area" rows={3} onChange={(event) => write(event.target.value)} />;
}
