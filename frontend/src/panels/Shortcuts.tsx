// The list of keys, opened by ?.
import { Dialog } from "radix-ui";
import { useScreen, useView } from "../canvas/screen";
import { useWords } from "../i18n/language";
import { Glyph } from "../look/Glyph";
import { COMMAND } from "./RunButton";

type Line = readonly [action: string, ...keys: string[]];

function lines(doubleClick: string, drag: string): readonly Line[] {
  return [
    ["run", `${COMMAND} Enter`],
    ["find", "/"],
    ["quick", doubleClick],
    ["save", `${COMMAND} S`],
    ["undo", `${COMMAND} Z`],
    ["redo", `${COMMAND} ⇧ Z`, `${COMMAND} Y`],
    ["conflict", "F8", "⇧ F8"],
    ["tab", "Tab", "⇧ Tab"],
    ["enter", "Enter"],
    ["walk", "← → ↑ ↓"],
    ["walkSelected", "Alt ← → ↑ ↓"],
    ["nudge", "← → ↑ ↓"],
    ["delete", "Delete"],
    ["duplicate", `${COMMAND} D`],
    ["copy", `${COMMAND} C`, `${COMMAND} X`, `${COMMAND} V`],
    ["all", `${COMMAND} A`],
    ["fit", "F"],
    ["zoom", "+", "−"],
    ["pan", "Space"],
    ["escape", "Esc"],
    ["help", "?"],
    ["select", `⇧ ${drag}`],
  ];
}

export function Shortcuts() {
  const { t } = useWords();
  const { view } = useScreen();
  const open = useView((view) => view.help);
  return (
    <Dialog.Root open={open} onOpenChange={(help) => view.getState().set({ help })}>
      <Dialog.Portal>
        <Dialog.Overlay className="scrim" />
        <Dialog.Content className="dialog keys" aria-describedby={undefined}>
          <Dialog.Title>{t("keys.title")}</Dialog.Title>
          <dl>
            {lines(t("keys.doubleClick"), t("keys.drag")).map(([action, ...keys]) => (
              <div key={action}>
                <dt>{t(`keys.${action}`)}</dt>
                <dd>
                  {keys.map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </dd>
              </div>
            ))}
          </dl>
          <Dialog.Close className="icon-button dialog-close" aria-label={t("keys.close")}>
            <Glyph name="x" />
          </Dialog.Close>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
