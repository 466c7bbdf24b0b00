import { broken } from './faults.js';

/** Every code of the service: its status, its family and its sentence. */
export const CODES = {
  malformed: [400, 'input', 'The body is no JSON.'],
  unsupported_type: [415, 'input', 'Send application/json.'],
  not_acceptable: [406, 'input', 'Answers are application/json.'],
  bad_parameter: [400, 'input', 'A parameter of the query does not fit.'],
  bad_page: [400, 'input', 'There is no such page.'],
  invalid: [422, 'input', 'The body does not fit.'],
  unknown_version: [400, 'input', 'There is no such version.'],
  version_gone: [410, 'input', 'This version is served no longer.'],
  no_such_path: [404, 'input', 'Nothing is here.'],
  no_such_method: [405, 'input', 'This method is not for this path.'],
  who_are_you: [401, 'rights', 'Show a good credential.'],
  not_allowed: [403, 'rights', 'This is not for you to do.'],
  not_found: [404, 'rights', 'There is no such thing.'],
  exists: [409, 'state', 'There is one already.'],
  no_such_reference: [422, 'input', 'What is referred to is not there.'],
  in_use: [409, 'state', 'Others refer to it.'],
  wrong_state: [409, 'state', 'Its state does not allow this.'],
  changed_meanwhile: [412, 'state', 'It was changed meanwhile.'],
  if_match_missing: [428, 'input', 'Send If-Match.'],
  key_reused: [422, 'input', 'The idempotency key was used for another request.'],
  key_busy: [409, 'state', 'A request with this key is under way.'],
  conflict: [409, 'state', 'Try again.'],
  too_many: [429, 'limit', 'Too many requests.'],
  quota_spent: [429, 'limit', 'The quota of the day is spent.'],
  too_large: [413, 'limit', 'The request is too large.'],
  too_slow: [503, 'server', 'The request took too long.'],
  unavailable: [503, 'server', 'The service is not available.'],
  broken: [500, 'server', 'The service failed.'],
  under_treatment: [409, 'state', 'The hive is under treatment.'],
  yard_full: [409, 'state', 'The yard has no place for another hive.'],
  hive_at_rest: [409, 'state', 'Honey is taken of active hives only.'],
  hive_retired: [409, 'state', 'The hive is retired.'],
  already_applied: [409, 'state', 'Only a planned treatment can be cancelled.'],
  too_wet: [422, 'state', 'Honey of more than 20 percent water is not released.'],
  not_held: [409, 'state', 'The reservation is not held any more.'],
  too_much: [409, 'state', 'There is not so much honey left.'],
};

/** The errors that are the service's own, and are kept under an idempotency key. */
const OWN = new Set([
  'under_treatment',
  'yard_full',
  'hive_at_rest',
  'hive_retired',
  'already_applied',
  'too_wet',
  'not_held',
  'too_much',
]);

export class Refusal extends Error {
  constructor(code, { problems = [], headers = {} } = {}) {
    super(CODES[code][2]);
    this.code = code;
    this.problems = problems;
    this.headers = headers;
  }

  get own() {
    return OWN.has(this.code);
  }

  get statusCode() {
    if (broken('er-status-too-wet') && this.code === 'too_wet') return 409;
    if (broken('er-status-exists') && this.code === 'exists') return 400;
    if (broken('er-status-in-use') && this.code === 'in_use') return 422;
    if (broken('er-status-precondition') && this.code === 'changed_meanwhile') return 409;
    if (broken('er-status-too-much') && this.code === 'too_much') return 422;
    return CODES[this.code][0];
  }

  body(request) {
    let [, family] = CODES[this.code];
    if (broken('er-family-quota') && this.code === 'too_many') family = 'state';
    let { code } = this;
    if (broken('er-code-yard-full') && code === 'yard_full') code = 'wrong_state';
    if (broken('er-code-not-held') && code === 'not_held') code = 'wrong_state';
    const body = { code, family, status: this.statusCode, message: this.message, request, problems: this.problems };
    if (broken('er-payload-request')) delete body.request;
    if (broken('er-payload-status')) body.status = String(body.status);
    if (broken('er-payload-expected'))
      body.problems = body.problems.map(({ expected, ...problem }) => ({ ...problem, reason: expected }));
    return body;
  }
}

export const refuse = (code, more) => {
  throw new Refusal(code, more);
};

export const problem = (path, expected, found) => ({
  in: 'body',
  path,
  expected,
  ...(found !== undefined && { found }),
});
