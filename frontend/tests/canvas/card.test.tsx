// @vitest-environment happy-dom

import { act, cleanup, render, screen } from "@testing-library/react";
import { ReactFlowProvider } from "@xyflow/react";
import { type ComponentProps, Profiler } from "react";
import { afterEach, beforeAll, expect, test } from "vitest";
import { createStore, type StoreApi } from "zustand/vanilla";
import { createCards } from "../../src/canvas/cards";
import { NodeCard } from "../../src/canvas/NodeCard";
import { ScreenContext } from "../../src/canvas/screen";
import { createView } from "../../src/canvas/view";
import { beginLanguage } from "../../src/i18n/language";
import type { Editor, NodeRun, RunView } from "../../src/state/editor";
import { IDLE } from "../../src/state/runs";
import { catalogue, edge, graph, node } from "./world";

const flow = graph(
  [node("a", "text.clean"), node("b", "llm.generate"), node("c", "flow.output")],
  [edge("a.text", "b.prompt"), edge("b.text", "c.value")],
);
const cards = createCards()(flow, catalogue);

function view(nodes: Record<string, Partial<NodeRun>>): RunView {
  return {
    id: "r",
    recalled: false,
    status: "running",
    reason: null,
    startedAt: 0,
    seconds: null,
    device: "cpu",
    executor: "",
    model: "",
    nodes: new Map(Object.entries(nodes).map(([id, part]) => [id, { ...IDLE, ...part }])),
    outputs: new Map(),
  };
}

function world(part: Partial<Editor> = {}): StoreApi<Editor> {
  const state = { graph: flow, catalogue, diagnostics: [], run: null, ...part };
  return createStore<Editor>()(() => state as unknown as Editor);
}

const drawn: string[] = [];

function show(editor: StoreApi<Editor>) {
  drawn.length = 0;
  const props = (id: string) =>
    ({ id, data: { card: cards.get(id) }, selected: false }) as unknown as ComponentProps<typeof NodeCard>;
  return render(
    <ScreenContext value={{ editor, view: createView() }}>
      <ReactFlowProvider>
        {["a", "b", "c"].map((id) => (
          <Profiler key={id} id={id} onRender={(name) => drawn.push(name)}>
            <NodeCard {...props(id)} />
          </Profiler>
        ))}
      </ReactFlowProvider>
    </ScreenContext>,
  );
}

beforeAll(() => beginLanguage("en"));
afterEach(cleanup);

test("a node that streams is drawn again alone", () => {
  const editor = world({
    run: view({ a: { phase: "done" }, b: { phase: "running", stepsLimit: 8 }, c: { phase: "waiting" } }),
  });
  show(editor);
  drawn.length = 0;
  for (const text of ["One", "One two", "One two three"]) {
    const { run } = editor.getState();
    const nodes = new Map(run?.nodes).set("b", { ...IDLE, phase: "running", text, steps: text.length, stepsLimit: 8 });
    act(() => editor.setState({ run: { ...(run as RunView), nodes } }));
  }
  expect(new Set(drawn)).toEqual(new Set(["b"]));
  expect(screen.getByTestId("node-b").textContent).toContain("One two three");
});

test("a card says why it waits and what is missing", () => {
  show(world({ run: view({ a: { phase: "done" }, b: { phase: "running" }, c: { phase: "waiting" } }) }));
  expect(screen.getByTestId("node-c").textContent).toContain("Waits for llm.generate.");
  cleanup();
  const gap = {
    code: "missing_input",
    where: "nodes.a.text",
    node: "a",
    field: "text",
    expected: "text",
    got: "no edge",
    hint: "",
  };
  show(world({ diagnostics: [gap] }));
  expect(screen.getByTestId("node-a").textContent).toContain("text needs a wire");
});

test("a spent budget is amber, keeps its text and offers the limit", () => {
  const error = { code: 701, name: "LAUNCH_OUT_OF_RESOURCES", where: "steps", expected: "", got: "" };
  show(world({ run: view({ b: { phase: "failed", text: "Half a", steps: 8, stepsLimit: 8, error } }) }));
  const card = screen.getByTestId("node-b");
  expect(card.dataset.status).toBe("over");
  expect(card.textContent).toContain("Stopped at 8 steps. 8 tok kept.");
  expect(card.textContent).toContain("Half a");
  expect(screen.getByRole("button").textContent).toBe("Raise the limit");
});

test("text of a model is text, whatever it holds", () => {
  show(world({ run: view({ b: { phase: "done", text: "<img src=x onerror=alert(1)>" } }) }));
  expect(screen.getByTestId("node-b").querySelector("img")).toBeNull();
  expect(screen.getByTestId("node-b").textContent).toContain("<img src=x onerror=alert(1)>");
});
