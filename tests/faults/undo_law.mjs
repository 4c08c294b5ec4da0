// What an undo owes, told without a look at the editor's history: a gesture is what it changed, key by key, and who else wrote
// those keys since. Pure; `undo.mjs` holds the real editor against it.

/** A graph as a map from key to value, both text: `node`, `set`, `flag`, `move`, `label`, `group` and `edge`. */
export function factsOf(graph) {
  const facts = new Map();
  for (const { id, component, version, params, flags } of graph.nodes.values()) {
    facts.set(`node ${id}`, `${component}@${version}`);
    for (const [name, value] of params) facts.set(`set ${id} ${name}`, JSON.stringify(value));
    for (const [name, value] of flags) facts.set(`flag ${id} ${name}`, JSON.stringify(value));
  }
  for (const { source, output, target, input, slot } of graph.edges)
    facts.set(`edge ${source} ${output} ${target} ${input} ${slot}`, "there");
  for (const [kind, map] of [["move", graph.positions], ["label", graph.labels], ["group", graph.groups]])
    for (const [id, value] of map) facts.set(`${kind} ${id}`, JSON.stringify(value));
  return facts;
}

/** What ops of the server's order write. `gone` holds nodes as they were deleted: who brings one back writes what differs. */
export function written(ops, gone) {
  const keys = new Map();
  for (const [kind, key, ...rest] of ops) {
    const id = key[0];
    if (kind === "edge-" || kind === "edge+") keys.set(`edge ${key.join(" ")}`, kind === "edge+" ? "there" : undefined);
    else if (kind === "node-") {
      keys.set(`node ${id}`, undefined);
      gone.set(id, fields(id, rest[0]));
    } else if (kind === "node+") {
      keys.set(`node ${id}`, `${rest[0][0]}@${rest[0][1]}`);
      const [before, after] = [gone.get(id) ?? new Map(), fields(id, rest[0])];
      for (const field of new Set([...before.keys(), ...after.keys()]))
        if (before.get(field) !== after.get(field)) keys.set(field, after.get(field));
    } else keys.set(`${kind} ${key.join(" ")}`, rest[1].length > 0 ? JSON.stringify(rest[1][0]) : undefined);
  }
  return keys;
}

function fields(id, [, , params, flags]) {
  const found = new Map();
  for (const [name, value] of params) found.set(`set ${id} ${name}`, JSON.stringify(value));
  for (const [name, value] of flags) found.set(`flag ${id} ${name}`, JSON.stringify(value));
  return found;
}

/** A gesture, and what others wrote since: key -> { value, name }. Without a name it need not be said who it was. */
export function gesture(label, before, after) {
  return { label, before, after, others: new Map() };
}

export function note(entry, key, value, name) {
  entry.others.set(key, { value, name: entry.others.get(key)?.name === "" ? "" : name });
}

/** What is wrong with `post`, which an undo of `entry` made of `pre` while it told `told` (refusals). */
export function faults(entry, pre, post, told) {
  const { before, after, others } = entry;
  const wrong = [];
  const went = (id) => pre.has(`node ${id}`) && !post.has(`node ${id}`);
  const came = (id) => !pre.has(`node ${id}`) && post.has(`node ${id}`);
  const made = (id) => !before.has(`node ${id}`) && after.has(`node ${id}`);
  const used = (id) => [...others.keys()].filter((key) => /^(node|set|flag|edge) /.test(key) && idsOf(key).includes(id));
  for (const key of new Set([...pre.keys(), ...post.keys(), ...before.keys(), ...after.keys()])) {
    const ids = idsOf(key);
    const mine = before.get(key) !== after.get(key);
    const other = others.get(key);
    const [due, why] = expected();
    if (post.get(key) !== due) wrong.push(`${key} is ${post.get(key)}, not ${due}: ${why}`);
    if (mine && post.get(key) !== before.get(key)) named();

    function expected() {
      if (ids.some(went)) {
        const lost = ids.filter(went).flatMap((id) => (made(id) ? used(id) : [`node ${id}`]));
        return lost.length > 0 ? [pre.get(key), `its node was taken away in spite of ${lost[0]}`] : [undefined, "its node is gone"];
      }
      if (key.startsWith("group ")) return [present((mine && !other ? before : pre).get(key), post), "with the members that are there"];
      if (ids.some(came)) return other ? [reachable(other.value), "its node came back with it"] : [reachable(before.get(key)), "its node came back"];
      if (!mine) return [pre.get(key), "the gesture did not write it"];
      if (other) return [pre.get(key), "someone else wrote it since"];
      if (ids.some((id) => !post.has(`node ${id}`))) return [pre.get(key), "its node is not there"];
      if (ids.some((id) => made(id) && used(id).length > 0)) return [pre.get(key), "others work with its node"];
      return [reachable(before.get(key)), "nobody else wrote it"];
    }

    /** An edge comes back only where its place is free, both ends are there and it closes no cycle. */
    function reachable(value) {
      return key.startsWith("edge ") && value !== undefined && !post.has(key) && isBarred(key, post) ? undefined : value;
    }

    function named() {
      if (told.length === 0) wrong.push(`${key} was not restored, and nothing was said`);
      else if (other && !told.some(({ code, got }) => code !== "overtaken" || got.includes(other.name)))
        wrong.push(`${key} was not restored, and ${other.name} was not named`);
    }
  }
  return wrong;
}

function idsOf(key) {
  const [kind, ...parts] = key.split(" ");
  return kind === "edge" ? [parts[0], parts[2]] : kind === "group" ? [] : [parts[0]];
}

function isBarred(key, facts) {
  const [, source, , target, input, slot] = key.split(" ");
  if (!facts.has(`node ${source}`) || !facts.has(`node ${target}`)) return true;
  const edges = [...facts.keys()].filter((fact) => fact.startsWith("edge ")).map((fact) => fact.split(" "));
  if (edges.some(([, , , ...place]) => place.join(" ") === `${target} ${input} ${slot}`)) return true;
  const seen = new Set([target]);
  for (const id of seen) for (const edge of edges) if (edge[1] === id) seen.add(edge[3]);
  return seen.has(source);
}

/** A group without the members that are gone. */
function present(group, facts) {
  if (group === undefined) return undefined;
  const [label, members] = JSON.parse(group);
  const left = members.filter((id) => facts.has(`node ${id}`));
  return left.length > 0 ? JSON.stringify([label, left]) : undefined;
}
