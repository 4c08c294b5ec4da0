// Text as it grows: the last three arrivals are marked, a caret stands at the end, and what is above it never moves.
import { useLayoutEffect, useRef } from "react";

interface Props {
  text: string;
  live: boolean;
  className?: string;
}

/** Starts of the last three arrivals. Rendering twice with one text changes nothing. */
function useArrivals(text: string): number[] {
  const seen = useRef({ text: "", starts: [] as number[] });
  const last = seen.current;
  if (last.text !== text) {
    const grew = last.text !== "" && text.startsWith(last.text);
    const starts = grew ? [...last.starts, last.text.length].slice(-3) : text === "" ? [] : [0];
    seen.current = { text, starts };
  }
  return seen.current.starts;
}

export function LiveText({ text, live, className = "" }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const starts = useArrivals(text);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the box follows the text's end whenever the text changes
  useLayoutEffect(() => {
    if (box.current) box.current.scrollTop = live ? box.current.scrollHeight : 0;
  }, [text, live]);
  const marks = live && starts[0] !== 0 ? starts : [];
  const settled = marks[0] ?? text.length;
  return (
    <div className={`stream ${className}`} ref={box}>
      {text.slice(0, settled)}
      {marks.map((start, index) => (
        <u key={start} className={`arrival-${marks.length - index}`}>
          {text.slice(start, marks[index + 1] ?? text.length)}
        </u>
      ))}
      {live && <i className="caret" />}
    </div>
  );
}
