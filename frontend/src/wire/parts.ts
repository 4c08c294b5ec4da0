// Long values travel ahead in parts of 256 KiB, under a transfer id that a later frame names.
import type { Id } from "../igb/graph";
import { PART_SIZE, type PartFrame, TRANSFER_LIMIT } from "./frames";

const MAX_OPEN = 4;

export function split(transfer: Id, bytes: Uint8Array): PartFrame[] {
  const parts: PartFrame[] = [];
  for (let offset = 0; offset < bytes.length; offset += PART_SIZE) {
    parts.push({ type: "part", transfer, offset, total: bytes.length, bytes: bytes.slice(offset, offset + PART_SIZE) });
  }
  return parts;
}

/** Collects the parts of a few transfers at a time; parts of one transfer come in order. */
export class Parts {
  private readonly open = new Map<Id, { bytes: Uint8Array; filled: number }>();

  /** Whether the part fits; a refused one leaves its transfer unusable. */
  add({ transfer, offset, total, bytes }: PartFrame): boolean {
    if (total > TRANSFER_LIMIT) return false;
    const known = this.open.get(transfer);
    if (!known && this.open.size >= MAX_OPEN) return false;
    const into = known ?? { bytes: new Uint8Array(total), filled: 0 };
    if (into.bytes.length !== total || into.filled !== offset || offset + bytes.length > total) {
      this.open.delete(transfer);
      return false;
    }
    into.bytes.set(bytes, offset);
    into.filled += bytes.length;
    this.open.set(transfer, into);
    return true;
  }

  /** The whole value, handed out once; null when parts are missing. */
  take(transfer: Id): Uint8Array | null {
    const known = this.open.get(transfer);
    this.open.delete(transfer);
    return known && known.filled === known.bytes.length ? known.bytes : null;
  }

  clear(): void {
    this.open.clear();
  }
}
