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

export async function beginLanguage(language: Language = first()): Promise<void> {
  await i18next.use(initReactI18next).init({
    lng: language,
    fallbackLng: "en",
    resources: { en: { translation: en }, zh: { translation: zh } },
    interpolation: { escapeValue: false }, // React escapes what it shows
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
