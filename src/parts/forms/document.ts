/** The form of a whole document, which begins with its purpose. */

import { Type } from 'typebox';
import { withKinds } from '../kind-forms.ts';
import { AuthenticationForm, SchemeForm } from './authentication.ts';
import { EndpointForm, EndpointsForm, FullAnswerForm } from './endpoints.ts';
import { ErrorsForm } from './errors.ts';
import { BrokerForm, EnvelopeForm, EventsForm, PullForm, PushForm } from './events.ts';
import { LimitsForm, PaginationForm, RateForm } from './limits.ts';
import { ResourcesForm, StatesForm } from './resources.ts';
import { DeprecationForm, ShapeForm } from './shape.ts';
import {
  AnyForm,
  FollowingForm,
  fact,
  keys,
  MadeForm,
  NoneForm,
  namedForm,
  OpenForm,
  OthersForm,
  value,
  Words,
} from './standing.ts';
import { VersioningForm } from './versioning.ts';

const PurposeForm = fact(
  keys({
    purpose: value(Type.String(), 'What the service is for, in a sentence.'),
    base_url: fact(Words, 'The absolute base URL, or a list; its path is the prefix under which the endpoints are served.'),
    users: fact(Type.Union([namedForm(Type.String()), Words]), 'Who uses the service, each with what it is.'),
    functions: fact(namedForm(fact(Words)), 'What a user can do, and the operations that do it.'),
  }),
  'Part 1: what the service does.',
);

const EvidenceForm = Type.Array(
  keys({
    fact: Type.String({ description: 'The JSON Pointer of the fact that was inferred.' }),
    rule: Type.String({ description: 'The rule that inferred it.' }),
    from: Type.String({ description: 'What it was read off.' }),
    confidence: Type.Number({ minimum: 0, maximum: 1 }),
  }),
);

/** A whole document in its one-map form. */
const DocumentForm = keys(
  {
    $schema: Type.String(),
    title: Type.String({ description: 'The name of the service.' }),
    include: Type.Union([Words], { description: 'Other documents to merge, relative to this one.' }),
    purpose: PurposeForm,
    resources: ResourcesForm,
    states: StatesForm,
    endpoints: EndpointsForm,
    authentication: AuthenticationForm,
    events: EventsForm,
    errors: ErrorsForm,
    limits: LimitsForm,
    versioning: VersioningForm,
    evidence: EvidenceForm,
  },
  'A service interface in nine parts. What is not stated is open.',
);

/** The JSON Schema (2020-12) of a document, as published for editors. */
export function documentSchema(): Record<string, unknown> {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Ninefold document',
    ...plain(DocumentForm),
    $defs: withKinds({
      shape: plain(ShapeForm),
      made: plain(MadeForm),
      open: plain(OpenForm),
      none: plain(NoneForm),
      any: plain(AnyForm),
      others: plain(OthersForm),
      answer: plain(FullAnswerForm),
      broker: plain(BrokerForm),
      delivery: { properties: { envelope: plain(EnvelopeForm) } },
      deprecation: plain(DeprecationForm),
      endpoint: plain(EndpointForm),
      following: plain(FollowingForm),
      pagination: plain(PaginationForm),
      pull: plain(PullForm),
      push: plain(PushForm),
      rate: plain(RateForm),
      scheme: plain(SchemeForm),
    }),
  };
}

function plain(form: unknown): Record<string, unknown> {
  // A form is a JSON Schema object; writing it as JSON leaves out the library's own marks.
  return JSON.parse(JSON.stringify(form)) as Record<string, unknown>;
}
