import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { steady, toldMeanwhile } from '../src/verify/model/clock-changes.ts';
import { confirmed } from './values/confirmed.ts';

const specOf = (text: string) => check(parseDocument(`title: Notes\n${text}`, 'notes.yaml')).spec;

test('whether an address has confirmed is told while others look, and so is what is set with it; nothing else is', () => {
  const spec = specOf(
    confirmed.replace(
      'confirmed: { type: boolean, readOnly: true, default: false }',
      'confirmed: { type: boolean, readOnly: true, default: false }\n      at: { type: string, readOnly: true, set: { confirm hook: "string(now)" } }\n      seen: { type: string, readOnly: true, set: { update: "string(now)" } }',
    ),
  );
  assert.deepEqual([...toldMeanwhile(spec, 'hook')], ['confirmed', 'at']);
  assert.deepEqual([...toldMeanwhile(spec, 'note')], []);
  assert.deepEqual(steady(spec, 'hook', { id: 'h', confirmed: true, at: '' }), { id: 'h' });
  assert.deepEqual(steady(spec, 'note', { id: 'h', confirmed: true }), { id: 'h', confirmed: true });
});

test('where no address is asked, or no field says whether it has confirmed, all of a row is held to what it was', () => {
  assert.deepEqual([...toldMeanwhile(specOf(confirmed.replace('      confirm: challenge\n', '')), 'hook')], []);
  assert.deepEqual([...toldMeanwhile(specOf(confirmed.replace(', confirmed: confirmed }', ' }')), 'hook')], []);
});
