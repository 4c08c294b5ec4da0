// The language of the interface: the browser's until the person chooses, then that, kept on this machine.
import i18next from "i18next";
import { initReactI18next, useTranslation } from "react-i18next";
import type { Label } from "../state/catalogue";
import { en } from "./en";
import { zh } from "./zh";

export type Language = "en" | "zh";
const KEY = "spaces.language";

function first(): Language {
  const stored = localStorage.getItem(KEY);
  if (stored === "en" || stored === "zh") return stored;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

const show = (language: Language): void => {
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
};

/** Around a filled-in value, so that the space before or after it can go where both neighbours are Chinese. */
const EDGE = "\u2060";
const HAN_MARK = /[\p{Script=Han}\u3000-\u303f\uff00-\uffef]/u;

const mark = (value: string): string => `${EDGE}${value.replaceAll(EDGE, "")}${EDGE}`;

/** "需要 {{expected}}" has its space for `text[8]` and loses it for 文本; spaces inside a value stay. */
export function joined(text: string): string {
  const parts = text.split(EDGE); // outside and inside values, in turn
  if (parts.length === 1) return text;
  return parts
    .map((part, index) => {
      if (index % 2 === 1) return part;
      const before = parts[index - 1]?.at(-1) ?? "";
      const after = parts[index + 1]?.at(0) ?? "";
      const open = HAN_MARK.test(before) && HAN_MARK.test(part.trimStart().at(0) ?? after) ? part.trimStart() : part;
      return HAN_MARK.test(after) && HAN_MARK.test(open.trimEnd().at(-1) ?? before) ? open.trimEnd() : open;
    })
    .join("");
}

export async function beginLanguage(language: Language = first()): Promise<void> {
  await i18next
    .use(initReactI18next)
    .use({ type: "postProcessor", name: "joined", process: joined } as const)
    .init({
      lng: language,
      fallbackLng: "en",
      resources: { en: { translation: en }, zh: { translation: zh } },
      interpolation: { escapeValue: true, escape: mark }, // React escapes what it shows
      postProcess: ["joined"],
    });
  show(language);
}

export function toggleLanguage(): void {
  const next: Language = i18next.language === "zh" ? "en" : "zh";
  localStorage.setItem(KEY, next);
  show(next);
  void i18next.changeLanguage(next);
}

/** `t` for words of the interface, `say` for labels that the catalogue brings in both languages. */
export function useWords() {
  const { t, i18n } = useTranslation();
  const language: Language = i18n.language === "zh" ? "zh" : "en";
  return { t, language, say: (label: Label) => label[language] || label.en };
}
