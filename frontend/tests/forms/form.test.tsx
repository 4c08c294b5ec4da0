// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeAll, expect, test } from "vitest";
import { Form } from "../../src/forms/Form";
import { beginLanguage } from "../../src/i18n/language";
import type { Value } from "../../src/igb/graph";
import type { JsonSchema } from "../../src/state/catalogue";

const SCHEMA: JsonSchema = {
  properties: {
    mode: { enum: ["chat", "raw"], default: "chat", title: "Mode" },
    system: { type: "string", default: "", title: "System", widget: "multiline", when: { mode: "chat" } },
    temperature: {
      type: "number",
      default: 0,
      minimum: 0,
      maximum: 2,
      title: "Temperature",
      widget: "slider",
      step: 0.05,
    },
    stop: { type: "array", default: [], maxItems: 2, title: "Stop", escapes: true },
    html: { type: "boolean", default: true, title: "HTML" },
  },
};

type Params = ReadonlyMap<string, Value>;
const edits: [string, Value | undefined][] = [];
let settled = 0;
let outside: (params: Params) => void = () => undefined;

function World({ scope, drafts, start }: { scope: string; drafts: Map<string, string>; start: Params }) {
  const [params, setParams] = useState(start);
  outside = setParams;
  const set = (name: string, value: Value | undefined) => {
    edits.push([name, value]);
    const next = new Map(params);
    if (value === undefined) next.delete(name);
    else next.set(name, value);
    setParams(next);
  };
  const settle = () => {
    settled += 1;
  };
  return (
    <Form
      scope={scope}
      schema={SCHEMA}
      params={params}
      diagnostics={[]}
      drafts={drafts}
      model="small"
      set={set}
      settle={settle}
    />
  );
}

const show = (drafts = new Map<string, string>(), start: Params = new Map()) => {
  edits.length = 0;
  settled = 0;
  return render(<World scope="n" drafts={drafts} start={start} />);
};
const field = <T extends HTMLElement = HTMLInputElement>(name: string) => screen.getByTestId<T>(`field-${name}`);

beforeAll(() => beginLanguage("en"));
afterEach(cleanup);

test("every key goes to the graph, and the gesture ends when the field is left", () => {
  show();
  fireEvent.change(field("system"), { target: { value: "Be" } });
  fireEvent.change(field("system"), { target: { value: "Be brief" } });
  fireEvent.blur(field("system"));
  expect(edits).toEqual([
    ["system", "Be"],
    ["system", "Be brief"],
  ]);
  expect(settled).toBe(1);
});

test("a text that changes elsewhere is taken over", () => {
  show();
  fireEvent.change(field("system"), { target: { value: "mine" } });
  act(() => outside(new Map([["system", "undone"]])));
  expect(field("system").value).toBe("undone");
});

test("half a composed character is not sent", () => {
  show();
  fireEvent.compositionStart(field("system"));
  fireEvent.change(field("system"), { target: { value: "ni" } });
  expect(edits).toEqual([]);
  fireEvent.change(field("system"), { target: { value: "你" } });
  fireEvent.compositionEnd(field("system"));
  expect(edits).toEqual([["system", "你"]]);
});

test("text that is no number stays as typed, says why, is not sent, and outlives the form", () => {
  const drafts = new Map<string, string>();
  const first = show(drafts);
  fireEvent.change(field("temperature"), { target: { value: "warm" } });
  fireEvent.blur(field("temperature"));
  expect(edits).toEqual([]);
  expect(screen.getByRole("alert").textContent).toBe("Needs a number, got “warm”.");
  first.unmount();
  show(drafts);
  expect(field("temperature").value).toBe("warm");
  fireEvent.change(field("temperature"), { target: { value: "0.7" } });
  expect(edits).toEqual([["temperature", 0.7]]);
  expect(screen.queryByRole("alert")).toBeNull();
});

test("arrows step a number inside its bounds", () => {
  show();
  fireEvent.keyDown(field("temperature"), { key: "ArrowDown" });
  fireEvent.keyDown(field("temperature"), { key: "ArrowUp" });
  expect(edits).toEqual([["temperature", 0.05]]);
});

test("a field with a condition goes when the condition does", () => {
  show();
  fireEvent.change(field<HTMLSelectElement>("mode"), { target: { value: "raw" } });
  expect(edits).toEqual([["mode", "raw"]]);
  expect(screen.queryByTestId("field-system")).toBeNull();
});

test("stop strings show what cannot be seen and keep a half-typed escape", () => {
  show(new Map(), new Map<string, Value>([["stop", ["\n\n"]]]));
  expect(field("stop-0").value).toBe("\\n\\n");
  fireEvent.change(field("stop-0"), { target: { value: "\\n\\" } });
  expect(edits).toEqual([]);
  expect(field("stop-0").value).toBe("\\n\\");
  fireEvent.change(field("stop-0"), { target: { value: "\\n\\t" } });
  expect(edits).toEqual([["stop", ["\n\t"]]]);
});

test("reset takes the param away and shows the default", () => {
  show(new Map(), new Map<string, Value>([["html", false]]));
  expect(field("html").checked).toBe(false);
  fireEvent.click(screen.getByTestId("reset-html"));
  expect(edits).toEqual([["html", undefined]]);
  expect(field("html").checked).toBe(true);
});
