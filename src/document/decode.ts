import type { ReadContext } from './read-context.ts';
import { report } from './report.ts';

import { type Source, sourceOf } from './source.ts';

/** Takes a file's bytes or text into the gathering as a source; what is wrong with it as text is a finding. */
export function takeSource(content: string | Uint8Array, file: string, gathering: ReadContext): Source {
  const { bounds } = gathering;
  if (content.length > bounds.bytes) {
    const empty = sourceOf(file, '');
    gathering.sources.set(file, '');
    report(gathering, 'document/too-large', empty.place(0, 0), `The file is larger than ${bounds.bytes} bytes.`);
    return empty;
  }
  const { text, isBroken } = decoded(content);
  const source = sourceOf(file, text);
  gathering.sources.set(file, text);
  if (isBroken) {
    const at = Math.max(0, text.indexOf('\uFFFD'));
    report(gathering, 'document/bad-utf8', source.place(at, at + 1), 'The file is not UTF-8 text.');
  }
  const control = controlCharacter.exec(text);
  if (control !== null) {
    const code = control[0].charCodeAt(0).toString(16).padStart(4, '0').toUpperCase();
    const place = source.place(control.index, control.index + 1);
    report(gathering, 'document/control-character', place, `The control character U+${code} stands in the text.`);
  }
  return source;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const controlCharacter = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/;

/** The text without its byte order mark, and whether the bytes were no UTF-8. */
function decoded(content: string | Uint8Array): { text: string; isBroken: boolean } {
  if (typeof content === 'string') return { text: content.startsWith('\uFEFF') ? content.slice(1) : content, isBroken: false };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(content), isBroken: false };
  } catch {
    return { text: new TextDecoder('utf-8').decode(content), isBroken: true };
  }
}
