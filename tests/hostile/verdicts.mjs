// What the editor's readers say to bytes: records on stdin (kind, u32 length, bytes), one JSON verdict a line on stdout.
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const frontend = fileURLToPath(new URL("../../frontend/", import.meta.url));
const { rolldown } = await import(pathToFileURL(createRequire(`${frontend}package.json`).resolve("rolldown")).href);
const folder = mkdtempSync(join(tmpdir(), "verdicts-"));
process.on("exit", () => rmSync(folder, { recursive: true }));
const entry = join(folder, "readers.ts");
const modules = ["cbor", "igb", "ops", "patch", "shapes"];
writeFileSync(entry, modules.map((name) => `export * as ${name} from ${JSON.stringify(`${frontend}src/igb/${name}`)};`).join("\n"));
const bundle = await rolldown({ input: entry });
await bundle.write({ file: join(folder, "readers.mjs"), format: "esm" });
const { cbor, igb, ops, patch, shapes } = await import(pathToFileURL(join(folder, "readers.mjs")).href);

const MAGIC = Uint8Array.from([0x89, 0x49, 0x47, 0x42, 0x0d, 0x0a, 0x1a, 0x0a]);

const written = {
  codec: (bytes) => cbor.encode(cbor.decode(bytes)),
  igb: (bytes) => igb.write(igb.read(bytes)),
  patch: (bytes) => patch.writePatch(patch.readPatch(bytes)),
  apply: (bytes) => {
    const pair = cbor.decode(bytes);
    if (!shapes.isArray(pair) || pair.length !== 2 || !shapes.isMap(pair[0]) || !shapes.isArray(pair[1]))
      throw new shapes.Invalid("section", "pair", "a graph and ops", "something else");
    const graph = igb.read(Buffer.concat([MAGIC, cbor.encode(pair[0])]));
    const given = pair[1].map((value, i) => {
      const op = ops.readOp(value, `ops[${i}]`);
      ops.checkSecretsOf(op, `ops[${i}]`);
      return op;
    });
    return igb.write(patch.applyOps(graph, given));
  },
};

function verdict(kind, bytes) {
  try {
    return { verdict: "accept", bytes: createHash("sha256").update(written[kind](bytes)).digest("hex") };
  } catch (error) {
    if (error instanceof cbor.Malformed) return { verdict: "malformed", code: error.code, offset: error.offset };
    if (error instanceof shapes.Invalid) return { verdict: "invalid", code: error.code, path: error.path };
    return { verdict: "crash", code: String(error?.stack ?? error) };
  }
}

const kind = process.argv[2];
const input = readFileSync(0);
const lines = [];
for (let at = 0; at < input.length; ) {
  const size = input.readUInt32LE(at);
  lines.push(JSON.stringify(verdict(kind, new Uint8Array(input.subarray(at + 4, at + 4 + size)))));
  at += 4 + size;
}
process.stdout.write(`${lines.join("\n")}\n`);
