import { type DocumentCode, documentFindings } from './catalogue.ts';
import type { Finding, Place, Pointer } from './document.ts';

/** Where findings are gathered, at most so many of them. */
export interface Findings {
  readonly findings: Finding[];
  readonly bounds: { readonly findings: number };
}

/** Adds a finding; its severity, and its remedy unless a better one is given, come from the catalogue. */
export function report(
  gathering: Findings,
  code: DocumentCode,
  place: Place,
  message: string,
  more: Pick<Finding, 'remedy' | 'at' | 'also'> = {},
): void {
  const { findings, bounds } = gathering;
  if (findings.length > bounds.findings) return;
  if (findings.length === bounds.findings) {
    findings.push(finding('document/too-many-findings', place, `There are more than ${bounds.findings} findings.`, {}));
    return;
  }
  findings.push(finding(code, place, message, more));
}

/** The finding of a key that one map holds twice, the first of the two being the one kept. */
export function reportRepeated(
  gathering: Findings,
  places: ReadonlyMap<string, Place>,
  key: string,
  at: Pointer,
  place: Place,
): void {
  const first = places.get(`${at}#`) ?? places.get(at);
  const also = first === undefined ? {} : { also: [{ message: 'It is first written here.', place: first }] };
  report(gathering, 'document/duplicate-key', place, `The key ${quoted(key)} is written twice in one map.`, { at, ...also });
}

/** A word as it is shown in a message, cut when it is long. */
export function quoted(word: string): string {
  return `\`${word.length > 60 ? `${word.slice(0, 57)}…` : word}\``;
}

function finding(code: DocumentCode, place: Place, message: string, more: Pick<Finding, 'remedy' | 'at' | 'also'>): Finding {
  const kind = documentFindings.find((one) => one.code === code);
  return { code, severity: kind?.severity ?? 'error', message, ...(kind && { remedy: kind.remedy }), ...more, place };
}
