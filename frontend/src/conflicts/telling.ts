// Conflicts in words: what one is about, of what kind it is, and its sides as text. Looks at the graph; never at the screen.
import type { TFunction } from "i18next";
import { useMemo } from "react";
import { fieldName, nameOf, upright } from "../canvas/names";
import { pinsOf } from "../canvas/ports";
import { useEditor } from "../canvas/screen";
import { megabytes } from "../canvas/values";
import { type Language, useWords } from "../i18n/language";
import { CONFLICTS } from "../igb/conflicts";
import type { Graph, GraphNode, Id, Maybe, NodeValue, Value } from "../igb/graph";
import { isArray } from "../igb/shapes";
import type { Catalogue, Label } from "../state/catalogue";
import { notation } from "../versions/patchText";
import { clipped, shortened } from "./clipped";
import type { Conflict, Key } from "./conflict";
import { entriesOf } from "./section";

const KIB = 1024;
const LONGEST = 200; // UTF-16 units of a name; files and sockets bring longer ones

/** What a change can be about: the key of a conflict, or of an op that is never one. */
export type Place = Key | readonly ["move", Id];

export interface Subject {
  readonly where: string; // the node as people know it, or the graph's own part
  readonly what: string; // the field in it
}

/** A side as text. `nothing`: words of ours for what is not there; `prose`: written by someone, to be read word by word. */
export interface Told {
  readonly text: string;
  readonly as: "nothing" | "fact" | "prose";
}

export type Telling = ReturnType<typeof createTelling>;

export function useTelling(): Telling {
  const { t, say, language } = useWords();
  const graph = useEditor((editor) => editor.graph);
  const catalogue = useEditor((editor) => editor.catalogue);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `say` is made anew at each drawing and depends on the language
  return useMemo(() => createTelling({ graph, catalogue, t, say, language }), [graph, catalogue, t, language]);
}

interface World {
  graph: Graph;
  catalogue: Catalogue;
  t: TFunction;
  say: (label: Label) => string;
  language: Language;
}

export function createTelling({ graph, catalogue, t, say, language }: World) {
  const entryOf = (node: GraphNode | undefined) => node && catalogue.get(node.component);
  const componentName = (component: string): string => {
    const label = catalogue.get(component)?.label;
    return label ? say(label) : component;
  };

  /** A node's name; of one that is not there its component, as far as a conflict about it tells. */
  function nodeName(id: Id): string {
    if (graph.nodes.has(id)) return nameOf(graph, catalogue, id, language);
    const about = entriesOf(graph).find(
      ({ conflict }) => conflict?.key[0] === "node" && conflict.key[1] === id,
    )?.conflict;
    const value = about && [about.ours, about.theirs, about.base].find((side) => side.length > 0)?.[0];
    return isArray(value) ? componentName(value[0] as string) : id;
  }

  function portName(id: Id, port: string): string {
    const node = graph.nodes.get(id);
    if (!node) return port;
    const { inputs, outputs } = pinsOf(node, entryOf(node), [], []);
    return fieldName(port, undefined, [...inputs, ...outputs], say);
  }

  function subject(key: Place): Subject {
    const { where, what } = wholeSubject(key);
    return { where, what: shortened(upright(what), LONGEST) };
  }

  function wholeSubject(key: Place): Subject {
    switch (key[0]) {
      case "node":
        return { where: nodeName(key[1]), what: t("conflicts.field.node") };
      case "edge":
        return { where: nodeName(key[1]), what: t("conflicts.field.edge", { input: portName(key[1], key[2]) }) };
      case "set":
        return { where: nodeName(key[1]), what: fieldName(key[2], entryOf(graph.nodes.get(key[1])), [], say) };
      case "flag":
        return { where: nodeName(key[1]), what: t(`versions.flag.${key[2]}`) };
      case "retype":
      case "label":
      case "move":
        return { where: nodeName(key[1]), what: t(`versions.field.${key[0]}`) };
      case "note":
      case "group":
        return { where: t(`conflicts.where.${key[0]}`), what: graph.groups.get(key[1])?.[0] ?? "" };
      case "graph":
        return { where: t("conflicts.where.graph"), what: key[1] ?? "" };
      case "extra":
        if (key[1] === CONFLICTS) return { where: t("conflicts.title"), what: "" };
        return { where: t("conflicts.where.extra"), what: t("conflicts.field.extra", { section: key[1] }) };
    }
  }

  /** A change in a few words. */
  function named(key: Place): string {
    const { where, what } = subject(key);
    return what ? `${where} · ${what}` : where;
  }

  const kind = (code: string): string => t(`conflicts.kind.${code}`, { defaultValue: code });

  /** A side of a conflict. What is not there was deleted if it was there before. */
  function side({ key, base }: Conflict, [value]: Maybe): Told {
    if (value !== undefined) return { text: shownValue(key, value), as: isProse(key, value) ? "prose" : "fact" };
    const none = noneOf(key);
    return { text: t(`conflicts.none.${none === "node" && base.length > 0 ? "deleted" : none}`), as: "nothing" };
  }

  function shownValue(key: Key, value: Value): string {
    if (key[0] === "node") return wholeNode(value as unknown as NodeValue);
    if (key[0] === "edge" && isArray(value)) {
      const [source, output] = value as readonly [Id, string];
      return `${nodeName(source)} · ${portName(source, output)}`;
    }
    if (key[0] === "retype" && isArray(value)) return `${value[0]}@${value[1]}`;
    if (key[0] === "note" && isArray(value)) return value[4] as string;
    if (key[0] === "group" && isArray(value)) {
      const members = value[1] as readonly Id[];
      const label = (value[0] as string) || t("conflicts.none.label");
      return `${label}\n${t("home.nodes", { count: members.length })}`;
    }
    if (key[0] === "flag") return flag(key[2], value);
    return typeof value === "string" && value !== "" ? value : notation(clipped(value));
  }

  function flag(name: string, value: Value): string {
    if (name === "disabled") return t("state.disabled");
    if (name === "kv") return `${megabytes((value as number) * KIB)} MB`;
    return name === "seconds" ? `${value} s` : String(value);
  }

  /** Component, settings and limits, a line each. */
  function wholeNode([component, version, params, flags]: NodeValue): string {
    const entry = catalogue.get(component);
    const lines = [`${componentName(component)} (${component}@${version})`];
    for (const [name, value] of [...params].slice(0, 50)) {
      const text = typeof value === "string" ? shortened(value) : notation(clipped(value));
      lines.push(`${fieldName(name, entry, [], say)}: ${text}`);
    }
    for (const [name, value] of flags) lines.push(`${t(`versions.flag.${name}`)}: ${flag(name, value)}`);
    return lines.join("\n");
  }

  return { subject, named, kind, side, nodeName, portName };
}

function isProse(key: Key, value: Value): boolean {
  return key[0] === "node" || key[0] === "note" || (typeof value === "string" && key[0] !== "label");
}

function noneOf(key: Key): "node" | "edge" | "flag" | "label" | "value" {
  if (key[0] === "node" || key[0] === "note" || key[0] === "group") return "node";
  if (key[0] === "edge" || key[0] === "label") return key[0];
  return key[0] === "flag" && key[2] === "disabled" ? "flag" : "value";
}
