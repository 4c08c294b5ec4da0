// The model's name: a free text, with the model that runs on this machine offered.
import { useWords } from "../i18n/language";
import type { Control } from "./Field";
import { useTyped } from "./TextField";

interface Props {
  control: Control;
  model: string;
  testId: string;
}

export function ModelField({ control, model, testId }: Props) {
  const { t } = useWords();
  const { value, id, change, settle, describedBy, invalid } = control;
  const [typed, type] = useTyped(typeof value === "string" ? value : "");
  return (
    <>
      <input
        id={id}
        className="inp model-name"
        list={model ? `${id}-models` : undefined}
        value={typed}
        aria-describedby={describedBy}
        aria-invalid={invalid}
        data-testid={testId}
        spellCheck={false}
        onChange={(event) => {
          type(event.target.value);
          change(event.target.value);
        }}
        onBlur={settle}
      />
      {model && (
        <datalist id={`${id}-models`}>
          <option value={model}>{t("field.modelHere", { model })}</option>
        </datalist>
      )}
    </>
  );
}
