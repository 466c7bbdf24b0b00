'use strict';
// Who is known at the yard: people, and what each of them shows.
const crypto = require('node:crypto');
const SECRET = 'the-old-pear-by-the-gate-bears-every-other-year';
const b64 = (x) => Buffer.from(x).toString('base64url');
function sign(claims, secret = SECRET, header = { alg: 'HS256', typ: 'JWT' }) {
  const head = b64(JSON.stringify(header)) + '.' + b64(JSON.stringify(claims));
  return head + '.' + crypto.createHmac('sha256', secret).update(head).digest('base64url');
}
const P = [
  ['grower', 'wilma', 'oost', 'leaf', 'leaf_wilmaQ7rT2mXb9LpZ4c6d', ['sticks', 'grafts']],
  ['grower', 'wilma', 'oost', 'tag', '3f9a0c51d7e2b846', []],
  ['grower', 'bram', 'west', 'leaf', 'leaf_bramK3vN8sYf1WjH5x7qz', ['sticks', 'grafts']],
  ['grower', 'nel', 'oost', 'leaf', 'leaf_nelB6tD4gRk2PmV9a8cwy', []],
  ['grower', 'ties', 'noord', 'tag', 'a81c44e09b7d6f23', ['sticks']],
  ['grower', 'ties', 'noord', 'badge', null, ['grafts']],
  ['grafter', 'joost', 'oost', 'tag', '0d5e7a92c3b1f648', []],
  ['grafter', 'fien', 'oost', 'leaf', 'leaf_fienU1oE5iAy7TgS3hLm8', ['bench']],
  ['grafter', 'gerrit', 'west', 'badge', null, []],
  ['grafter', 'gerrit', 'west', 'tag', '77b2e6c0a914d35f', ['bench']],
  ['curator', 'adelheid', 'oost', 'leaf', 'leaf_adelJ4wC9nMb6XqR2dFt5', ['pomology', 'seeds']],
  ['curator', 'adelheid', 'oost', 'badge', null, ['pomology', 'seeds']],
  ['curator', 'bertha', 'west', 'badge', null, ['pomology']],
  ['curator', 'bertha', 'west', 'tag', 'c60f1d83e5a792b4', []],
  ['curator', 'koos', 'oost', 'leaf', 'leaf_koosZ8kG3pVs5NbY1uHe7', ['seeds']],
  ['curator', 'koos', 'oost', 'badge', null, []],
].map(([user, id, ward, scheme, credential, scopes]) => ({
  user, id, ward, scheme, scopes,
  credential: credential ?? sign({ iss: 'https://town.example', aud: 'scion-yard', sub: id, office: user, ward, scope: scopes.join(' ') }),
}));
// keys look as the document says: leaf_ and 20 letters or digits
for (const p of P) if (p.scheme === 'leaf') p.credential = 'leaf_' + p.credential.slice(5).padEnd(20, 'x').slice(0, 20);
module.exports = { P, SECRET, sign };
