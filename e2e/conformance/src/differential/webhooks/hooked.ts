/** A session whose writes pass webhooks, which change now and then; what they were asked and what they left is compared, too. */
import { createContext, type Run } from '../../harness/context.js';
import type { Json } from '../../harness/doc.js';
import type { Answer } from '../../harness/http.js';
import { allow, registration, startHook, type Hook, type HookType, type Review } from '../../harness/hook.js';
import { normaliseDocument, normaliseText } from '../normalise.js';
import type { Random } from '../random.js';
import type { Pair, SessionExtension } from '../session.js';
import { randomMix, type MixedHook } from './mix.js';

const types: readonly HookType[] = ['Mutating', 'Validating'];
/** How many calls pass the same webhooks. */
const stretch = 25;

interface Side {
  readonly run: Run;
  readonly context: ReturnType<typeof createContext>;
  readonly hook: Hook;
  installed: string[];
}

/** Webhooks for the writes of one namespace, the same ones on both servers. */
export interface HookedSession extends SessionExtension {
  stop(): Promise<void>;
}

/** Starts a webhook server per side; the namespace exists. */
export async function startHooked(runs: Pair<Run>, namespace: string, random: Random): Promise<HookedSession> {
  const startSide = async (run: Run): Promise<Side> => {
    const context = createContext(run);
    return { run, context, hook: await startHook(context.context, namespace), installed: [] };
  };
  const sides: Pair<Side> = [await startSide(runs[0]), await startSide(runs[1])];
  let mix: readonly MixedHook[] = [];
  let count = 0;
  const change = async (next: readonly MixedHook[]): Promise<void> => {
    await Promise.all(sides.map((side) => remove(side)));
    mix = next;
    const prefix = `${namespace}-${count++}`;
    await Promise.all(sides.map((side) => install(side, next, prefix)));
  };
  return {
    async beforeCall() {
      if (count > 0 && !random.chance(1 / stretch)) return;
      await change(randomMix(random, `${namespace}-${count}`));
    },
    begin() {
      for (const { hook } of sides) hook.take();
    },
    async observe(answers, body) {
      const seen = sides.map(async ({ hook, run }, side) => ({
        ...shownReviews(hook.take().filter(({ request }) => request.namespace === namespace)),
        annotations: isJson(body) ? await annotationsOf(run, answers[side as 0 | 1]) : {},
      }));
      return [(await seen[0]) ?? {}, (await seen[1]) ?? {}];
    },
    describe: () => mix.map(({ description, fields }) => `${description}: ${JSON.stringify(fields)}`),
    async aside(work) {
      // Nothing but the probes: what refuses to be put away is gone when they are in effect.
      await change([]);
      await work();
    },
    async stop() {
      await Promise.all(sides.map(({ context }) => context.cleanUp()));
    },
  };
}

const pathOf = (type: HookType, name = ''): string =>
  `${registration}/${type.toLowerCase()}webhookconfigurations/${name}`;

async function remove({ run, installed }: Side): Promise<void> {
  for (const path of installed.splice(0)) await run.connection.send('DELETE', path);
}

async function install(side: Side, mix: readonly MixedHook[], prefix: string): Promise<void> {
  const { hook, run, installed } = side;
  const byName = new Map(mix.map((one) => [one.name, one]));
  hook.answer = (review) => (isSpared(review) ? allow() : (byName.get(nameOf(review))?.answer(review) ?? allow()));
  for (const type of types) {
    const own = mix.filter((one) => one.type === type);
    for (const configuration of new Set(own.map((one) => one.configuration))) {
      const entries = own.filter((one) => one.configuration === configuration);
      const made = await run.connection.send('POST', pathOf(type), {
        body: {
          kind: `${type}WebhookConfiguration`,
          apiVersion: 'admissionregistration.k8s.io/v1',
          metadata: { name: configuration },
          webhooks: entries.map(({ name, fields }) => hook.entry(`${name}.kctl.test`, fields)),
        },
      });
      if (made.status !== 201) throw new Error(`webhooks were refused: ${made.text}`);
      installed.push(pathOf(type, configuration));
    }
    // Made last and called first: when it is called, those before it are in effect, and those deleted are not.
    await hook.install(type, [], `${prefix}-a`);
    installed.push(pathOf(type, `${prefix}-a`));
  }
}

const nameOf = ({ url }: Review): string => url.slice(1).split('?')[0] ?? '';

