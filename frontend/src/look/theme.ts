// Dark or light: the system's choice until the person makes one, then that, kept on this machine.
export type Theme = "dark" | "light";
const KEY = "spaces.theme";

const system = (): Theme => (matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark");

function stored(): Theme | null {
  const value = localStorage.getItem(KEY);
  return value === "dark" || value === "light" ? value : null;
}

export const theme = (): Theme => (document.documentElement.dataset.theme === "light" ? "light" : "dark");

const show = (value: Theme): void => {
  document.documentElement.dataset.theme = value;
};

/** Show the theme and follow the system while nothing is stored. */
export function beginTheme(): void {
  show(stored() ?? system());
  matchMedia("(prefers-color-scheme: light)").addEventListener("change", () => {
    if (!stored()) show(system());
  });
}

export function toggleTheme(): Theme {
  const next = theme() === "dark" ? "light" : "dark";
  localStorage.setItem(KEY, next);
  show(next);
  return next;
}
