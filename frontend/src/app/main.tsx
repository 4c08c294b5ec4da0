// The page: theme and language first, so that nothing flashes, then the screens.
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { beginLanguage } from "../i18n/language";
import { beginTheme } from "../look/theme";
import { App } from "./App";
import "../look/styles";

beginTheme();
await beginLanguage();

const root = document.getElementById("root");
if (!root) throw new Error("expected an element #root in the page, got none");
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
