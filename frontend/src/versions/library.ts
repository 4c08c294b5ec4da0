// The versions of an open Space as this client has seen them: the list, their graphs and patches by hash. A hash names its bytes
// for ever, so what was read once is kept; what cannot be read is told to whoever asked.
import { createContext, useContext, useEffect, useState } from "react";
import { useEditor } from "../canvas/screen";
import type { VersionSide } from "../canvas/view";
import type { Graph } from "../igb/graph";
import { EMPTY, Invalid, Malformed, read } from "../igb/igb";
import { readPatch } from "../igb/patch";
import { useRest } from "../panels/rest";
import type { Version } from "../state/editor";
import { type Rest, RestError } from "../state/rest";
import { type Counts, countsOf } from "./comparison";

const KEPT = 64; // graphs and patches in memory, each

export interface Library {
  graph(hash: string): Promise<Graph>;
  counts(hash: string): Promise<Counts>;
}

export function createLibrary(rest: Rest): Library {
  return {
    graph: remembered(async (hash) => read(await rest.file(hash))),
    counts: remembered(async (hash) => countsOf(readPatch(await rest.file(hash)).ops)),
  };
}

function remembered<T>(load: (hash: string) => Promise<T>): (hash: string) => Promise<T> {
  const kept = new Map<string, Promise<T>>();
  return (hash) => {
    const found = kept.get(hash);
    if (found) return found;
    const loading = load(hash);
    loading.catch(() => kept.delete(hash)); // it is asked for again
    kept.set(hash, loading);
    const [oldest] = kept.keys();
    if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest);
    return loading;
  };
}

export const LibraryContext = createContext<Library | null>(null);

export function useLibrary(): Library {
  const library = useContext(LibraryContext);
  if (!library) throw new Error("expected a LibraryContext above, got none");
  return library;
}

/** Whether this is something that a server or a file may do, and not a mistake of ours. */
export function isExpected(error: unknown): error is RestError | Malformed | Invalid {
  return error instanceof RestError || error instanceof Malformed || error instanceof Invalid;
}

export interface Listed {
  versions: readonly Version[]; // newest first
  failed: RestError | Malformed | Invalid | null;
  reload(): void;
}

/** The list, asked for anew whenever the newest version is another. */
export function useVersions(): Listed {
  const rest = useRest();
  const space = useEditor((editor) => editor.spaceId);
  const newest = useEditor((editor) => editor.version);
  const [versions, setVersions] = useState<readonly Version[]>([]);
  const [failed, setFailed] = useState<Listed["failed"]>(null);
  const [asked, setAsked] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the newest version and being asked are the reasons to look again
  useEffect(() => {
    let over = false;
    rest.versions(space).then(
      (found) => {
        if (over) return;
        setVersions([...found].sort((a, b) => b.number - a.number));
        setFailed(null);
      },
      (error: unknown) => {
        if (!isExpected(error)) throw error;
        if (!over) setFailed(error);
      },
    );
    return () => {
      over = true;
    };
  }, [rest, space, newest, asked]);
  return { versions, failed, reload: () => setAsked((count) => count + 1) };
}

/** The graph of one side; null while it is on its way. */
export function useSide(side: VersionSide, versions: readonly Version[]): Graph | "unreadable" | null {
  const library = useLibrary();
  const draft = useEditor((editor) => (side === "draft" ? editor.graph : null));
  const hash = versions.find(({ number }) => number === side)?.file ?? null;
  const [loaded, setLoaded] = useState<{ hash: string; graph: Graph | "unreadable" } | null>(null);
  useEffect(() => {
    if (hash === null) return;
    let over = false;
    library.graph(hash).then(
      (graph) => !over && setLoaded({ hash, graph }),
      (error: unknown) => {
        if (!isExpected(error)) throw error;
        if (!over) setLoaded({ hash, graph: "unreadable" });
      },
    );
    return () => {
      over = true;
    };
  }, [library, hash]);
  if (side === "draft") return draft;
  if (side === 0) return EMPTY;
  return loaded !== null && loaded.hash === hash ? loaded.graph : null;
}

/** What a version changed, by its stored patch; null where there is none, or none yet. */
export function useCounts(patch: string | null): Counts | null {
  const library = useLibrary();
  const [counts, setCounts] = useState<Counts | null>(null);
  useEffect(() => {
    if (patch === null) return;
    let over = false;
    library.counts(patch).then(
      (found) => !over && setCounts(found),
      (error: unknown) => {
        if (!isExpected(error)) throw error;
      },
    );
    return () => {
      over = true;
    };
  }, [library, patch]);
  return counts;
}
