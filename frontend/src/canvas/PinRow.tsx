// One row of ports: an input on the left edge, an output on the right, each a handle that wires start from and end at.
import { Handle, Position, useConnection } from "@xyflow/react";
import { useMemo } from "react";
import { useWords } from "../i18n/language";
import type { Id } from "../igb/graph";
import { PortMark } from "../look/PortMark";
import { canConnect } from "../state/connect";
import type { ConnectVerdict } from "../state/editor";
import { edgeBetween } from "./connecting";
import { useName } from "./names";
import type { Pin } from "./ports";
import { useScreen } from "./screen";
import type { PortRef, Side } from "./view";

interface RowProps {
  node: Id;
  input: Pin | undefined;
  output: Pin | undefined;
  bad: ReadonlySet<string>; // input ports that a problem names
}

export function PinRow({ node, input, output, bad }: RowProps) {
  return (
    <div className="pin-row">
      {input && <PortPin node={node} side="in" pin={input} bad={input.missing || bad.has(input.name)} />}
      {output && <PortPin node={node} side="out" pin={output} bad={output.missing} />}
    </div>
  );
}

/** The far end of the wire being drawn, as a value that changes only when a drag starts or ends. */
function useDragged(): string | null {
  return useConnection((drag) =>
    drag.inProgress ? `${drag.fromHandle.type}\n${drag.fromHandle.nodeId}\n${drag.fromHandle.id ?? ""}` : null,
  );
}

/** undefined: no drag · null: this port can take the wire · else why not. */
function useFit(self: PortRef): ConnectVerdict | undefined {
  const dragged = useDragged();
  const { editor } = useScreen();
  const { node, port, side } = self;
  return useMemo(() => {
    if (dragged === null) return undefined;
    const [type = "", from = "", name = ""] = dragged.split("\n");
    const other: PortRef = { node: from, port: name, side: type === "source" ? "out" : "in" };
    if (other.node === node && other.port === port && other.side === side) return undefined;
    if (other.side === side) return { code: "direction", expected: "", got: "" };
    const { graph, catalogue } = editor.getState();
    return canConnect(graph, catalogue, edgeBetween(other, { node, port, side }));
  }, [dragged, editor, node, port, side]);
}

function PortPin({ node, side, pin, bad }: { node: Id; side: Side; pin: Pin; bad: boolean }) {
  const { t, say } = useWords();
  const name = useName(node);
  const fit = useFit({ node, port: pin.name, side });
  const label = say(pin.label);
  const type = t(`type.${pin.type}`);
  const title = pin.required && side === "in" ? `${label}: ${type}, ${t("canvas.required")}` : `${label}: ${type}`;
  const classes = ["pin", side];
  if (bad) classes.push("is-bad");
  if (pin.required && !pin.connected && side === "in") classes.push("is-required");
  if (fit === null) classes.push("is-fit");
  if (fit) classes.push("is-faded");
  const wants = fit?.code.endsWith("type") && side === "in";
  return (
    <span className={classes.join(" ")} title={title}>
      <Handle
        type={side === "in" ? "target" : "source"}
        position={side === "in" ? Position.Left : Position.Right}
        id={pin.name}
        className={`pin-handle at-${side}`}
        data-testid={`port-${node}-${side}-${pin.name}`}
        aria-label={t(side === "in" ? "canvas.input" : "canvas.output", { port: label, node: name, type })}
      />
      <i className="pin-mark">
        <PortMark type={pin.type} hollow={!pin.connected} ring />
      </i>
      <span>{wants ? t("canvas.wants", { type }) : label}</span>
    </span>
  );
}
