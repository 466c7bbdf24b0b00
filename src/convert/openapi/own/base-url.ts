import type { Json } from '../../../document/document.ts';

/** The base addresses, where they are stated as addresses: one, or a list. */
export function urlsOf(value: Json | undefined): readonly string[] | undefined {
  const list: readonly Json[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
  const urls = list.filter((url): url is string => typeof url === 'string' && url !== 'none' && url !== 'any');
  return urls.length > 0 && urls.length === list.length ? urls : undefined;
}
