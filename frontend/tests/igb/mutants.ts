// Drops one check of `src/igb/` at a time. A mutant is a module with one guard, one part of a condition, one call of a check
// or one bound gone; it is compiled and evaluated beside fresh copies of the others, so that the real ones stay as they are.
import { readFileSync } from "node:fs";
import ts from "typescript";
import type { Readers } from "./vectors";

export const MODULES = [
  "budget",
  "cbor",
  "draft",
  "graph",
  "id",
  "igb",
  "ops",
  "patch",
  "paths",
  "shapes",
  "template",
] as const;
export type Module = (typeof MODULES)[number];

export interface Mutant {
  readonly module: Module;
  readonly where: string; // the function
  readonly name: string; // module, function, what is gone
  readonly source: string;
}

interface Change {
  readonly where: string;
  readonly what: string;
  readonly node: ts.Node;
  readonly text: string;
}

const sources = new Map(MODULES.map((module) => [module, readFileSync(path(module), "utf8")]));
const originals = new Map(MODULES.map((module) => [module, compiled(sources.get(module) as string)]));

function path(module: Module): URL {
  return new URL(`../../src/igb/${module}.ts`, import.meta.url);
}

/** Every mutant of a module. */
export function* mutants(module: Module): Generator<Mutant> {
  const source = sources.get(module) as string;
  const file = ts.createSourceFile(`${module}.ts`, source, ts.ScriptTarget.ES2022, true);
  const seen = new Map<string, number>();
  for (const { where, what, node, text } of changes(file, "")) {
    const plain = `${module} ${where}: ${what.replace(/\s+/g, " ")}`;
    const count = (seen.get(plain) ?? 0) + 1;
    seen.set(plain, count);
    const mutated = source.slice(0, node.getStart()) + text + source.slice(node.getEnd());
    yield { module, where, name: count === 1 ? plain : `${plain} #${count}`, source: mutated };
  }
}

function* changes(node: ts.Node, where: string): Generator<Change> {
  if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
  const inside = named(node, where);
  for (const [part, text, what] of dropped(node)) yield { where: inside, node: part, text, what };
  for (const child of node.getChildren()) yield* changes(child, inside);
}

function named(node: ts.Node, where: string): string {
  const names =
    ts.isFunctionDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    (ts.isPropertyAssignment(node) && ts.isArrowFunction(node.initializer));
  const name = names ? node.name?.getText() : ts.isConstructorDeclaration(node) ? "constructor" : undefined;
  return name === undefined ? where : where ? `${where}.${name}` : name;
}

/** Part of a node, what stands there instead, and in words. */
function* dropped(node: ts.Node): Generator<[part: ts.Node, text: string, what: string]> {
  if (ts.isIfStatement(node) && refuses(node.thenStatement)) {
    const test = node.expression.getText();
    yield [node.expression, `(${test}, false)`, `if (${test})`]; // what the test does is done all the same
  }
  if (ts.isCatchClause(node) && node.block.statements.some(ts.isThrowStatement)) {
    yield [node.block, "{ return undefined; }", "catch"];
  }
  if (ts.isBinaryExpression(node)) {
    const { kind } = node.operatorToken;
    const or = kind === ts.SyntaxKind.BarBarToken;
    if (or || kind === ts.SyntaxKind.AmpersandAmpersandToken) {
      for (const side of [node.left, node.right]) {
        const chain = ts.isBinaryExpression(side) && side.operatorToken.kind === kind;
        if (!chain) yield [side, String(!or), `${side.getText()} ${or ? "||" : "&&"}`];
      }
    }
  }
  if (ts.isCallExpression(node)) yield* calls(node);
  else if (ts.isIdentifier(node) && VALUE_CHECK.test(node.text) && isValue(node)) {
    yield [node, "((value) => value)", node.text];
  }
}

const VALUE_CHECK = /^(as[A-Z]\w*|filled)$/; // gives its first argument back or throws
const CHECK = /^(check\w*|need|count|end)$/; // gives nothing back

function refuses(then: ts.Statement): boolean {
  const first = ts.isBlock(then) ? then.statements[0] : then;
  if (!first) return false;
  return ts.isThrowStatement(first) || (ts.isReturnStatement(first) && first.expression?.getText() === "false");
}

/** Whether a check's name stands for the check itself, to be called elsewhere. */
function isValue(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isCallExpression(parent)) return parent.expression !== node;
  return (ts.isPropertyAssignment(parent) || ts.isParameter(parent)) && parent.initializer === node;
}

function* calls(node: ts.CallExpression): Generator<[part: ts.Node, text: string, what: string]> {
  const callee = node.expression;
  const name = ts.isPropertyAccessExpression(callee) ? callee.name.text : callee.getText();
  const what = node.getText();
  const given = node.arguments;
  const [value, second, third] = given;
  if (CHECK.test(name) && ts.isExpressionStatement(node.parent)) yield [node, "undefined", what];
  if (!VALUE_CHECK.test(name) || !value) return;
  yield [node, `(${value.getText()})`, what];
  if (name === "asInt" && second && third) {
    yield [second, "-Infinity", `least of ${what}`];
    yield [third, "Infinity", `most of ${what}`];
  }
  if (name === "asArray" && third) yield [third, "undefined", `length of ${what}`];
}

// Running

function compiled(source: string): string {
  const options = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022, removeComments: true };
  return ts.transpileModule(source, { compilerOptions: options }).outputText;
}

/** Fresh modules, one of them the mutant. */
export function world(mutant?: Mutant): Readers {
  const made = new Map<string, object>();
  const load = (name: string): object => {
    const module = name.replace("./", "") as Module;
    const known = made.get(module);
    if (known) return known;
    const exports = {};
    made.set(module, exports);
    const code = mutant?.module === module ? compiled(mutant.source) : originals.get(module);
    new Function("require", "exports", code as string)(load, exports);
    return exports;
  };
  for (const module of MODULES) load(module);
  return Object.fromEntries(made) as unknown as Readers;
}
