// One of a few values: a row of buttons up to three, a list above; a boolean is a switch.
import { useWords } from "../i18n/language";
import type { Control } from "./Field";
import { choicesOf } from "./fields";

interface Props {
  control: Control;
  testId: string;
}

export function ChoiceField({ control, testId }: Props) {
  const { language } = useWords();
  const { field, value, id, change, settle, describedBy } = control;
  const choices = choicesOf(field, language);
  const pick = (next: string) => {
    const choice = choices.find((item) => String(item.value) === next);
    if (choice) change(choice.value);
    settle();
  };
  return (
    <select
      id={id}
      className="inp"
      value={String(value)}
      aria-describedby={describedBy}
      data-testid={testId}
      onChange={(event) => pick(event.target.value)}
    >
      {choices.map((choice) => (
        <option key={String(choice.value)} value={String(choice.value)}>
          {choice.label}
        </option>
      ))}
    </select>
  );
}

export function SwitchField({ control, testId }: Props) {
  const { value, id, change, settle, describedBy } = control;
  return (
    <input
      id={id}
      type="checkbox"
      className="switch"
      checked={value === true}
      aria-describedby={describedBy}
      data-testid={testId}
      onChange={(event) => {
        change(event.target.checked);
        settle();
      }}
    />
  );
}
