/** Every refusal by its code: status and message. */
const CATALOGUE = {
  bad_json: [400, 'The body is not JSON.'],
  bad_type: [415, 'Send application/json.'],
  not_acceptable: [406, 'Only application/json is produced.'],
  bad_parameter: [400, 'A parameter is not right.'],
  bad_page: [400, 'There is no such page.'],
  unknown_field: [400, 'There is no such field.'],
  invalid: [422, 'The body does not fit.'],
  no_route: [404, 'There is nothing here.'],
  no_method: [405, 'This method is not served here.'],
  no_credential: [401, 'Say who you are.'],
  bad_credential: [401, 'This credential is not good.'],
  scope_missing: [403, 'Your key lacks a scope.'],
  forbidden: [403, 'You may not do this.'],
  not_found: [404, 'There is no such thing.'],
  duplicate: [409, 'There is one already.'],
  unknown_ref: [422, 'It refers to something that is not there.'],
  rack_in_use: [409, 'Pledges refer to this rack.'],
  wrong_status: [409, 'Not in this status.'],
  too_late: [410, 'It is pawned or gone already.'],
  no_rack: [409, 'It has no place on a rack yet.'],
  renewed_enough: [409, 'It was renewed three times.'],
  unpaid: [402, 'The loan is not paid back yet.'],
  rack_locked: [409, 'The rack is locked.'],
  not_pawned: [409, 'There is no loan to pay back.'],
  too_much: [422, 'That is more than the loan.'],
  etag_mismatch: [412, 'It has changed since you read it.'],
  etag_required: [428, 'Send If-Match.'],
  key_reused: [422, 'This key was used for another request.'],
  key_busy: [409, 'The request with this key is under way.'],
  slow_down: [429, 'Too many requests.'],
  quota_used: [429, 'There are enough of these.'],
  too_large: [413, 'That is too large.'],
  no_version: [404, 'There is no such version.'],
  version_gone: [410, 'This version is no longer served.'],
  broken: [500, 'Something broke.'],
};
/** The service's own errors: these are kept under an idempotency key. */
export const OWN = new Set(['rack_locked', 'not_pawned', 'too_much']);

export class Problem extends Error {
  constructor(code, { at = [], headers = {} } = {}) {
    super(code);
    Object.assign(this, { code, at, headers });
  }
}

export function broken({ code, at, headers }, requestId = 'none') {
  const [status, message] = CATALOGUE[code];
  return {
    status,
    json: { error: { code, message, at }, request_id: requestId },
    headers: { ...headers, 'X-Error-Code': code },
  };
}
