// What hands do to a graph, as edits with a name for undo. Every way in (mouse, keyboard, palette, inspector) ends here.
import type { TFunction } from "i18next";
import { useMemo } from "react";
import { type Language, useWords } from "../i18n/language";
import type { Edge, Graph, Id, Op, Value } from "../igb/graph";
import type { Catalogue, CatalogueEntry } from "../state/catalogue";
import { canConnect } from "../state/connect";
import type { ConnectVerdict } from "../state/editor";
import * as edits from "../state/edits";
import { createCards, GRID, HEAD } from "./cards";
import { fromClipboard, toClipboard } from "./clipboard";
import { edgeBetween, edgeId } from "./connecting";
import { fittingPort } from "./finder";
import { named, renamed } from "./flowNames";
import { nameOf } from "./names";
import { refusalWords } from "./refusal";
import { type Screen, useScreen } from "./screen";
import type { PortRef } from "./view";

type Point = readonly [number, number];
export interface XY {
  x: number;
  y: number;
}

const snap = (value: number): number => Math.round(value / GRID) * GRID;
const PASTE: Point = [3 * GRID, 3 * GRID];

export type Gestures = ReturnType<typeof createGestures>;

export function useGestures(): Gestures {
  const screen = useScreen();
  const { t, language } = useWords();
  return useMemo(() => createGestures(screen, t, language), [screen, t, language]);
}

