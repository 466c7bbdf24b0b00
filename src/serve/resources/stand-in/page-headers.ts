import type { Answer } from '../../../parts/answers.ts';
import type { TellPageHeaders } from '../stand-in.ts';
import { saidInHeader } from './page-words.ts';

/** Compiles the header fields of an answer that tell how many rows there are (`X-Total-Count`) and what leads on (`Link`, RFC 8288), where it states them. */
export function compilePageHeaders({
  headers,
  headerShapes,
}: Pick<Answer, 'headerShapes' | 'headers'>): TellPageHeaders | undefined {
  const stated = Object.keys(headerShapes).filter((name) => !Object.hasOwn(headers, name));
  const counts = stated.flatMap((name) => {
    const say = saidInHeader(name);
    return say ? [{ name: name.toLowerCase(), say }] : [];
  });
  const isLinked = stated.some((name) => /^link$/i.test(name));
  if (counts.length === 0 && !isLinked) return undefined;
  return (page) => {
    const out: Record<string, string> = {};
    for (const { name, say } of counts) {
      const value = say(page);
      if (typeof value === 'number' || typeof value === 'string') out[name] = String(value);
    }
    if (page.link !== undefined) return out;
    const links = [
      ['next', page.nextUrl],
      ['prev', page.previousUrl],
    ] as const;
    const told = links.flatMap(([rel, url]) => (url === null ? [] : [`<${url}>; rel="${rel}"`]));
    if (isLinked && told.length > 0) out.link = told.join(', ');
    return out;
  };
}
