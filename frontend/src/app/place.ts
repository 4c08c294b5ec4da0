// Where the page is: the list of Spaces, or one of them. The address is the only state.
import { useSyncExternalStore } from "react";
import type { Id } from "../igb/graph";
import { isId } from "../igb/id";

export type Place = { at: "home"; list: boolean } | { at: "space"; id: Id };

export function placeOf(url: Pick<Location, "pathname" | "search">): Place {
  const [, room, id] = url.pathname.split("/");
  if (room === "spaces" && isId(id)) return { at: "space", id };
  return { at: "home", list: new URLSearchParams(url.search).has("list") };
}

const MOVED = "spaces:moved";

export function go(path: string, replace = false): void {
  if (replace) history.replaceState(null, "", path);
  else history.pushState(null, "", path);
  dispatchEvent(new Event(MOVED));
}

export const goToSpace = (id: Id, replace = false): void => go(`/spaces/${id}`, replace);
export const goHome = (): void => go("/?list");

function subscribe(changed: () => void): () => void {
  addEventListener("popstate", changed);
  addEventListener(MOVED, changed);
  return () => {
    removeEventListener("popstate", changed);
    removeEventListener(MOVED, changed);
  };
}

export function usePlace(): Place {
  const address = useSyncExternalStore(subscribe, () => location.pathname + location.search);
  const [pathname = "/", search = ""] = address.split("?");
  return placeOf({ pathname, search: search ? `?${search}` : "" });
}
