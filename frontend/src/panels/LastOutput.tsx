// What a node gave last, whole, to read and copy.
import { useState } from "react";
import { givenText } from "../canvas/CardBody";
import { useCost } from "../canvas/CardFoot";
import { useEditor } from "../canvas/screen";
import { secondsText, shown } from "../canvas/values";
import { useWords } from "../i18n/language";
import type { Id } from "../igb/graph";
import { Glyph } from "../look/Glyph";

const ENOUGH = 1600;

export function LastOutput({ id }: { id: Id }) {
  const { t, say } = useWords();
  const run = useEditor((editor) => editor.run?.nodes.get(id));
  const entry = useEditor((editor) => editor.catalogue.get(editor.graph.nodes.get(id)?.component ?? ""));
  const labelOf = (port: string): string => {
    const known = entry?.outputs.find(({ name }) => name === port);
    return known ? say(known.label) : port;
  };
  const cost = useCost()(run);
  const [copied, setCopied] = useState(false);
  const text = givenText(run);
  const others = [...(run?.outputs ?? [])].filter(([, value]) => shown(value) !== text);
  const copy = () => {
    void navigator.clipboard?.writeText(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), 1500);
    });
  };
  const seconds = run?.seconds === null || run?.seconds === undefined ? "" : `${secondsText(run.seconds)} s`;
  return (
    <section className="sec">
      <h3>
        {t("inspector.last")}
        <em className="num">{[cost, seconds].filter(Boolean).join(", ")}</em>
      </h3>
      {text ? (
        <>
          <p className="last" data-testid="last-output">
            {text.length > ENOUGH ? `…${text.slice(-ENOUGH)}` : text}
          </p>
          {others.map(([port, value]) => (
            <p key={port} className="last-other">
              <b>{labelOf(port)}</b> <code>{shown(value)}</code>
            </p>
          ))}
          <p className="acts">
            <button type="button" className="btn sm" onClick={copy} data-testid="copy-output">
              <Glyph name={copied ? "done" : "copy"} size={14} />
              {t(copied ? "app.copied" : "inspector.copy")}
            </button>
          </p>
        </>
      ) : (
        <p className="hint">{t("inspector.noOutput")}</p>
      )}
    </section>
  );
}
