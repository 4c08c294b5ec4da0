// A template to start from.
import { useWords } from "../i18n/language";
import { Glyph } from "../look/Glyph";
import type { TemplateInfo } from "../state/rest";

export function TemplateTile({ template, make }: { template: TemplateInfo; make(): void }) {
  const { say } = useWords();
  return (
    <button type="button" className="tile" onClick={make} data-testid={`template-${template.name}`}>
      <Glyph name="plus" />
      <b>{say(template.label)}</b>
      <span>{say(template.help)}</span>
    </button>
  );
}