function createGestures({ editor, view }: Screen, t: TFunction, language: Language) {
  const now = () => editor.getState();
  const graph = () => now().graph;
  const name = (id: Id) => nameOf(graph(), now().catalogue, id, language);
  const labelled = (key: string, ids: readonly Id[]) => t(key, { count: ids.length });
  const apply = (label: string, ops: readonly Op[], gesture: string | null = null) => {
    if (ops.length > 0 && !view.getState().abandoning) now().edit(label, ops, gesture);
  };

  function verdict(a: PortRef, b: PortRef): ConnectVerdict {
    if (a.side === b.side) return { code: "direction", expected: "", got: "" };
    return canConnect(graph(), now().catalogue, edgeBetween(a, b));
  }

  function refuse(a: PortRef, b: PortRef): void {
    const why = verdict(a, b);
    if (!why) return;
    view.getState().set({ refusal: { at: b, verdict: why } });
    view.getState().say(refusalWords(t, why));
  }

  function connect(a: PortRef, b: PortRef): boolean {
    if (verdict(a, b)) {
      refuse(a, b);
      return false;
    }
    const edge = edgeBetween(a, b);
    apply(t("edit.connect", { source: name(edge.source), target: name(edge.target) }), edits.connect(graph(), edge));
    return true;
  }

  function reconnect(old: Edge, a: PortRef, b: PortRef): void {
    const edge = edgeBetween(a, b);
    if (edgeId(edge) === edgeId(old)) return;
    const label = t("edit.connect", { source: name(edge.source), target: name(edge.target) });
    const gesture = `reconnect ${edgeId(old)} ${edgeId(edge)}`;
    apply(label, edits.disconnect(graph(), [old]), gesture);
    apply(label, edits.connect(graph(), edge), gesture);
    now().settle();
  }

  function disconnect(edge: Edge): void {
    apply(t("edit.disconnect", { target: name(edge.target) }), edits.disconnect(graph(), [edge]));
  }

  /** Add a node with its corner at a point; with `from`, wired to it in the same undo entry. */
  function add(entry: CatalogueEntry, at: XY, from: PortRef | null = null, centre = false): Id {
    const label = t(from ? "edit.addWired" : "edit.add", { name: entry.label[language] || entry.label.en });
    const place = centre ? centred(entry, at) : ([snap(at.x), snap(at.y)] as const);
    const made = edits.addNode(entry, place, named(graph(), entry));
    const id = made.ids[0] as Id;
    const gesture = `add ${id}`;
    apply(label, made.ops, gesture);
    const node = graph().nodes.get(id);
    const port = from && node ? fittingPort(graph(), now().catalogue, from, node) : null;
    if (from && port) apply(label, edits.connect(graph(), edgeBetween(from, port)), gesture);
    now().settle();
    view.getState().select([id]);
    view.getState().say(label);
    return id;
  }

  /** The middle of the card at the point, a little aside while it would cover another card's name. */
  function centred(entry: CatalogueEntry, at: XY): Point {
    const card = sizeOf(entry, now().catalogue);
    const cards = createCards()(graph(), now().catalogue);
    const heads = [...graph().positions].map(([id, [x, y]]) => ({ x, y, width: cards.get(id)?.width ?? 0 }));
    let [x, y] = [snap(at.x - card.width / 2), snap(at.y - card.height / 2)];
    const covers = (head: { x: number; y: number; width: number }) =>
      x < head.x + head.width && head.x < x + card.width && y < head.y + HEAD && head.y < y + card.height;
    while (heads.some(covers)) [x, y] = [x + PASTE[0], y + PASTE[1]];
    return [x, y];
  }

  function chosen(): Id[] {
    return [...view.getState().selected].filter((id) => graph().nodes.has(id));
  }

  function remove(key: "edit.delete" | "edit.cut" = "edit.delete"): void {
    const ids = chosen();
    const wires = view.getState().wires;
    const edges = graph().edges.filter((edge) => wires.has(edgeId(edge)));
    const label = t(key, { count: ids.length + edges.length });
    const gesture = `remove ${ids.join()} ${[...wires].join()}`;
    apply(label, edits.disconnect(graph(), edges), gesture);
    apply(label, edits.removeNodes(graph(), ids), gesture);
    now().settle();
    view.getState().select([]);
    if (ids.length + edges.length > 0) view.getState().say(label);
  }

  function move(places: ReadonlyMap<Id, Point>, gesture: string | null = null): void {
    apply(labelled("edit.move", [...places.keys()]), edits.moveNodes(graph(), places), gesture);
  }

  function nudge(dx: number, dy: number): void {
    const places = new Map<Id, Point>();
    for (const id of chosen()) {
      const [x, y] = graph().positions.get(id) ?? [0, 0];
      places.set(id, [x + dx, y + dy]);
    }
    move(places, `nudge ${[...places.keys()].join()}`);
  }

  function take(added: edits.Added, key: string): void {
    if (added.ids.length === 0) return;
    const label = labelled(key, added.ids);
    apply(label, renamed(graph(), now().catalogue, added.ops));
    view.getState().select(added.ids);
    view.getState().say(label);
  }

  const shared = { verdict, refuse, connect, reconnect, disconnect, add, remove, move, nudge };
  return {
    ...shared,
    duplicate: () => take(edits.duplicate(graph(), chosen(), PASTE), "edit.duplicate"),
    copied(): string | null {
      const ids = chosen();
      if (ids.length === 0) return null;
      view.getState().say(t("canvas.copied", { count: ids.length }));
      return toClipboard(edits.copy(graph(), ids));
    },
    paste(text: string): boolean {
      const clip = fromClipboard(text);
      if (!clip) return false;
      take(edits.paste(clip, PASTE), "edit.paste");
      return true;
    },
    selectAll: () => view.getState().select(graph().nodes.keys()),
    set(id: Id, param: string, title: string, value: Value | undefined): void {
      const key = value === undefined ? "edit.reset" : "edit.set";
      const ops = edits.setParam(graph(), now().catalogue, id, param, value);
      // While a template is typed its wires stay, or half a name would lose them; leaving the field lets them go.
      const typed = value === undefined ? ops : ops.filter((op) => op[0] === "set");
      apply(t(key, { field: title, name: name(id) }), typed, `set ${id} ${param}`);
    },
    /** Leaving a field: wires into slots that the template has lost go with the same undo entry. */
    leave(id: Id, param: string | null, lost: readonly Edge[]): void {
      if (param && lost.length > 0) {
        apply(t("edit.set", { field: param, name: name(id) }), edits.disconnect(graph(), lost), `set ${id} ${param}`);
      }
      now().settle();
    },
    budget(id: Id, flag: string, value: number | undefined): void {
      apply(t("edit.budget", { name: name(id) }), edits.setFlag(graph(), id, flag, value), `flag ${id} ${flag}`);
    },
    toggle(id: Id): void {
      const off = graph().nodes.get(id)?.flags.get("disabled") === true;
      apply(t("edit.toggle", { name: name(id) }), edits.setFlag(graph(), id, "disabled", off ? undefined : true));
    },
    rename(id: Id, label: string): void {
      apply(t("edit.rename", { name: name(id) }), edits.rename(graph(), id, label), `rename ${id}`);
    },
  };
}

const EMPTY_POSITIONS: Graph["positions"] = new Map();

function sizeOf(entry: CatalogueEntry, catalogue: Catalogue): { width: number; height: number } {
  const node = { id: "0000000000", component: entry.name, version: entry.version, params: new Map(), flags: new Map() };
  const alone: Graph = {
    nodes: new Map([[node.id, node]]),
    edges: [],
    settings: new Map(),
    positions: EMPTY_POSITIONS,
    labels: new Map(),
    notes: new Map(),
    groups: new Map(),
    extra: new Map(),
  };
  return createCards()(alone, catalogue).get(node.id) ?? { width: 0, height: 0 };
}
