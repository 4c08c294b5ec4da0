// The footer: what the node cost. Before a run, what kind of node it is.
import { useWords } from "../i18n/language";
import type { GraphNode } from "../igb/graph";
import type { CatalogueEntry } from "../state/catalogue";
import type { NodeRun } from "../state/editor";
import { givenText } from "./CardBody";
import type { Status } from "./status";
import { characters, secondsText } from "./values";

interface Props {
  node: GraphNode;
  entry: CatalogueEntry | undefined;
  run: NodeRun | undefined;
  status: Status;
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

export function CardFoot({ node, entry, run, status }: Props) {
  const { t, say } = useWords();
  const cost = useCost()(run);
  const ran = status !== "idle" && status !== "disabled";
  const left = ran && cost ? cost : entry ? say(entry.label) : node.component;
  const cut = run?.finish === "cut" ? `${t("card.cut")} · ` : "";
  const right = run?.seconds === null || run?.seconds === undefined ? "" : `${secondsText(run.seconds)} s`;
  return (
    <footer className="foot">
      <span>{left}</span>
      <span>{ran && `${cut}${right}`}</span>
    </footer>
  );
}
