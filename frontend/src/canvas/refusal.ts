// The words of a refused wire, in the language shown. `code` comes from the connection rules.
import type { TFunction } from "i18next";
import { typed } from "../i18n/facts";
import type { ConnectVerdict } from "../state/editor";

export function refusalWords(t: TFunction, verdict: Exclude<ConnectVerdict, null>): string {
  const values = { expected: typed(t, verdict.expected), got: typed(t, verdict.got) };
  const key = verdict.code.includes(".") ? verdict.code.slice(verdict.code.lastIndexOf(".") + 1) : verdict.code;
  return t(`refuse.${key}`, { ...values, defaultValue: t("refuse.other", values) });
}
