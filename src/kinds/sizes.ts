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
