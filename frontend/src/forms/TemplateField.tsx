// Template text with its placeholders marked in place, and the ports they make named under it.
import { useRef } from "react";
import { useWords } from "../i18n/language";
import { slots } from "../igb/template";
import { PortMark } from "../look/PortMark";
import type { Control } from "./Field";
import { pieces } from "./pieces";
import { TextField } from "./TextField";

export function TemplateField({ control, testId }: { control: Control; testId: string }) {
  const { t } = useWords();
  const back = useRef<HTMLDivElement>(null);
  const text = typeof control.value === "string" ? control.value : "";
  const names = slots(text);
  const follow = (event: React.UIEvent<HTMLDivElement>) => {
    if (back.current && event.target instanceof HTMLTextAreaElement) back.current.scrollTop = event.target.scrollTop;
  };
  return (
    <div className="template">
      <div className="template-text" onScrollCapture={follow}>
        <div className="template-back area" ref={back} aria-hidden>
          {pieces(text).map((piece) =>
            piece.slot ? <mark key={piece.at}>{piece.text}</mark> : <span key={piece.at}>{piece.text}</span>,
          )}
          {"\n"}
        </div>
        <TextField control={control} many testId={testId} />
      </div>
      <p className="slot-list">
        {names.length === 0 && <span className="hint">{t("field.noSlots")}</span>}
        {names.map((name) => (
          <span key={name} className="chip t-any">
            <PortMark type="any" size={9} />
            {name}
          </span>
        ))}
      </p>
    </div>
  );
}
