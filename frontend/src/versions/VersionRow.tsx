// One version in the list: what it is called, who saved it when, what it changed; chosen, also what can be done with it.
import { useState } from "react";
import { useEditor } from "../canvas/screen";
import { RenameField } from "../forms/RenameField";
import { useWords } from "../i18n/language";
import { Glyph } from "../look/Glyph";
import type { Version } from "../state/editor";
import { CountMarks } from "./CountMarks";
import { useCounts } from "./library";
import { when } from "./when";

interface Props {
  version: Version;
  side: "A" | "B" | null;
  open: boolean; // it is the one that is looked at
  canRestore: boolean;
  pick(): void;
  from(): void;
  restore(): void;
  rename(message: string): void;
}

export function VersionRow({ version, side, open, canRestore, pick, from, restore, rename }: Props) {
  const { t, language } = useWords();
  const counts = useCounts(version.patch);
  const [renaming, setRenaming] = useState(false);
  const { number, message, author, created } = version;
  const keep = (next: string) => {
    setRenaming(false);
    if (next !== message) rename(next);
  };
  return (
    <li className={`version-row${side ? " is-chosen" : ""}`} data-testid={`version-${number}`}>
      <SideMark side={side} number={number} from={from} />
      <button
        type="button"
        className="version-pick"
        aria-pressed={open}
        onClick={pick}
        data-testid={`version-pick-${number}`}
      >
        <span className="version-top">
          <span className="num">v{number}</span>
          <time dateTime={created} title={new Date(created).toLocaleString(language === "zh" ? "zh-CN" : "en")}>
            {when(created, language)}
          </time>
        </span>
        {!renaming && (
          <span className={message ? "version-message" : "version-message quiet"}>
            {message || t("versions.noMessage")}
          </span>
        )}
      </button>
      {renaming && (
        <RenameField
          name={message}
          label={t("versions.rename", { number })}
          most={2000}
          className="version-rename"
          testid="version-message"
          keep={keep}
          drop={() => setRenaming(false)}
        />
      )}
      <span className="version-foot">
        {counts && <CountMarks counts={counts} />}
        <span className="version-author">{author}</span>
      </span>
      {open && <Acts version={version} canRestore={canRestore} restore={restore} rename={() => setRenaming(true)} />}
    </li>
  );
}

/** Which side of the comparison a row is; a press makes it the older one. */
function SideMark({ side, number, from }: { side: "A" | "B" | null; number: number; from(): void }) {
  const { t } = useWords();
  if (side !== null) return <b className="side-mark is-on">{side}</b>;
  const label = t("versions.from", { number });
  return (
    <button
      type="button"
      className="side-mark"
      aria-label={label}
      title={label}
      onClick={from}
      data-testid={`from-${number}`}
    >
      <i />
    </button>
  );
}

function Acts({
  version,
  canRestore,
  restore,
  rename,
}: {
  version: Version;
  canRestore: boolean;
  restore(): void;
  rename(): void;
}) {
  const { t } = useWords();
  const space = useEditor((editor) => editor.name);
  const { number, file, patch, dotbin } = version;
  const files = [
    ["igb", file],
    ["patch", patch],
    ["dotbin", dotbin],
  ] as const;
  return (
    <div className="version-acts">
      <button type="button" className="btn sm" disabled={!canRestore} onClick={restore} data-testid="restore">
        <Glyph name="reset" size={12} />
        {t("versions.restore", { number })}
      </button>
      <button type="button" className="btn sm quiet" onClick={rename} data-testid="rename-version">
        <Glyph name="pencil" size={12} />
        {t("home.rename")}
      </button>
      <span className="version-files">
        <Glyph name="download" size={12} />
        {files.map(([kind, hash]) =>
          hash === null ? (
            <span key={kind} className="mono quiet" title={t(`versions.without.${kind === "igb" ? "patch" : kind}`)}>
              .{kind}
            </span>
          ) : (
            <a
              key={kind}
              className="mono"
              href={`/api/files/${hash}?name=${encodeURIComponent(fileName(space, number))}`}
              download
              title={t("versions.download", { kind, number })}
              data-testid={`download-${kind}`}
            >
              .{kind}
            </a>
          ),
        )}
      </span>
    </div>
  );
}

/** As the server takes it; marks that a file's name may not have become spaces. */
function fileName(space: string, number: number): string {
  const plain = space.replace(/[\p{Cc}\p{Cf}/\\:*?"<>|]+/gu, " ").trim();
  return `${[...plain].slice(0, 80).join("") || "space"} v${number}`;
}
