import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { callersOf } from '../src/verify/exchange/callers.ts';
import { Model } from '../src/verify/model/model.ts';
import { delivering } from '../src/verify/trials/events/delivering.ts';
import { smallService } from './verify/small-service.ts';

test('a subscriber that nobody may switch off is not expected to be', () => {
  const names = (document: string) => {
    const { spec } = check(parseDocument(document, 'small.yaml'));
    const [user = ''] = Object.keys(spec.purpose.users.standing === 'stated' ? spec.purpose.users.value : {});
    const callers = callersOf(spec, [{ user, id: 'ada', credential: 'ada' }]);
    return [...delivering.cases(new Model(spec, callers, ''))]
      .map(({ name }) => name)
      .filter((name) => /switched off/.test(name));
  };
  assert.equal(names(smallService).length, 1);
  assert.equal(names(smallService.replace('enabled: { type: boolean,', 'enabled: { type: boolean, readOnly: true,')).length, 0);
});
