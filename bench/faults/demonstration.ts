/** The shortest way to see each fault: a few requests, and what the last answer is like while the service is right. */

export interface Heard {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
}

/** What a webhook or a stream brought. */
export interface Told {
  readonly kind: string;
  readonly id: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface Seen {
  readonly last: Heard;
  readonly answers: readonly Heard[];
  readonly told: readonly Told[];
  /** What was kept of answers by name. */
  readonly kept: ReadonlyMap<string, string>;
}

/** One act: a request as somebody, moving the clock, being told of events, several requests at once. */
export type Act =
  | {
      readonly as?: string;
      readonly send: string;
      readonly body?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
      readonly keep?: string;
    }
  | { readonly wait: number }
  | { readonly together: readonly Act[] }
  | { readonly hooks: number; readonly answer?: number }
  | { readonly stream: string; readonly as: string; readonly after?: string; readonly events: number }
  | { readonly dawdle: string };

export interface Demonstration {
  readonly acts: readonly Act[];
  /** Whether what was seen is right. */
  readonly right: (seen: Seen) => boolean;
}
