// @vitest-environment happy-dom
import i18next from "i18next";
import { beforeAll, describe, expect, test } from "vitest";
import { createTelling } from "../../src/conflicts/telling";
import { beginLanguage } from "../../src/i18n/language";
import { placeOf, refusalWords } from "../../src/panels/refusals";
import { catalogue, graph, node } from "../canvas/world";

const [A, B] = ["000000000a", "000000000b"];
const flow = {
  ...graph([node(A, "text.template"), node(B, "flow.output")]),
  labels: new Map([[A, "Ask"]]),
  groups: new Map([["000000000g", ["Letters", [A]] as const]]),
};

test("the key of an op is read as a refusal names it", () => {
  expect(placeOf(`set ${A}.a.b`)).toEqual(["set", A, "a.b"]);
  expect(placeOf(`flag ${A}.steps`)).toEqual(["flag", A, "steps"]);
  expect(placeOf(`edge+ ${A}.text.${B}.value.2`)).toEqual(["edge", B, "value", 2]);
  expect(placeOf(`edge- ${A}.a.b.${B}.c.d.0`)).toEqual(["edge", B, "c.d", 0]);
  expect(placeOf(`node- ${A}`)).toEqual(["node", A]);
  expect(placeOf("graph a b.c")).toEqual(["graph", "a b.c"]);
  expect(placeOf("extra 68")).toEqual(["extra", 68]);
  for (const other of ["run", "push.ops[3]", "set", "set x", `edge+ ${A}`, "Edit Template"])
    expect(placeOf(other)).toBeNull();
});

describe.each(["en", "zh"] as const)("in %s", (language) => {
  beforeAll(() => beginLanguage(language));
  const told = (code: string, where: string, got = "", expected = "") => {
    const telling = createTelling({ graph: flow, catalogue, language, t: i18next.t, say: (label) => label[language] });
    return refusalWords(i18next.t, telling, flow, { code, where, expected, got });
  };

  test("what was written over names node, field and person", () => {
    const words = told("overtaken", `set ${A}.template`, "Someone");
    expect(words).toBe(
      {
        en: "Ask · template: Someone wrote there meanwhile. You wrote last: yours stands.",
        zh: "Ask · template：Someone 期间也写过。你最后写入，以你的为准。",
      }[language],
    );
    const unnamed = told("overtaken", `move ${B}`);
    expect(unnamed).toBe(
      {
        en: "flow.output · Position: someone else wrote there meanwhile. You wrote last: yours stands.",
        zh: "中flow.output · 位置：其他人期间也写过。你最后写入，以你的为准。",
      }[language],
    );
    expect(told("overtaken", "Edit Ask", "Someone")).toMatch(/“Edit Ask”.*Someone/);
  });

  test("no refusal of an edit shows a key, an id or what is meant for programs", () => {
    const keys = [
      `set ${A}.template`,
      `set 000000000c.template`,
      `flag ${A}.steps`,
      `edge+ ${A}.text.${B}.value.0`,
      `node- 000000000c`,
      `label ${B}`,
      "group 000000000g",
      "note 000000000h",
      "graph title",
      "extra 68",
      "extra 70",
    ];
    for (const code of ["overtaken", "dangling", "stale", "duplicate", "cycle"])
      for (const key of keys) {
        const words = told(code, key, "", "an op that fits");
        expect(words).not.toMatch(/00000|refuse\.|an op that fits|68|(set|flag|label|edge\+) /);
        if (key === "extra 68" && code !== "overtaken")
          expect(words).toContain({ en: "Open conflicts", zh: "未解决的冲突" }[language]);
      }
    for (const code of ["offline", "size", "storage"])
      expect(told(code, "run", "x", "y")).not.toMatch(/refuse\.|run |y,/);
  });

  test("a run that is refused before its problems were shown names node and port like their list", () => {
    expect(told("missing_input", `nodes.${B}.value`, "no edge", "text")).toBe(
      { en: "flow.output · value: Has no wire. It needs text.", zh: "中flow.output · 中value：没有连线，需要文本。" }[
        language
      ],
    );
    expect(told("missing_param", `nodes.${A}.template`)).toMatch(/^Ask · template[：:]/);
    expect(told("unknown_component", `nodes.${A}`, "text.gone", "a component")).toMatch(/^Ask[：:].*text\.gone/);
  });

  test("a conflict that another settled first is told as that", () => {
    const words = { en: "Someone settled that conflict a moment before you.", zh: "Someone 刚刚先处理了这处冲突。" };
    expect(told("overtaken", "extra 68", "Someone")).toBe(words[language]);
  });

  test("a code without words says what the server said", () => {
    expect(told("odd", "frame.x", "7", "text")).toMatch(/frame\.x.*text.*7/);
  });
});
