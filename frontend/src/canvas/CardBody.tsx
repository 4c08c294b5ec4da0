// The body of a card: what the node gives, or why it gives nothing yet; and, for a model, its two scales.
import { useWords } from "../i18n/language";
import type { GraphNode, Id } from "../igb/graph";
import type { CatalogueEntry } from "../state/catalogue";
import type { NodeRun } from "../state/editor";
import { CardProblem, type Trouble } from "./CardProblem";
import { type Card, mainText } from "./cards";
import { LiveText } from "./LiveText";
import { Meter } from "./Meter";
import { useNaming } from "./names";
import { useEditor } from "./screen";
import { sentence } from "./sentence";
import type { Status } from "./status";
import { shown } from "./values";

export interface BodyProps {
  id: Id;
  node: GraphNode;
  entry: CatalogueEntry | undefined;
  run: NodeRun | undefined;
  status: Status;
  card: Card;
}

/** The first node upstream that has not delivered, while this one waits. */
export function useWaitsFor(id: Id, status: Status): Id | null {
  return useEditor((editor) => {
    if (status !== "waiting" || !editor.run) return null;
    for (const edge of editor.graph.edges) {
      if (edge.target === id && editor.run.nodes.get(edge.source)?.phase !== "done") return edge.source;
    }
    return null;
  });
}

/** The text to show: streamed, or what the node gave on its first port. */
export function givenText(run: NodeRun | undefined): string {
  if (!run) return "";
  if (run.text) return run.text;
  for (const value of run.outputs.values()) return shown(value);
  return "";
}

export function limitOf(node: GraphNode, flag: "steps" | "kv" | "seconds", otherwise: number): number {
  const value = node.flags.get(flag);
  return typeof value === "number" ? value : otherwise;
}

export function CardBody(props: BodyProps & { trouble: Trouble | null }) {
  const { node, entry, run, status, card, trouble } = props;
  const { t } = useWords();
  const naming = useNaming();
  const waitsFor = useWaitsFor(props.id, status);
  const text = givenText(run);
  const blank = status === "done" && text !== "" && text.trim() === "";
  const why = sentence(t, status, run, { of: naming, waitsFor });
  if (!entry) return <div className="body words">{t("card.unknown", { name: node.component })}</div>;
  if (card.body === "stream") {
    return (
      <div className="body k-stream">
        {trouble && <CardProblem trouble={trouble} />}
        {text && !blank ? (
          <LiveText text={text} live={status === "running"} />
        ) : (
          <div className="stream quiet">{!trouble && (blank ? t("card.blank") : why)}</div>
        )}
        <div className="meters">
          <Scales node={node} entry={entry} run={run} status={status} />
        </div>
      </div>
    );
  }
  if (card.body === "result") {
    return (
      <div className="body k-result">
        {trouble && <CardProblem trouble={trouble} />}
        {status === "done" && text && !blank ? (
          <LiveText text={text} live={false} />
        ) : (
          <div className="stream quiet">{!trouble && (blank ? t("card.blank") : why)}</div>
        )}
      </div>
    );
  }
  if (trouble) {
    return (
      <div className={`body k-${card.body}`}>
        <CardProblem trouble={trouble} />
      </div>
    );
  }
  return <div className="body words">{<Lines {...props} text={text} why={why} />}</div>;
}

function Lines({ node, entry, status, card, text, why }: BodyProps & { text: string; why: string }) {
  const { t, say } = useWords();
  const clamp = card.body === "text" ? "lines-3" : "lines-2";
  if (status === "done" && text) return <span className={clamp}>{text}</span>;
  if (status !== "idle" && status !== "done" && why) return <span className={`${clamp} quiet`}>{why}</span>;
  const params = Object.entries(entry?.schema.properties ?? {});
  const value = ([name, param]: (typeof params)[number]) => node.params.get(name) ?? param.default;
  if (card.body === "text") {
    const written = mainText(node, entry);
    const empty = written.trim() === "";
    return <span className={empty ? "quiet" : clamp}>{empty ? t("card.noText") : written}</span>;
  }
  const on = params.filter((param) => param[1].type === "boolean" && value(param) === true);
  const titles = on.map(([name, param]) => say({ en: param.title ?? name, zh: param.zh ?? param.title ?? name }));
  return <span className={`${clamp} quiet`}>{titles.join(" · ") || why}</span>;
}

type ScaleProps = Pick<BodyProps, "node" | "run" | "status"> & { entry: CatalogueEntry };

export function Scales({ node, entry, run, status }: ScaleProps) {
  const { t } = useWords();
  const over = status === "over" ? (run?.error?.code ?? 0) : 0;
  const quiet = status !== "running";
  const steps = run?.stepsLimit ?? limitOf(node, "steps", entry.budget.steps);
  const kv = run?.kvLimit ?? limitOf(node, "kv", entry.budget.kv) * 1024;
  return (
    <>
      <Meter
        kind="steps"
        label={t("card.steps")}
        used={run?.steps ?? 0}
        limit={steps}
        over={over === 701}
        quiet={quiet}
      />
      <Meter
        kind="kv"
        label={t("card.kv")}
        used={run?.kvUsed ?? 0}
        committed={run?.kvCommitted ?? 0}
        limit={kv}
        over={over === 2}
        quiet={quiet}
      />
    </>
  );
}
