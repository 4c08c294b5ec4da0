import { describe, expect, test } from "vitest";
import { createRest, RestError } from "../../src/state/rest";

interface Call {
  url: string;
  method: string | undefined;
  body: unknown;
}

function world(status: number, body: unknown): { calls: Call[]; rest: ReturnType<typeof createRest> } {
  const calls: Call[] = [];
  const rest = createRest("http://127.0.0.1:8000", async (input, init) => {
    calls.push({ url: String(input), method: init?.method, body: init?.body });
    const raw =
      body instanceof Uint8Array
        ? (body as Uint8Array<ArrayBuffer>)
        : typeof body === "string"
          ? body
          : JSON.stringify(body);
    return new Response(status === 204 ? null : raw, { status });
  });
  return { calls, rest };
}

describe("REST", () => {
  test("the catalogue is a map by name", async () => {
    const { rest, calls } = world(200, [{ name: "text.input" }, { name: "llm.generate" }]);
    expect([...(await rest.catalogue()).keys()]).toEqual(["text.input", "llm.generate"]);
    expect(calls).toEqual([{ url: "http://127.0.0.1:8000/api/catalogue", method: "GET", body: undefined }]);
  });

  test("a Space is made, from a template or empty, and imported byte for byte", async () => {
    const { rest, calls } = world(201, { id: "0000000000" });
    await rest.makeSpace("Mine");
    await rest.makeSpace("Mine", "summary", "zh");
    const igb = Uint8Array.of(0x89, 0, 255);
    await rest.importSpace("A & B", igb);
    expect(calls).toEqual([
      { url: "http://127.0.0.1:8000/api/spaces", method: "POST", body: '{"name":"Mine"}' },
      {
        url: "http://127.0.0.1:8000/api/spaces",
        method: "POST",
        body: '{"name":"Mine","template":"summary","language":"zh"}',
      },
      { url: "http://127.0.0.1:8000/api/spaces/import?name=A%20%26%20B", method: "POST", body: igb },
    ]);
  });

  test("files and graphs are bytes", async () => {
    const { rest } = world(200, Uint8Array.of(1, 2, 255));
    expect(await rest.file("ab")).toEqual(Uint8Array.of(1, 2, 255));
    expect(await rest.graph("0000000000")).toEqual(Uint8Array.of(1, 2, 255));
  });

  test("deleting answers nothing", async () => {
    const { rest, calls } = world(204, null);
    expect(await rest.deleteSpace("0000000000")).toBeUndefined();
    expect(calls[0]?.method).toBe("DELETE");
  });

  test("a refusal says what the server said", async () => {
    const refusal = {
      code: "not_found",
      where: "space",
      expected: "a space that exists",
      got: "x",
      hint: "look at the list",
    };
    const { rest } = world(404, refusal);
    const error = await rest.space("x").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RestError);
    expect(error).toMatchObject({
      status: 404,
      refusal,
      message: "not_found at space: expected a space that exists, got x",
    });
  });

  test("a page in place of an answer, another shape and no answer are refusals too", async () => {
    await expect(world(502, "<html>").rest.spaces()).rejects.toMatchObject({
      status: 502,
      refusal: { code: "unreachable", where: "/spaces" },
    });
    await expect(world(200, { not: "a list" }).rest.spaces()).rejects.toMatchObject({
      refusal: { expected: "a list", got: "object" },
    });
    const dead = createRest("", () => Promise.reject(new TypeError("fetch failed")));
    await expect(dead.engine()).rejects.toMatchObject({
      status: 0,
      refusal: { code: "unreachable", got: "TypeError: fetch failed" },
    });
  });

  test("the status of a Space is told, whatever it is", async () => {
    expect(await world(200, {}).rest.status("x")).toBe(200);
    expect(await world(401, null).rest.status("x")).toBe(401);
    expect(await createRest("", () => Promise.reject(new TypeError("fetch failed"))).status("x")).toBe(0);
  });
});
