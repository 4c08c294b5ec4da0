// One conflict of the list: a line, and opened its sides, what stands in the way, and the choices. `reads`: without choices.
import { useState } from "react";
import { useEditor } from "../canvas/screen";
import { useWords } from "../i18n/language";
import type { Graph, Value } from "../igb/graph";
import { Glyph } from "../look/Glyph";
import { notation } from "../versions/patchText";
import { useConflictActs } from "./acts";
import { type Choice, isEdited, type Plan, placeToEdit, standing } from "./choice";
import { clipped } from "./clipped";
import { type Conflict, isBare } from "./conflict";
import { Side } from "./Sides";
import type { Entry } from "./section";
import { type Telling, useTelling } from "./telling";

interface Props {
  entry: Entry;
  open: boolean;
  reads: boolean;
  toggle(): void;
}

export const headId = (name: string): string => `conflict ${name}`;

export function ConflictRow({ entry, open, reads, toggle }: Props) {
  const { t } = useWords();
  const telling = useTelling();
  const { conflict } = entry;
  const { where, what } = conflict ? telling.subject(conflict.key) : { where: t("conflicts.unknown"), what: "" };
  return (
    <li className={open ? "is-open" : ""}>
      <button
        type="button"
        id={headId(entry.name)}
        className="conflict-head"
        aria-expanded={open}
        onClick={toggle}
        data-testid={`conflict-${entry.at}`}
      >
        <Glyph name={open ? "down" : "right"} size={14} />
        <span className="conflict-name">
          <b>{where}</b> {what}
        </span>{" "}
        {conflict && <em>{telling.kind(conflict.code)}</em>}
      </button>
      {open && <Body entry={entry} reads={reads} telling={telling} />}
    </li>
  );
}

function Body({ entry, reads, telling }: { entry: Entry; reads: boolean; telling: Telling }) {
  const { t } = useWords();
  const { choose, mend } = useConflictActs();
  const graph = useEditor((editor) => editor.graph);
  const [refused, refuse] = useState<{ plan: Plan | null; graph: Graph } | null>(null);
  const { conflict } = entry;
  const act = (choice: Choice, as: Choice = choice) => refuse({ plan: choose(entry, choice, as), graph });
  const why = refused?.graph === graph ? refused.plan : null; // the graph may make room for it meanwhile
  if (!conflict) {
    return (
      <div className="conflict-body">
        <p className="hint">{t("conflicts.unknownHint")}</p>
        <Raw value={entry.value} />
        {!reads && (
          <p className="acts">
            <button type="button" className="btn sm" onClick={() => act("now")} data-testid="remove-entry">
              {t("conflicts.remove")}
            </button>
          </p>
        )}
        <Refused plan={why} telling={telling} />
      </div>
    );
  }
  return (
    <div className="conflict-body">
      <Values conflict={conflict} reads={reads} telling={telling} act={act} />
      {conflict.against.length > 0 && (
        <p className="hint">
          {t("conflicts.against")} {conflict.against.map(telling.named).join(", ")}
        </p>
      )}
      <Refused plan={why} telling={telling} />
      {!reads && placeToEdit(graph, conflict.key) && (
        <p className="acts">
          <button type="button" className="btn sm quiet" onClick={() => mend(entry)} data-testid="edit-value">
            <Glyph name="pencil" size={14} />
            {t("conflicts.edit")}
          </button>
        </p>
      )}
    </div>
  );
}

interface ValuesProps {
  conflict: Conflict;
  reads: boolean;
  telling: Telling;
  act(choice: Choice, as?: Choice): void;
}

function Values({ conflict, reads, telling, act }: ValuesProps) {
  const { t } = useWords();
  const graph = useEditor((editor) => editor.graph);
  const { key, code, theirs } = conflict;
  const edited = isEdited(graph, conflict);
  const button = (choice: Choice, as: Choice, words: string) =>
    !reads && (
      <button type="button" className="btn sm" onClick={() => act(choice, as)} data-testid={`choose-${as}`}>
        {t(words)}
      </button>
    );
  if (isBare(conflict)) {
    return (
      <div className="side is-now">
        <div className="side-head">
          <p>{t(key.length === 1 ? "conflicts.tooLarge" : "conflicts.bare")}</p>
        </div>
        {button("now", "now", "conflicts.settle")}
      </div>
    );
  }
  const [base, ours, other] = [conflict.base, conflict.ours, theirs].map((side) => telling.side(conflict, side));
  if (!base || !ours || !other) return null;
  const unwired = key[0] === "node" && code !== "add" && theirs.length > 0 && !graph.nodes.has(key[1]);
  return (
    <div className="sides">
      <Side side="base" told={base} base={null} />
      {edited && (
        <Side side="now" told={telling.side(conflict, standing(graph, conflict))} base={base}>
          {button("now", "now", "conflicts.settle")}
        </Side>
      )}
      <Side side="ours" told={ours} base={base}>
        {button(edited ? "ours" : "now", "ours", "conflicts.keepOurs")}
      </Side>
      <Side side="theirs" told={other} base={base}>
        {button("theirs", "theirs", "conflicts.takeTheirs")}
      </Side>
      {unwired && <p className="hint">{t("conflicts.unwired")}</p>}
    </div>
  );
}

/** Why a choice could not be made. */
function Refused({ plan, telling }: { plan: Plan | null; telling: Telling }) {
  const { t } = useWords();
  if (!plan || plan.ops !== null) return null;
  const words = plan.node === null ? plan.why : `${plan.why}Node`;
  return (
    <p className="notice is-error" role="alert" data-testid="refused-choice">
      {t(`conflicts.why.${words}`, { name: plan.node === null ? "" : telling.nodeName(plan.node) })}
    </p>
  );
}

function Raw({ value }: { value: Value }) {
  return <pre className="side">{notation(clipped(value))}</pre>;
}
