// @vitest-environment happy-dom
import { readFileSync } from "node:fs";
import i18next from "i18next";
import { beforeAll, describe, expect, test } from "vitest";
import { further, opened } from "../../src/conflicts/acts";
import type { Conflict } from "../../src/conflicts/conflict";
import { type Entry, entriesOf } from "../../src/conflicts/section";
import { createTelling } from "../../src/conflicts/telling";
import { beginLanguage } from "../../src/i18n/language";
import type { Graph } from "../../src/igb/graph";
import { EMPTY, read } from "../../src/igb/igb";
import { catalogue, node } from "../canvas/world";

const file = new URL("../../../tests/spec/merge.json", `file://${import.meta.dirname}/`);
const cases: { name: string; graph: string }[] = JSON.parse(readFileSync(file, "utf8"));
const graphOf = (hex: string): Graph => read(Uint8Array.from(Buffer.from(hex, "hex")));
const conflictsOf = (graph: Graph): Conflict[] => entriesOf(graph).flatMap(({ conflict }) => conflict ?? []);
const named = (name: string): Graph => graphOf(cases.find((one) => one.name === name)?.graph ?? "");

describe.each(["en", "zh"] as const)("in %s", (language) => {
  beforeAll(() => beginLanguage(language));
  const telling = (graph: Graph) =>
    createTelling({ graph, catalogue, language, t: i18next.t, say: (label) => label[language] });

  test("every kind of conflict has words for what it is about, its kind and its sides", () => {
    for (const { graph: hex } of cases) {
      const graph = graphOf(hex);
      const { subject, kind, side } = telling(graph);
      for (const conflict of conflictsOf(graph)) {
        expect(subject(conflict.key).where).not.toMatch(/^$|conflicts\./);
        expect(kind(conflict.code)).not.toMatch(/^$|_|conflicts\./);
        for (const one of ["base", "ours", "theirs"] as const)
          expect(side(conflict, conflict[one]).text).not.toMatch(/^$|conflicts\./);
      }
    }
  });

  test("a code that no merge of today makes is shown as it is", () => {
    expect(telling(EMPTY).kind("from_tomorrow")).toBe("from_tomorrow");
  });
});

describe("in words", () => {
  beforeAll(() => beginLanguage("en"));
  const told = (graph: Graph) => {
    const { subject, side } = createTelling({
      graph,
      catalogue,
      language: "en",
      t: i18next.t,
      say: (label) => label.en,
    });
    return conflictsOf(graph).map((one) => [
      subject(one.key),
      ...[one.base, one.ours, one.theirs].map((value) => side(one, value).text),
    ]);
  };

  test("a node that one side deleted goes by its component and says that it was deleted", () => {
    expect(told(named("deleted here, changed there"))).toEqual([
      [
        { where: "text.template", what: "Node" },
        "text.template (text.template@1)\ntemplate: Answer briefly: {text}",
        "deleted",
        "text.template (text.template@1)\ntemplate: Be brief: {text}",
      ],
    ]);
  });

  test("a wire goes by the node and port it comes from", () => {
    expect(told(named("two sources of one input"))).toEqual([
      [{ where: "Answer", what: "Wire into prompt" }, "text.template · text", "text.input · text", "text.input · text"],
    ]);
  });

  test("a limit is a number with its unit, a default is said to be one", () => {
    expect(told(named("a limit"))).toEqual([[{ where: "Answer", what: "Steps" }, "64", "9", "12"]]);
    expect(told(named("a setting that theirs left to its default"))).toEqual([
      [{ where: "Answer", what: "max_tokens" }, "9", "4", "as default"],
    ]);
  });
});

test("names that others chose turn round nothing beside them, and are short", async () => {
  await beginLanguage("en");
  const A = "000000000a";
  const flow = { ...EMPTY, nodes: new Map([[A, node(A, "text.template")]]), labels: new Map([[A, "A\u202eksA"]]) };
  const { named, subject } = createTelling({
    graph: flow,
    catalogue,
    language: "en",
    t: i18next.t,
    say: (label) => label.en,
  });
  expect(named(["set", A, "tem\u2067plate"])).toBe("AksA · template");
  expect(subject(["graph", `\u202d${"x".repeat(5_000)}`]).what).toBe(`${"x".repeat(200)}…`);
});

test("the list opens at the entry that was looked at, else at the first, and walking goes round", () => {
  const graph = named("the rest of theirs");
  const entries = entriesOf(graph);
  const [first, second, third] = entries.map(({ name }: Entry) => name);
  expect(opened({ graph }, { conflict: null }).conflict).toBe(first);
  expect(opened({ graph }, { conflict: second ?? "" }).conflict).toBe(second);
  expect(opened({ graph }, { conflict: "gone" }).conflict).toBe(first);
  expect([further(entries, null, 1), further(entries, null, -1)]).toEqual([first, third]);
  expect([further(entries, third ?? "", 1), further(entries, first ?? "", -1)]).toEqual([first, third]);
  expect(further([], null, 1)).toBe(null);
});