/** What the run itself puts away. */
function isSpared({ request }: Review): boolean {
  return request.operation !== 'CREATE' && String(request.name ?? '').startsWith('gen-');
}

/** In the order in which they came; those of validating webhooks, which come at once, by name. */
function shownReviews(reviews: readonly Review[]): { asked: readonly string[]; reviews: Json } {
  const shown = reviews.map((review) => {
    const { userInfo: _user, uid: _uid, ...request } = review.request;
    return {
      url: review.url,
      apiVersion: review.review.apiVersion,
      request: normaliseDocument(request, () => undefined),
    };
  });
  const ordered: Json[] = [];
  let together: Json[] = [];
  const flush = (): void => {
    ordered.push(...together.toSorted((a, b) => (a.url < b.url ? -1 : 1)));
    together = [];
  };
  for (const one of shown) {
    if (one.url.startsWith('/v')) together.push(one);
    else {
      flush();
      ordered.push(one);
    }
  }
  flush();
  const distinct = withoutRepetitions(ordered);
  const asked = distinct.map(
    ({ url, request }) => `${url} ${request.operation} ${request.subResource ?? ''} ${request.name ?? ''}`,
  );
  return { asked, reviews: distinct };
}

/** A real server asks the same once more where it began with a state that was a few ms old. */
function withoutRepetitions(reviews: readonly Json[]): Json[] {
  const texts = reviews.map((review) => JSON.stringify(review));
  const kept: number[] = [];
  for (const index of texts.keys()) {
    kept.push(index);
    for (let length = 1; length * 2 <= kept.length; length++) {
      const last = kept.slice(-length).map((at) => texts[at]);
      const before = kept.slice(-2 * length, -length).map((at) => texts[at]);
      if (last.every((text, at) => text === before[at])) kept.splice(-length);
    }
  }
  return kept.map((index) => reviews[index]);
}

/** Whether a body can be written into an audit log. */
function isJson(body: unknown): boolean {
  if (typeof body !== 'string') return true;
  try {
    JSON.parse(body);
    return true;
  } catch {
    return false;
  }
}

async function annotationsOf({ target }: Run, answer: Answer): Promise<Json> {
  const [method = ''] = answer.request.split(' ');
  const id = [answer.headers['audit-id'] ?? ''].flat()[0] ?? '';
  if (method === 'GET' || target.auditOf === undefined || answer.status === 0) return {};
  const own = Object.entries(await target.auditOf(id)).filter(([key]) =>
    /admission\.k8s\.io\/|\.kctl\.test\/|^diff-\d+-policy-/.test(key),
  );
  const shown = isCollection(answer.request) ? gathered(own) : ranked(own);
  return Object.fromEntries(shown.map(([key, value]) => [key, normaliseText(value)]));
}

/** Whether a request deletes objects of a kind in a namespace, not one of them. */
function isCollection(request: string): boolean {
  return /^DELETE .*\/namespaces\/[^/]+\/[^/?]+(\?|$)/.test(request);
}

/** Of one object after the other: the webhooks of other sessions change between them, and the indices with those. */
function gathered(annotations: readonly (readonly [string, string])[]): (readonly [string, string])[] {
  const values = new Map<string, Set<string>>();
  for (const [key, value] of annotations) {
    const what = key.replace(/_index_\d+$/, '');
    values.set(what, (values.get(what) ?? new Set()).add(value));
  }
  return [...values].map(([what, of]) => [what, [...of].toSorted().join(' ')]);
}

/** Indices count the webhooks of all sessions, of which each server has others at each moment: their order in a round remains. */
function ranked(annotations: readonly (readonly [string, string])[]): (readonly [string, string])[] {
  const parts = annotations.map(([key, value]) => {
    const [, what = key, index] = /^(.*)_index_(\d+)$/.exec(key) ?? [];
    return {
      what,
      value,
      round: what.replace('patch.', 'mutation.'),
      index: index === undefined ? undefined : Number(index),
    };
  });
  // What is asked once more may have another index by then.
  const distinct = parts.filter(
    (part, at) => parts.findIndex(({ what, value }) => what === part.what && value === part.value) === at,
  );
  return distinct.map(({ what, value, round, index }) => {
    if (index === undefined) return [what, value];
    const peers = new Set(distinct.filter((other) => other.round === round).map((other) => other.index ?? 0));
    return [`${what}_index_${[...peers].filter((other) => other < index).length}`, value];
  });
}
