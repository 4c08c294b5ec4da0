// The words of a comparison on the canvas: above a card what happened to it, on a wire its sign, and where a moved card stood.
import { ViewportPortal } from "@xyflow/react";
import { useWords } from "../i18n/language";
import { type NodeMark, SIGN, useMarks } from "./marks";

export function MarkTag({ mark }: { mark: NodeMark }) {
  const { t } = useWords();
  return (
    <span className={`mark-tag d-${mark.kind}`} data-testid="mark">
      <b>{SIGN[mark.kind]}</b>{" "}
      {mark.kind === "changed" ? t("versions.fields", { count: mark.fields }) : t(`versions.${mark.kind}`)}
      {mark.kind === "changed" && mark.moved && <em>{SIGN.moved}</em>}
    </span>
  );
}

export function Ghosts() {
  const marks = useMarks();
  if (!marks || marks.ghosts.length === 0) return null;
  return (
    <ViewportPortal>
      <div className="ghosts" aria-hidden>
        {marks.ghosts.map(({ id, from }) => (
          <i key={id} style={{ left: from.x, top: from.y, width: from.width, height: from.height }} />
        ))}
        <svg className="ghost-ways" width={1} height={1} focusable="false" aria-hidden="true">
          {marks.ghosts.map(({ id, from, to }) => (
            <path
              key={id}
              d={`M${from.x + from.width / 2} ${from.y + from.height / 2}L${to.x + to.width / 2} ${to.y + to.height / 2}`}
            />
          ))}
        </svg>
      </div>
    </ViewportPortal>
  );
}
