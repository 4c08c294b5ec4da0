// Every change between two sides as a list: nodes by kind with what changed in them, then wires, then the rest.
import { SIGN } from "../canvas/marks";
import { nameOf } from "../canvas/names";
import { useEditor } from "../canvas/screen";
import { useWords } from "../i18n/language";
import type { Id } from "../igb/graph";
import { isEdgeOp, nodesOf } from "../igb/ops";
import type { Written } from "../state/saving";
import type { Comparison } from "./comparison";
import { FieldChanges } from "./FieldChanges";
import { patchLines } from "./patchText";

const KINDS = ["changed", "added", "removed", "moved"] as const;
const MOST = 60; // rows drawn

interface Props {
  comparison: Comparison;
  mine: Written; // changes among these are marked as this person's own
}

export function ChangeRows({ comparison, mine }: Props) {
  const { t, language } = useWords();
  const catalogue = useEditor((editor) => editor.catalogue);
  const name = (id: Id) => nameOf(comparison.drawn, catalogue, id, language);
  const marks = [...comparison.marks.nodes];
  const nodes = KINDS.flatMap((kind) => marks.filter(([, mark]) => mark.kind === kind));
  const others = comparison.ops.filter((op) => isEdgeOp(op) || nodesOf(op).length === 0);
  const lines = patchLines(others, name);
  const drawnNodes = nodes.slice(0, MOST);
  const drawnLines = lines.slice(0, MOST - drawnNodes.length);
  const more = nodes.length + lines.length - drawnNodes.length - drawnLines.length;
  return (
    <ul className="change-rows">
      {drawnNodes.map(([id, { kind }]) => (
        <li key={id} className={`d-${kind}`} data-testid={`row-${id}`}>
          <b title={t(`versions.${kind}`)}>{SIGN[kind]}</b>
          <span className="change-name">{name(id)}</span>
          {(kind === "changed" || kind === "moved") && (
            <FieldChanges id={id} comparison={comparison} catalogue={catalogue} mine={mine} />
          )}
        </li>
      ))}
      {drawnLines.map(({ kind, text, about }) => (
        <li key={text} className={`d-${kind}`}>
          <b title={t(`versions.${kind}`)}>{SIGN[kind]}</b>
          {about ? <span className="change-name">{about}</span> : <code>{text}</code>}
        </li>
      ))}
      {more > 0 && <li className="quiet">{t("versions.moreLines", { count: more })}</li>}
    </ul>
  );
}
