// The page's one component: the list of Spaces or an open one, by address.
import { EngineContext, useEnginePolling } from "../panels/engine";
import { Home } from "./Home";
import { usePlace } from "./place";
import { SpacePage } from "./SpacePage";

export function App() {
  const place = usePlace();
  const engine = useEnginePolling();
  return (
    <EngineContext value={engine}>
      {place.at === "space" ? <SpacePage key={place.id} id={place.id} /> : <Home list={place.list} />}
    </EngineContext>
  );
}
