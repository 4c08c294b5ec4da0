// The calls of docs/wire.md that go by REST: lists, files and the catalogue. Answers are checked only as far as this client
// leans on them; what the server refuses is thrown as `RestError`, with where, what was expected and what came.
import type { Id } from "../igb/graph";
import type { Catalogue, CatalogueEntry, Label } from "./catalogue";
import type { Refusal, Version } from "./editor";

export interface SpaceInfo {
  id: Id;
  name: string;
  created: string; // ISO 8601, UTC
  changed: string;
}

export interface TemplateInfo {
  name: string;
  label: Label;
  help: Label;
  first: boolean; // the one that a first start opens
}

/** A run of a Space, going or ended. */
export interface RunInfo {
  id: Id;
  status: "running" | "done" | "failed" | "cancelled";
  reason: string | null;
  started: string; // ISO 8601, UTC
  seconds: number | null; // null while it runs
  version: number | null; // the newest one of the graph that ran
  sem: string;
  replays: boolean; // its events can be read again
}

/** What the engine tells of itself: `state` and `reason` while it has no host, the host's own facts after. */
export type EngineStatus = Readonly<Record<string, unknown>>;

export class RestError extends Error {
  override readonly name = "RestError";
  constructor(
    readonly status: number, // 0: no answer came
    readonly refusal: Refusal & { hint: string },
  ) {
    super(`${refusal.code} at ${refusal.where}: expected ${refusal.expected}, got ${refusal.got}`);
  }
}

export type Rest = ReturnType<typeof createRest>;

/** `base`: of the site, "" for the page's own. Cookies travel along. */
export function createRest(base = "", fetcher: typeof fetch = (input, init) => fetch(input, init)) {
  async function call(method: string, path: string, body?: object | Uint8Array): Promise<Response> {
    const init: RequestInit = { method, credentials: "same-origin" };
    if (body instanceof Uint8Array) {
      init.body = body as Uint8Array<ArrayBuffer>;
      init.headers = { "content-type": "application/octet-stream" };
    } else if (body) {
      init.body = JSON.stringify(body);
      init.headers = { "content-type": "application/json" };
    }
    let response: Response;
    try {
      response = await fetcher(`${base}/api${path}`, init);
    } catch (error) {
      throw new RestError(0, refusalOf(null, path, "an answer", String(error)));
    }
    if (!response.ok) throw new RestError(response.status, await refusalIn(response, path));
    return response;
  }

  async function object<T>(method: string, path: string, body?: object | Uint8Array): Promise<T> {
    return (await call(method, path, body)).json();
  }

  async function list<T>(path: string): Promise<readonly T[]> {
    const found: unknown = await object("GET", path);
    if (!Array.isArray(found)) throw new RestError(200, refusalOf(null, path, "a list", typeof found));
    return found;
  }

  async function bytes(path: string): Promise<Uint8Array> {
    return new Uint8Array(await (await call("GET", path)).arrayBuffer());
  }

  return {
    catalogue: async (): Promise<Catalogue> => {
      const entries = await list<CatalogueEntry>("/catalogue");
      return new Map(entries.map((entry) => [entry.name, entry]));
    },
    templates: () => list<TemplateInfo>("/templates"),
    engine: () => object<EngineStatus>("GET", "/engine"),
    spaces: () => list<SpaceInfo>("/spaces"),
    space: (id: Id) => object<SpaceInfo>("GET", `/spaces/${id}`),
    /** The HTTP status of a Space; 0: no answer came. */
    status: async (id: Id): Promise<number> => {
      try {
        return (await call("GET", `/spaces/${id}`)).status;
      } catch (error) {
        if (error instanceof RestError) return error.status;
        throw error;
      }
    },
    makeSpace: (name: string, template?: string, language?: "en" | "zh") =>
      object<SpaceInfo>("POST", "/spaces", { name, template, language }),
    importSpace: (name: string, igb: Uint8Array) =>
      object<SpaceInfo>("POST", `/spaces/import?name=${encodeURIComponent(name)}`, igb),
    renameSpace: (id: Id, name: string) => object<SpaceInfo>("PATCH", `/spaces/${id}`, { name }),
    deleteSpace: async (id: Id): Promise<void> => {
      await call("DELETE", `/spaces/${id}`);
    },
    graph: (id: Id) => bytes(`/spaces/${id}/graph.igb`),
    versions: (id: Id) => list<Version>(`/spaces/${id}/versions`),
    renameVersion: (id: Id, number: number, message: string) =>
      object<Version>("PATCH", `/spaces/${id}/versions/${number}`, { message }),
    /** The newest version after it, whose file is that of the restored one. */
    restoreVersion: (id: Id, number: number, message: string) =>
      object<Version>("POST", `/spaces/${id}/versions/${number}/restore`, { message }),
    /** Newest first. */
    runs: (id: Id) => list<RunInfo>(`/spaces/${id}/runs`),
    file: (hash: string) => bytes(`/files/${hash}`),
  };
}

async function refusalIn(response: Response, path: string): Promise<Refusal & { hint: string }> {
  const body: unknown = await response.json().catch(() => null); // a proxy between may answer with a page
  return refusalOf(body, path, "an answer", `${response.status} ${response.statusText}`.trim());
}

function refusalOf(body: unknown, where: string, expected: string, got: string): Refusal & { hint: string } {
  const told = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
  const text = (field: string, otherwise: string): string =>
    typeof told[field] === "string" ? told[field] : otherwise;
  return {
    code: text("code", "unreachable"),
    where: text("where", where),
    expected: text("expected", expected),
    got: text("got", got),
    hint: text("hint", ""),
  };
}
