const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** A duration such as `250ms`, `15s`, `5m`, `24h`, `30d` or `2w`, in milliseconds; nothing where the text is none. */
export function durationMs(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|min|h|d|w)$/.exec(text.trim());
  if (!match) return undefined;
  return Number(match[1]) * (unitMs[match[2] as string] as number);
}

const unitBytes: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1000,
  KB: 1000,
  MB: 1e6,
  GB: 1e9,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
};

/** A size such as `64KiB`, `5MiB`, `2MB` or `512`, in bytes; nothing where the text is none. */
export function sizeBytes(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*(B|kB|KB|MB|GB|KiB|MiB|GiB)?$/.exec(text.trim());
  if (!match) return undefined;
  return Math.floor(Number(match[1]) * (unitBytes[match[2] ?? 'B'] as number));
}
