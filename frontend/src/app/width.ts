// How much room there is. Under 768 px a Space is read and run, not edited.
import { useSyncExternalStore } from "react";

export type Width = "full" | "folded" | "sheet" | "phone";

const STEPS: readonly (readonly [Width, string])[] = [
  ["full", "(min-width: 1280px)"],
  ["folded", "(min-width: 1024px)"],
  ["sheet", "(min-width: 768px)"],
];

function widthNow(): Width {
  return STEPS.find(([, query]) => matchMedia(query).matches)?.[0] ?? "phone";
}

function subscribe(changed: () => void): () => void {
  const lists = STEPS.map(([, query]) => matchMedia(query));
  for (const list of lists) list.addEventListener("change", changed);
  return () => {
    for (const list of lists) list.removeEventListener("change", changed);
  };
}

export const useWidth = (): Width => useSyncExternalStore(subscribe, widthNow);
