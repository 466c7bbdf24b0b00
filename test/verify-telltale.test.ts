import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TrialExchange } from '../src/verify/exchange/exchange.ts';
import { telltale } from '../src/verify/trials/authentication/row-rules.ts';

const answer = (body: object, headers: Record<string, string> = {}, status = 404) =>
  ({ status, headers, body, sent: { path: { id: 'x' }, target: '/things/x' } }) as unknown as TrialExchange;

test('what is another in each answer tells nothing of a row, whatever it is called; what is not does', () => {
  const of = (ref: string, why = 'There is no such thing.') => answer({ why, ref, spots: [{ of: ref }] });
  assert.match(String(telltale(of('r1'), of('r2'))), /for the one that is hidden/);
  assert.equal(telltale(of('r1'), of('r2'), of('r3')), undefined);
  assert.match(String(telltale(of('r1', 'You may not.'), of('r2'), of('r3'))), /You may not/);
  assert.match(String(telltale(answer({ ref: 'a', whose: 'ann' }), answer({ ref: 'b' }), answer({ ref: 'c' }))), /whose/);
  assert.match(String(telltale(answer({}, {}, 403), answer({}), answer({}))), /403/);
});
