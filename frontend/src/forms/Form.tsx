// A node's settings as a form, drawn from its component's schema. It knows no store: values come in, edits go out.
import { useState } from "react";
import type { GraphNode, Value } from "../igb/graph";
import type { JsonSchema } from "../state/catalogue";
import type { Diagnostic } from "../state/editor";
import { ChoiceField, SwitchField } from "./ChoiceField";
import { readEscapes } from "./escapes";
import { type Control, FieldRow } from "./Field";
import { currentOf, type Field, fieldsOf, isShown } from "./fields";
import { ListField } from "./ListField";
import { ModelField } from "./ModelField";
import { NumberField } from "./NumberField";
import { TemplateField } from "./TemplateField";
import { TextField } from "./TextField";
import { check, type FieldProblem, parseNumber } from "./verdict";

export interface FormProps {
  scope: string; // the node's id: fields of two nodes never share a draft
  schema: JsonSchema;
  params: GraphNode["params"];
  diagnostics: readonly Diagnostic[];
  drafts: Map<string, string>;
  model: string; // what the engine runs here, for the model field
  set(name: string, value: Value | undefined): void; // undefined: back to the default
  settle(): void;
}

export function Form(props: FormProps) {
  const fields = fieldsOf(props.schema);
  return (
    <div className="form">
      {fields
        .filter((field) => isShown(field, fields, props.params))
        .map((field) => (
          <FormField key={`${props.scope}.${field.name}`} field={field} {...props} />
        ))}
    </div>
  );
}

const WIDE = new Set<Field["kind"]>(["multiline", "template", "list"]);

function FormField({ field, scope, params, diagnostics, drafts, model, set, settle }: FormProps & { field: Field }) {
  const key = `${scope}.${field.name}`;
  const [draft, setDraft] = useState(() => drafts.get(key));
  const value = currentOf(field, params);
  const keepDraft = (text: string | undefined) => {
    if (text === undefined) drafts.delete(key);
    else drafts.set(key, text);
    setDraft(text);
  };
  const own = diagnostics.filter((found) => found.field === field.name);
  const problem = problemOf(field, value, draft);
  const id = `field-${scope}-${field.name}`;
  const bad = problem !== null || own.length > 0;
  const control: Control = {
    field,
    value,
    id,
    draft,
    keepDraft,
    change: (next) => set(field.name, next),
    settle,
    describedBy: bad ? `${id}-problem` : undefined,
    invalid: bad,
  };
  return (
    <FieldRow
      field={field}
      id={id}
      changed={params.has(field.name) && !sameAs(params.get(field.name), field.fallback)}
      problem={problem}
      diagnostics={own}
      wide={WIDE.has(field.kind)}
      reset={() => {
        keepDraft(undefined);
        set(field.name, undefined);
        settle();
      }}
    >
      <Widget control={control} model={model} testId={`field-${field.name}`} />
    </FieldRow>
  );
}

function Widget({ control, model, testId }: { control: Control; model: string; testId: string }) {
  switch (control.field.kind) {
    case "number":
    case "integer":
      return <NumberField control={control} testId={testId} />;
    case "boolean":
      return <SwitchField control={control} testId={testId} />;
    case "choice":
      return <ChoiceField control={control} testId={testId} />;
    case "list":
      return <ListField control={control} testId={testId} />;
    case "template":
      return <TemplateField control={control} testId={testId} />;
    case "model":
      return <ModelField control={control} model={model} testId={testId} />;
    default:
      return <TextField control={control} many={control.field.kind === "multiline"} testId={testId} />;
  }
}

/** What is wrong with what stands in the field: with the draft while there is one, else with the value. */
export function problemOf(field: Field, value: Value, draft: string | undefined): FieldProblem | null {
  if (draft === undefined) return check(value, field);
  if (field.kind === "number" || field.kind === "integer") return parseNumber(draft, field).problem;
  const rows = JSON.parse(draft) as string[];
  const bad = field.schema.escapes ? rows.map(readEscapes).find((row) => row.bad !== null) : undefined;
  return bad ? { code: "escape", expected: "", got: bad.bad ?? "" } : check(value, field);
}

function sameAs(value: Value | undefined, fallback: Value): boolean {
  if (Array.isArray(value) && Array.isArray(fallback)) {
    return value.length === fallback.length && value.every((item, index) => item === fallback[index]);
  }
  return value === fallback;
}
