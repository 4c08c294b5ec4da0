// The footer: what the node cost. Before a run: what is missing, else the fact about the node that matters most.
import { useWords } from "../i18n/language";
import type { GraphNode } from "../igb/graph";
import type { CatalogueEntry } from "../state/catalogue";
import type { NodeRun } from "../state/editor";
import { paramOf } from "../state/ports";
import { givenText } from "./CardBody";
import { Mend, type Trouble } from "./CardProblem";
import { bodyOf, mainText } from "./cards";
import type { Pin } from "./ports";
import type { Status } from "./status";
import { characters, secondsText } from "./values";

interface Props {
  node: GraphNode;
  entry: CatalogueEntry | undefined;
  run: NodeRun | undefined;
  status: Status;
  gaps: readonly string[]; // inputs that need a wire
  pins: readonly Pin[];
  trouble: Trouble | null;
}

/** Tokens for what a model made, characters for the rest. */
export function useCost(): (run: NodeRun | undefined) => string {
  const { t } = useWords();
  return (run) => {
    if (!run) return "";
    if (run.steps > 0) return t("card.tok", { count: run.steps });
    const text = givenText(run);
    return text ? t("card.chars", { count: characters(text) }) : "";
  };
}

/** Model, name of the result, length of the text: one fact, chosen by what the card is. */
function useFact(): (node: GraphNode, entry: CatalogueEntry | undefined) => string {
  const { t } = useWords();
  return (node, entry) => {
    if (!entry) return node.component;
    const body = bodyOf(entry);
    if (body === "stream") return String(paramOf(entry, node, "model") ?? "");
    if (body === "result") return t("card.as", { name: paramOf(entry, node, "name") ?? "" });
    if (body === "text") return t("card.chars", { count: characters(mainText(node, entry)) });
    return entry.name;
  };
}

export function CardFoot({ node, entry, run, status, gaps, pins, trouble }: Props) {
  const { t, say } = useWords();
  const cost = useCost()(run);
  const fact = useFact()(node, entry);
  const ran = status !== "idle" && status !== "disabled";
  if (gaps.length > 0 && !ran) {
    const labels = pins.filter((pin) => gaps.includes(pin.name)).map((pin) => say(pin.label));
    return (
      <footer className="foot is-gap">
        <span>{t("card.gap", { count: labels.length, ports: labels.join(", ") })}</span>
      </footer>
    );
  }
  const cut = run?.finish === "cut" ? `${t("card.cut")} · ` : "";
  const seconds = run?.seconds ?? null;
  return (
    <footer className="foot">
      <span>{(ran && cost) || fact}</span>
      {trouble?.field && <Mend id={node.id} trouble={trouble} />}
      {ran && !trouble && seconds !== null && <span>{`${cut}${secondsText(seconds)} s`}</span>}
    </footer>
  );
}
