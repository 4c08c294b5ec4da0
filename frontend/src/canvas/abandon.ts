// Escape lets a drag go as if it had not been. The library ends a drag only when the mouse's button goes up, so it is told
// so, and what comes of it is no edit.
import { useStoreApi } from "@xyflow/react";
import { type RefObject, useEffect } from "react";
import { useScreen } from "./screen";

const NOWHERE = { bubbles: true, view: window, clientX: -1e4, clientY: -1e4 };

/** `carrying`: cards are being dragged; a wire's drag is known to the library. `release` puts the cards back. */
export function useAbandon(carrying: RefObject<boolean>, release: () => void): void {
  const { view } = useScreen();
  const api = useStoreApi();
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const wire = api.getState().connection.inProgress;
      if (event.key !== "Escape" || !(wire || carrying.current)) return;
      event.preventDefault();
      event.stopPropagation();
      view.getState().set({ abandoning: true });
      if (wire) document.dispatchEvent(new MouseEvent("mousemove", NOWHERE)); // off the port it may be over
      document.dispatchEvent(new MouseEvent("mouseup", NOWHERE));
      view.getState().set({ abandoning: false });
      release();
    };
    window.addEventListener("keydown", onKeyDown, true);
    return () => window.removeEventListener("keydown", onKeyDown, true);
  }, [api, carrying, release, view]);
}
