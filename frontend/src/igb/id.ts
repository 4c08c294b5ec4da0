// Ids: 10 characters of Crockford base 32, 50 random bits, minted once by the client and never derived from anything.
import type { Id } from "./graph";

export const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const FORM = /^[0-9a-hjkmnp-tv-z]{10}$/;

export function isId(value: unknown): value is Id {
  return typeof value === "string" && FORM.test(value);
}

export function mint(): Id {
  let id = "";
  for (const byte of crypto.getRandomValues(new Uint8Array(10))) id += ALPHABET[byte & 31];
  return id;
}
