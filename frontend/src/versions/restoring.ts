// Restoring a version. The draft becomes its graph by one edit, which can be undone like any other; then the server, which has the
// last word on what stands in the Room, makes it so and saves it: the new version's file is the restored one's.
import type { StoreApi } from "zustand/vanilla";
import { diff } from "../igb/diff";
import type { Graph } from "../igb/graph";
import type { Editor, Version } from "../state/editor";
import type { Rest } from "../state/rest";

interface Restoring {
  editor: StoreApi<Editor>;
  rest: Rest;
  version: Version;
  graph: Graph; // of that version
  label: string; // of the edit, and the new version's message
}

export async function restore({ editor, rest, version, graph, label }: Restoring): Promise<void> {
  const now = editor.getState();
  now.settle();
  const ops = diff(now.graph, graph);
  if (ops.length > 0) now.edit(label, ops);
  now.settle();
  await delivered(editor);
  await rest.restoreVersion(now.spaceId, version.number, label);
}

/** Once every edit is acknowledged, or none can be. */
function delivered(editor: StoreApi<Editor>): Promise<void> {
  return new Promise((resolve) => {
    const settled = ({ pending, link }: Editor): boolean => pending === 0 || link !== "open";
    if (settled(editor.getState())) {
      resolve();
      return;
    }
    const stop = editor.subscribe((now) => {
      if (!settled(now)) return;
      stop();
      resolve();
    });
  });
}
