// The graph as React Flow takes it, shared by the canvas, its minimap and its keys; positions under the hand come first.
import type { NodeChange } from "@xyflow/react";
import { createContext, useCallback, useContext, useMemo, useState } from "react";
import { useShallow } from "zustand/react/shallow";
import { useWords } from "../i18n/language";
import type { Id } from "../igb/graph";
import { type Card, createCards } from "./cards";
import { createEdges, createNodes } from "./flow";
import type { CardNode } from "./NodeCard";
import { runOrder } from "./order";
import { useEditor, useView } from "./screen";
import { statusOf } from "./status";
import type { WireEdge } from "./Wire";

type Place = readonly [number, number];

export interface FlowGraph {
  nodes: CardNode[];
  edges: WireEdge[];
  order: readonly Id[];
  cards: ReadonlyMap<Id, Card>;
  hold(changes: NodeChange<CardNode>[]): void;
  release(): void;
}

export const FlowGraphContext = createContext<FlowGraph | null>(null);

export function useFlowGraph(): FlowGraph {
  const graph = useContext(FlowGraphContext);
  if (!graph) throw new Error("expected a FlowGraphContext above, got none");
  return graph;
}

const NOTHING: ReadonlyMap<Id, Place> = new Map();

export function useBuiltFlow(): FlowGraph {
  const graph = useEditor((editor) => editor.graph);
  const catalogue = useEditor((editor) => editor.catalogue);
  const states = useEditor(
    useShallow((editor) => [...graph.nodes].map(([id, node]) => statusOf(node, editor.run?.nodes.get(id)))),
  );
  const selected = useView((view) => view.selected);
  const wires = useView((view) => view.wires);
  const { t, language } = useWords();
  const [held, setHeld] = useState(NOTHING);
  const [cardsOf] = useState(createCards);
  const [nodesOf] = useState(createNodes);
  const [edgesOf] = useState(createEdges);

  const order = useMemo(() => runOrder(graph), [graph]);
  const cards = useMemo(() => cardsOf(graph, catalogue), [cardsOf, graph, catalogue]);
  const { nodes: members, labels } = graph;
  const spoken = useMemo(() => {
    const words = new Map<Id, string>();
    let index = 0;
    for (const [id, node] of members) {
      const entry = catalogue.get(node.component);
      const kind = entry ? entry.label[language] || entry.label.en : node.component;
      const state = t(`state.${states[index] ?? "idle"}`);
      words.set(id, t("canvas.node", { name: labels.get(id) ?? kind, kind, state }));
      index += 1;
    }
    return words;
  }, [members, labels, catalogue, states, t, language]);
  const nodes = useMemo(
    () =>
      nodesOf({
        order,
        cards,
        selected,
        place: (id) => held.get(id) ?? graph.positions.get(id) ?? [0, 0],
        say: (id) => spoken.get(id) ?? id,
      }),
    [nodesOf, order, cards, selected, held, graph.positions, spoken],
  );
  const placed = useMemo(
    () => (held.size === 0 ? graph : { ...graph, positions: new Map([...graph.positions, ...held]) }),
    [graph, held],
  );
  const edges = useMemo(() => edgesOf(placed, cards, wires), [edgesOf, placed, cards, wires]);

  const hold = useCallback((changes: NodeChange<CardNode>[]) => {
    setHeld((old) => {
      const next = new Map(old);
      for (const change of changes) {
        if (change.type === "position" && change.position) next.set(change.id, [change.position.x, change.position.y]);
      }
      return next;
    });
  }, []);
  const release = useCallback(() => setHeld(NOTHING), []);
  return useMemo(() => ({ nodes, edges, order, cards, hold, release }), [nodes, edges, order, cards, hold, release]);
}
