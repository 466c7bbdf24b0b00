/** A value of each format of JSON Schema 2020-12 that is none of ours as well (section 7.3 of its validation vocabulary). */
export const standardExamples: ReadonlyMap<string, string> = new Map([
  ['date', '2030-01-01'],
  ['time', '09:00:00Z'],
  ['duration', 'P1D'],
  ['email', 'somebody@example.com'],
  ['hostname', 'example.com'],
  ['ipv4', '192.0.2.1'],
  ['ipv6', '2001:db8::1'],
  ['uri', 'https://example.com/'],
  ['uri-reference', '/example'],
  ['uri-template', '/example/{id}'],
  ['uuid', '3f2b8f4e-6c1d-4a57-9f0e-1b2c3d4e5f60'],
  ['json-pointer', '/example'],
  ['relative-json-pointer', '0'],
  ['regex', 'example'],
]);
