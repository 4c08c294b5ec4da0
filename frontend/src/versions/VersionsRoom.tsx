// The room of versions: the list in place of the palette, and the two sides that are compared in place of the draft.
import { type ReactNode, useState } from "react";
import { useView } from "../canvas/screen";
import { useRest } from "../panels/rest";
import { CompareRoom } from "./CompareRoom";
import { createLibrary, LibraryContext, useVersions } from "./library";
import { VersionsPanel } from "./VersionsPanel";

/** `children`: the draft's own rooms, shown while nothing is compared. */
export function VersionsRoom({ sheet, children }: { sheet: boolean; children: ReactNode }) {
  const rest = useRest();
  const [library] = useState(() => createLibrary(rest));
  const listed = useVersions();
  const compared = useView((view) => view.compared);
  return (
    <LibraryContext value={library}>
      <VersionsPanel {...listed} />
      {compared ? <CompareRoom {...compared} versions={listed.versions} sheet={sheet} /> : children}
    </LibraryContext>
  );
}
