import type { Breach, Cause } from './report.ts';

/** Breaches by what most likely causes them: the same exchange that was judged, or the same words about several facts. */
export function causesOf(breaches: readonly Breach[]): readonly Cause[] {
  const causes: { readonly breaches: string[]; readonly marks: Set<string> }[] = [];
  for (const breach of breaches) {
    const marks = marksOf(breach);
    const known = causes.filter((cause) => marks.some((mark) => cause.marks.has(mark)));
    const [first] = known;
    if (!first) {
      causes.push({ breaches: [breach.id], marks: new Set(marks) });
      continue;
    }
    first.breaches.push(breach.id);
    for (const mark of marks) first.marks.add(mark);
    // What it has in common with several brings those together.
    for (const other of known.slice(1)) {
      first.breaches.push(...other.breaches);
      for (const mark of other.marks) first.marks.add(mark);
      causes.splice(causes.indexOf(other), 1);
    }
  }
  const byId = new Map(breaches.map((breach) => [breach.id, breach]));
  return causes.map((cause) => ({ breaches: cause.breaches.sort((one, other) => length(byId, one) - length(byId, other)) }));
}

/** The shortest way shows it best. */
function length(byId: ReadonlyMap<string, Breach>, id: string): number {
  return byId.get(id)?.steps.length ?? 0;
}

function marksOf({ promised, seen, exchanges, kind }: Breach): string[] {
  const last = exchanges.at(-1);
  const lines = last ? [...last.request, { text: '' }, ...last.answer].map(({ text }) => masked(text)).join('\n') : undefined;
  return [`${kind}\n${masked(promised)}\n${masked(seen)}`, ...(lines === undefined ? [] : [lines])];
}

/** Without what is another one in every run: identifiers, times, numbers that were drawn. */
function masked(text: string): string {
  return text.replaceAll(/[\w+:.-]*\d[\w+:.-]*/g, '#');
}
