// A refusal in words: where it is as people know it, what came of the edit there, and who else wrote. A code that has no words
// of its own falls back on what the server said. Looks at the graph; never at the screen.
import type { TFunction } from "i18next";
import type { Place, Telling } from "../conflicts/telling";
import { diagnosis } from "../i18n/facts";
import { CONFLICTS } from "../igb/conflicts";
import type { Graph, Id } from "../igb/graph";
import type { Refusal } from "../state/editor";

const LEFT_OUT: ReadonlySet<string> = new Set(["dangling", "stale", "duplicate", "cycle"]);
const PLACED = /^(\S+) (.*)$/s;
const ID = "[0-9a-hjkmnp-tv-z]{10}";
const WIRE = new RegExp(`^${ID}\\..+\\.(${ID})\\.(.+)\\.(\\d+)$`, "s");
const FIELD = new RegExp(`^(${ID})\\.(.+)$`, "s");
const CHECKED = new RegExp(`^nodes\\.(${ID})(?:\\.(.+))?$`, "s");
const OF_INPUTS: ReadonlySet<string> = new Set(["missing_input", "type_mismatch", "hidden_port", "one_edge_only"]);

/** The key of an op, as a refusal names it: its kind, then its parts with points between; null for any other place. */
export function placeOf(where: string): Place | null {
  const [, kind = "", rest = ""] = PLACED.exec(where) ?? [];
  switch (kind) {
    case "node+":
    case "node-":
      return ["node", rest];
    case "edge+":
    case "edge-": {
      const [, target, input, slot] = WIRE.exec(rest) ?? [];
      return target && input ? ["edge", target, input, Number(slot)] : null;
    }
    case "set":
    case "flag": {
      const [, node, field] = FIELD.exec(rest) ?? [];
      return node && field ? [kind, node, field] : null;
    }
    case "retype":
    case "move":
    case "label":
    case "note":
    case "group":
    case "graph":
      return [kind, rest];
    case "extra":
      return [kind, Number(rest)];
    default:
      return null;
  }
}

export function refusalWords(t: TFunction, telling: Telling, graph: Graph, refusal: Refusal): string {
  const { code, where, expected, got } = refusal;
  const place = placeOf(where);
  if (code === "overtaken") {
    const who = got || t("refuse.someone");
    if (!place) return t("refuse.undone", { who, what: where });
    if (place[0] === "extra" && place[1] === CONFLICTS) return t("refuse.settled", { who });
    return isGone(graph, place) ? t("refuse.gone") : t("refuse.overtaken", { who, what: telling.named(place) });
  }
  if (place && LEFT_OUT.has(code)) {
    return isGone(graph, place) ? t("refuse.gone") : t(`refuse.out.${code}`, { what: telling.named(place) });
  }
  const about = checked(telling, code, where);
  if (about) return t("card.about", { subject: about, words: diagnosis(t, refusal) });
  if (code === "offline" || code === "size" || code === "storage") return t(`refuse.${code}`);
  return t("refuse.server", { where: place ? telling.named(place) : where, expected, got });
}

/** What a run was refused for, as the check of a graph names it; null for any other place. */
function checked(telling: Telling, code: string, where: string): string | null {
  const [, node, field] = CHECKED.exec(where) ?? [];
  if (!node) return null;
  if (field && !OF_INPUTS.has(code)) return telling.named(["set", node, field]);
  return [telling.nodeName(node), ...(field ? [telling.portName(node, field)] : [])].join(" · ");
}

/** Whether the node of a place, by which it would be named, is not there. */
function isGone(graph: Graph, place: Place): boolean {
  const id: Id | null = place[0] === "graph" || place[0] === "extra" ? null : place[1];
  const isOfNode = place[0] !== "note" && place[0] !== "group";
  return id !== null && isOfNode && !graph.nodes.has(id);
}
