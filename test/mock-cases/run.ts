import { check } from '../../src/check/check.ts';
import { fromForeign } from '../../src/convert/foreign.ts';
import { parseDocument } from '../../src/document/read/parse.ts';
import { isKey } from '../../src/parts/form.ts';
import { serveSpec } from '../../src/serve/service/serve-spec.ts';
import { chosen, negotiated, routed, statuses } from './answered.ts';
import { bodies, credentials, parameters } from './asked.ts';
import { documentOf, type Format, formatsOf, type MockCase } from './documents.ts';

export const mockCases: readonly MockCase[] = [
  ...[...negotiated, ...statuses, ...chosen, ...routed],
  ...[...credentials, ...parameters, ...bodies],
];

/** Each case in each format that can say it. */
export const mockTrials: readonly (readonly [one: MockCase, format: Format])[] = mockCases.flatMap((one) =>
  formatsOf(one).map((format) => [one, format] as const),
);

/** The status that a stand-in of the case's document answers with. */
export async function answeredTo(one: MockCase, format: Format, strict = false): Promise<number> {
  const text = JSON.stringify(documentOf(one, format));
  const { spec } = check(parseDocument(text, 'mocked.json', { isKey, foreign: fromForeign }));
  const service = await serveSpec(spec, { sample: true, relax: 'auth', strict });
  try {
    const { path = one.path ?? '/todos', ...sent } = one.sent ?? {};
    const answer = await service.fetch(new Request(`http://127.0.0.1${path}`, sent));
    await answer.text();
    return answer.status;
  } finally {
    await service.close();
  }
}
