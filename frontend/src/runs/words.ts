// How a run is called: by the time it began, with the day when that is not today.
import type { Language } from "../i18n/language";

const LOCALES: Record<Language, string> = { en: "en-GB", zh: "zh-CN" };

export function timeOf(started: string, language: Language, now = new Date()): string {
  const date = new Date(started);
  if (Number.isNaN(date.getTime())) return "?";
  const clock: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  const today = date.toDateString() === now.toDateString();
  return date.toLocaleString(LOCALES[language], today ? clock : { month: "short", day: "numeric", ...clock });
}
