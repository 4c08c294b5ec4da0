// One glyph. Decorative by default; `label` makes it an image with a name.
import { GLYPHS, type GlyphName } from "./glyphs";

interface Props {
  name: GlyphName;
  size?: number;
  label?: string;
  className?: string;
}

export function Glyph({ name, size = 16, label, className = "" }: Props) {
  const shape: { d?: string; f?: string; w?: number; faint?: string; hole?: string } = GLYPHS[name];
  const naming = label ? { role: "img", "aria-label": label } : { "aria-hidden": true };
  return (
    // biome-ignore lint/a11y/noSvgWithoutTitle: without a label the glyph is hidden from readers
    <svg className={`glyph ${className}`} width={size} height={size} viewBox="0 0 16 16" focusable="false" {...naming}>
      {label && <title>{label}</title>}
      <g fill="none" strokeLinecap="round" strokeLinejoin="round">
        {shape.f && <path d={shape.f} fill="currentColor" />}
        {shape.faint && <path d={shape.faint} stroke="currentColor" strokeWidth={shape.w ?? 1.3} opacity={0.4} />}
        {shape.d && <path d={shape.d} stroke="currentColor" strokeWidth={shape.w ?? 1.3} />}
        {shape.hole && <path d={shape.hole} className="glyph-hole" strokeWidth={1.7} />}
      </g>
    </svg>
  );
}

export function Mark() {
  return (
    <svg width={22} height={22} viewBox="0 0 22 22" aria-hidden focusable="false">
      <circle cx={5} cy={15.5} r={3.2} fill="currentColor" />
      <rect x={14} y={3.5} width={6} height={6} rx={0.8} fill="var(--accent)" />
      <path d="M8 15.5h3V6.5h3" fill="none" stroke="currentColor" strokeWidth={1.5} />
    </svg>
  );
}
