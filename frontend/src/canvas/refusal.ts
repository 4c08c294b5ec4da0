// The words of a refused wire, in the language shown. `code` comes from the connection rules.
import type { TFunction } from "i18next";
import { typed } from "../i18n/facts";
import type { ConnectVerdict } from "../state/editor";

export function refusalWords(t: TFunction, verdict: Exclude<ConnectVerdict, null>): string {
  const key = verdict.code.includes(".") ? verdict.code.slice(verdict.code.lastIndexOf(".") + 1) : verdict.code;
  const { expected, got } = verdict; // types under one code; under the others names, of which one may be `text`
  const values = key.endsWith("type") ? { expected: typed(t, expected), got: typed(t, got) } : { expected, got };
  return t(`refuse.${key}`, { ...values, defaultValue: t("refuse.other", values) });
}
