/** A stated quota as far as it counts what one caller does, or all who are counted together. */
export interface QuotaCount {
  /** Requests of one key are counted together. */
  readonly key: string;
  /** What it is, in words. */
  readonly says: string;
}

/** What is known to be used up, for whom, and until when: what could only be refused is not sent. */
export class UsedUp {
  readonly #untilMs = new Map<string, number>();

  /** Notes that it is used up until a time of the service's clock. */
  note({ key }: QuotaCount, untilMs: number): void {
    this.#untilMs.set(key, Math.max(this.#untilMs.get(key) ?? 0, untilMs));
  }

  /** The one of these that is used up for the longest. */
  among(counts: readonly QuotaCount[], nowMs: number): { readonly says: string; readonly untilMs: number } | undefined {
    const used = counts.map(({ key, says }) => ({ says, untilMs: this.#untilMs.get(key) ?? 0 }));
    return used.filter(({ untilMs }) => untilMs > nowMs).sort((one, other) => other.untilMs - one.untilMs)[0];
  }
}
