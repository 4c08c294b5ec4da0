// The name a node goes by: the one people gave it, else its component's in their language.
import type { Language } from "../i18n/language";
import { useWords } from "../i18n/language";
import type { Graph, Id } from "../igb/graph";
import type { Catalogue, CatalogueEntry, Label } from "../state/catalogue";
import type { Editor } from "../state/editor";
import { useEditor, useScreen } from "./screen";

export function nameOf(graph: Graph, catalogue: Catalogue, id: Id, language: Language): string {
  const given = upright(graph.labels.get(id) ?? "");
  if (given) return given;
  const component = graph.nodes.get(id)?.component ?? id;
  const label = catalogue.get(component)?.label;
  return label ? label[language] || label.en : component;
}

/** A name without the marks that would turn round what stands beside it. */
export const upright = (name: string): string => name.replace(/[\u202a-\u202e\u2066-\u2069]/g, "");

/** A setting or a port as people know it: its title, else its own name. */
export function fieldName(
  field: string,
  entry: CatalogueEntry | undefined,
  pins: readonly { name: string; label: Label }[],
  say: (label: Label) => string,
): string {
  const param = entry?.schema.properties?.[field];
  if (param) return say({ en: param.title ?? field, zh: param.zh ?? param.title ?? field });
  const pin = pins.find((pin) => pin.name === field);
  return pin ? say(pin.label) : upright(field);
}

export const nameIn = (editor: Editor, id: Id, language: Language): string =>
  nameOf(editor.graph, editor.catalogue, id, language);

export function useName(id: Id): string {
  const { language } = useWords();
  return useEditor((editor) => nameIn(editor, id, language));
}

/** Names on demand, for handlers; it never re-renders. */
export function useNaming(): (id: Id) => string {
  const { language } = useWords();
  const { editor } = useScreen();
  return (id) => nameIn(editor.getState(), id, language);
}
