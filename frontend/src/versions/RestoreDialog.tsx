// Restoring asks once, and only when changes that no version has would go.
import { AlertDialog } from "radix-ui";
import { useWords } from "../i18n/language";
import type { Version } from "../state/editor";

interface Props {
  version: Version | null;
  close(): void;
  confirm(version: Version): void;
}

export function RestoreDialog({ version, close, confirm }: Props) {
  const { t } = useWords();
  const number = version?.number ?? 0;
  return (
    <AlertDialog.Root open={version !== null} onOpenChange={(open) => !open && close()}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className="scrim" />
        <AlertDialog.Content className="dialog">
          <AlertDialog.Title>{t("versions.restoreTitle", { number })}</AlertDialog.Title>
          <AlertDialog.Description>{t("versions.restoreText")}</AlertDialog.Description>
          <p className="dialog-acts">
            <AlertDialog.Cancel className="btn">{t("home.cancel")}</AlertDialog.Cancel>
            <AlertDialog.Action
              className="btn danger"
              onClick={() => version && confirm(version)}
              data-testid="confirm-restore"
            >
              {t("versions.restore", { number })}
            </AlertDialog.Action>
          </p>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
