import {
  admissionWebhook,
  allowed,
  conversionWebhook,
  defaultingWebhook,
  hubSpokeConverter,
  spoke,
  tokenReviewWebhook,
  validatingWebhook,
  type WebhookHandler,
} from '../src/index.js';
import { defineKind, type KubeObject } from '@kctl/apimachinery';
import { noopLogger } from '@kctl/telemetry';
import { conversionReview, nested, review, Widget, widget } from './fixtures.js';
import { harness, type Answered } from './in-process.js';

/** What a run of requests came to. */
export interface FuzzResult {
  readonly requests: number;
  /** Verdicts that let something pass. */
  readonly allowed: number;
  /** What was answered that must not be, with the body that led to it. */
  readonly violations: readonly string[];
}

/** Numbers in [0, 1) that follow from a seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Gadget extends KubeObject {
  spec: { size?: number };
}
const V2 = defineKind<Gadget>()({ group: 'ex.io', version: 'v2', kind: 'Widget', scope: 'Namespaced' });

const handlers: Readonly<Record<string, WebhookHandler>> = {
  validating: validatingWebhook(Widget, {
    validateCreate: (object) => [`size ${object.spec.size ?? 0}`],
    validateUpdate: (_old, object) => [`size ${object.spec.size ?? 0}`],
    validateDelete: (object) => [`name ${object.metadata.name ?? ''}`],
  }),
  defaulting: defaultingWebhook(Widget, (draft) => void (draft.spec.color ??= 'red')),
  raw: admissionWebhook((request) => ({
    ...allowed(request.name),
    auditAnnotations: { user: String(request.userInfo.username) },
  })),
  conversion: conversionWebhook(
    hubSpokeConverter(V2, spoke(V2, Widget, { toHub: ({ spec }) => ({ spec }), fromHub: ({ spec }) => ({ spec }) })),
  ),
  token: tokenReviewWebhook((token) => ({ authenticated: true, user: { username: token } })),
};

const seeds: readonly string[] = [
  JSON.stringify(review('CREATE')),
  JSON.stringify(review('UPDATE')),
  JSON.stringify(review('DELETE')),
  JSON.stringify(review('CREATE', {}, 'admission.k8s.io/v1beta1')),
  JSON.stringify(conversionReview([widget(), widget(2)])),
  JSON.stringify({
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: { token: 't', audiences: ['a'] },
  }),
];

const pieces: readonly string[] = [
  '',
  'null',
  '{}',
  '[]',
  '""',
  '"',
  '{',
  '}',
  '[',
  ']',
  ':',
  ',',
  '\\',
  '\\u0000',
  '\\ud800',
  '-',
  '1e999',
  '-0',
  '9007199254740993',
  'true',
  '"__proto__"',
  '"constructor"',
  '"toString"',
  '"CREATE"',
  '"CONNECT"',
  '"metadata"',
  '"spec"',
  '"uid"',
  '\u0000',
  '\u2028',
  'é',
];

/** Makes malformed bodies of well-formed ones; what it makes follows from the seed. */
export function bodiesOf(seed: number): () => Buffer {
  const random = randomOf(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const pick = (list: readonly string[]): string => list[below(list.length)] ?? '';
  const token = /"(?:[^"\\]|\\.)*"|-?\d+|true|false|null|[{}[\],:]/g;
  const change = (text: string): string => {
    switch (below(6)) {
      case 0: // one token for another
      case 1: {
        const places = [...text.matchAll(token)];
        const place = places[below(places.length)];
        if (place === undefined) return text;
        return text.slice(0, place.index) + pick(pieces) + text.slice(place.index + place[0].length);
      }
      case 2: // cut
        return text.slice(0, below(text.length));
      case 3: // a piece anywhere
        return text.slice(0, below(text.length)) + pick(pieces) + text.slice(below(text.length));
      case 4: // nested, sometimes beyond what is taken
        return text.replace('"spec":{', `"spec":{"deep":${nested(below(20) === 0 ? 9_900 : below(1_100))},`);
      default: // a stretch twice
        return text.slice(0, below(text.length)) + text.slice(below(text.length));
    }
  };
  return () => {
    let text = pick(seeds);
    for (let changes = 1 + below(4); changes > 0; changes--) text = change(text);
    const body = Buffer.from(text);
    if (body.length > 0 && below(10) === 0) body[below(body.length)] = below(256);
    return body;
  };
}

/** Sends `count` malformed requests, each to one of five webhooks. @throws nothing; what is wrong stands in the result */
export async function fuzz({
  seed,
  count,
  onBatch,
}: {
  seed: number;
  count: number;
  onBatch?: (done: number) => void;
}): Promise<FuzzResult> {
  const next = bodiesOf(seed);
  const hooks = Object.entries(handlers).map(([name, handler]) => ({ name, hook: harness(handler, noopLogger) }));
  const violations: string[] = [];
  let passed = 0;
  for (let done = 0; done < count; done++) {
    const { name, hook } = hooks[done % hooks.length] ?? hooks[0]!;
    const body = next();
    const problem = await hook.begin({ body }).answered.then(
      (answer) => {
        if (passes(answer)) passed++;
        return problemOf(name, answer);
      },
      (error: unknown) => `rejected with ${String(error)}`,
    );
    if (problem !== undefined) violations.push(`${name}: ${problem}: ${body.toString().slice(0, 500)}`);
    if (done % 50_000 === 49_999) onBatch?.(done + 1);
  }
  for (const { name, hook } of hooks)
    if (
      hook.metrics.get('controller_runtime_webhook_requests_in_flight', { webhook: '/hook' }) !== 0 ||
      hook.clock.pendingTimers !== 0
    )
      violations.push(`${name}: something is left behind`);
  return { requests: count, allowed: passed, violations };
}

function passes({ body }: Answered): boolean {
  return (
    body?.response?.allowed === true ||
    body?.status?.authenticated === true ||
    body?.response?.result?.status === 'Success'
  );
}

/** Every request has a JSON answer in its review's terms, with a verdict. */
function problemOf(name: string, { code, text, body }: Answered): string | undefined {
  if (![200, 400].includes(code)) return `HTTP ${code} ${text}`;
  if (name === 'token') return typeof body?.status?.authenticated === 'boolean' ? undefined : text;
  if (name === 'conversion') return typeof body?.response?.result?.status === 'string' ? undefined : text;
  return typeof body?.response?.allowed === 'boolean' && typeof body.response.status.code === 'number'
    ? undefined
    : text;
}
