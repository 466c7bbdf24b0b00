import type { Case } from '../harness.ts';

/** One of each finding of the form; what the form asks for is tested with it. */
export const formCases: readonly Case[] = [
  { snippets: ['limits: { quoat: none }'], finds: ['form/unknown-key @ /limits/quoat'] },
  { snippets: ['limits: { timeout: 10s }'], finds: ['form/wrong-value @ /limits/timeout'] },
  { snippets: ['resources: { label: { required: [name, null] } }'], finds: ['form/null @ /resources/label/required/1'] },
];
