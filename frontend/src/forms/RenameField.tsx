// A name being typed in place of the one that stands there: Enter or leaving keeps it, Escape does not.
import { useState } from "react";

interface Props {
  name: string; // as it stands
  label: string;
  most: number; // characters
  className?: string;
  testid?: string;
  keep(name: string): void;
  drop(): void;
}

export function RenameField({ name, label, most, className = "", testid, keep, drop }: Props) {
  const [typed, setTyped] = useState(name);
  return (
    <input
      className={`inp ${className}`.trimEnd()}
      // biome-ignore lint/a11y/noAutofocus: the person just asked to rename
      autoFocus
      value={typed}
      maxLength={most}
      aria-label={label}
      data-testid={testid}
      onFocus={(event) => event.target.select()}
      onChange={(event) => setTyped(event.target.value)}
      onBlur={() => keep(typed.trim())}
      onKeyDown={(event) => {
        if (event.key === "Enter" && !event.nativeEvent.isComposing) keep(typed.trim());
        if (event.key !== "Escape") return;
        event.stopPropagation(); // it ends this, and leaves no room
        drop();
      }}
    />
  );
}
