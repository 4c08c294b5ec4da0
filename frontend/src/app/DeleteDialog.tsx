// Deleting a Space cannot be undone, so it is asked once, by name.
import { AlertDialog } from "radix-ui";
import { useWords } from "../i18n/language";
import type { SpaceInfo } from "../state/rest";

interface Props {
  space: SpaceInfo | null;
  close(): void;
  confirm(space: SpaceInfo): void;
}

export function DeleteDialog({ space, close, confirm }: Props) {
  const { t } = useWords();
  return (
    <AlertDialog.Root open={space !== null} onOpenChange={(open) => !open && close()}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className="scrim" />
        <AlertDialog.Content className="dialog">
          <AlertDialog.Title>{t("home.deleteTitle", { name: space?.name ?? "" })}</AlertDialog.Title>
          <AlertDialog.Description>{t("home.deleteText")}</AlertDialog.Description>
          <p className="dialog-acts">
            <AlertDialog.Cancel className="btn">{t("home.cancel")}</AlertDialog.Cancel>
            <AlertDialog.Action
              className="btn danger"
              onClick={() => space && confirm(space)}
              data-testid="confirm-delete"
            >
              {t("home.delete")}
            </AlertDialog.Action>
          </p>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
