// A card between 35 and 75 %: name, last words, scales. Its type stays at 11 px on screen.
import { useWords } from "../i18n/language";
import { type BodyProps, givenText, Scales, useWaitsFor } from "./CardBody";
import { useCost } from "./CardFoot";
import { mainText } from "./cards";
import { useNaming } from "./names";
import { StateMark } from "./StateMark";
import { sentence } from "./sentence";
import { lastWords } from "./values";

export function CompactCard(props: BodyProps & { name: string }) {
  const { id, node, entry, run, status, card, name } = props;
  const { t } = useWords();
  const naming = useNaming();
  const waitsFor = useWaitsFor(id, status);
  const cost = useCost()(run);
  const idle = status === "idle" ? mainText(node, entry) : "";
  const text = lastWords(givenText(run) || idle, 120) || sentence(t, status, run, { of: naming, waitsFor });
  const scales = card.body === "stream" && entry;
  return (
    <div className="mini">
      <div className="mini-in">
        <h3>{name}</h3>
        <p className={run ? "" : "quiet"}>
          {text}
          {status === "running" && <i className="caret" />}
        </p>
        {scales && <Scales node={node} entry={entry} run={run} status={status} />}
        <div className="mini-foot">
          <StateMark status={status} rate={0} place={null} problems={0} gaps={0} />
          <span className="num">{cost}</span>
        </div>
      </div>
    </div>
  );
}
