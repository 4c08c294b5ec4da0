// When a version was saved: the time today, the day this year, else the date.
import type { Language } from "../i18n/language";

export function when(iso: string, language: Language, now = new Date()): string {
  const at = new Date(iso);
  const locale = language === "zh" ? "zh-CN" : "en-GB";
  if (at.toDateString() === now.toDateString()) {
    return at.toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit" });
  }
  const year = at.getFullYear() === now.getFullYear() ? {} : ({ year: "numeric" } as const);
  return at.toLocaleDateString(locale, { day: "numeric", month: "short", ...year });
}
