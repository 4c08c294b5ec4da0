// The REST calls, handed down by context so that tests and pages bring their own.
import { createContext, useContext } from "react";
import { createRest, type Rest } from "../state/rest";

export const RestContext = createContext<Rest>(createRest());
export const useRest = (): Rest => useContext(RestContext);
