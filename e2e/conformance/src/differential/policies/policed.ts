/** A session whose writes pass admission policies, which change now and then. */
import { createContext, type Context, type Run } from '../../harness/context.js';
import type { Draft } from '../../harness/doc.js';
import { created } from '../../harness/expect.js';
import { registration } from '../../harness/hook.js';
import type { RandomKind } from '../kinds.js';
import type { Random } from '../random.js';
import type { Pair, SessionExtension } from '../session.js';
import { randomPolicies, sparedUser, type PolicyMix } from './mix.js';

/** How many calls pass the same policies: on a real server it takes up to a second until new ones are in effect. */
const stretch = 60;

/** Headers of what policies leave alone. */
export const sparedHeaders: Readonly<Record<string, string>> = {
  'impersonate-user': sparedUser,
  'impersonate-group': 'system:masters',
};

interface Side {
  readonly t: Context;
  readonly cleanUp: () => Promise<void>;
  installed: string[];
}

/** Policies for the writes of one namespace, the same ones on both servers. */
export interface PolicedSession extends SessionExtension {
  stop(): Promise<void>;
}

type Type = 'Validating' | 'Mutating';

export function startPoliced(runs: Pair<Run>, namespace: string, random: Random): PolicedSession {
  const sides = runs.map((run): Side => {
    const { context, cleanUp } = createContext(run);
    return { t: context, cleanUp, installed: [] };
  });
  let mix: PolicyMix | undefined;
  let count = 0;
  return {
    async beforeCall() {
      if (count > 0 && !random.chance(1 / stretch)) return;
      const next = randomPolicies(random, namespace);
      mix = next;
      const name = `${namespace}-policy-${count++}`;
      await Promise.all(sides.map((side) => install(side, next, { name, namespace })));
    },
    begin: () => undefined,
    observe: () => Promise.resolve([{}, {}]),
    describe: () => (mix === undefined ? [] : descriptions(mix)),
    aside: (work) => work(),
    async stop() {
      await Promise.all(sides.map(({ cleanUp }) => cleanUp()));
    },
  };
}

/** What is evaluated first. */
function descriptions({ mutating, validating, validationActions }: PolicyMix): string[] {
  const { mutations, ...mutates } = mutating;
  const { validations, ...validates } = validating;
  return [
    `mutating: ${JSON.stringify(mutations)} ${JSON.stringify(mutates)}`,
    `validating (${validationActions.join(', ')}): ${JSON.stringify(validations)} ${JSON.stringify(validates)}`,
  ];
}

/**
 * Waits until mutating policies can be applied to these kinds: a real server learns of the types of custom resources
 * some seconds after it serves them.
 */
export async function typesAreKnown(runs: Pair<Run>, kinds: readonly RandomKind[]): Promise<void> {
  const namespace = 'diff-types';
  await Promise.all(
    runs.map(async (run) => {
      const { context: t, cleanUp } = createContext(run);
      created(await t.post('/api/v1/namespaces', { metadata: { name: namespace } }));
      const mutating = {
        failurePolicy: 'Fail',
        reinvocationPolicy: 'Never',
        matchConstraints: {
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
          resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['CREATE'], resources: ['*'] }],
        },
        mutations: [
          {
            patchType: 'ApplyConfiguration',
            applyConfiguration: { expression: 'Object{metadata: Object.metadata{labels: {"typed": "yes"}}}' },
          },
        ],
      };
      const side: Side = { t, cleanUp, installed: [] };
      await addPolicy(side, 'Mutating', { name: namespace, namespace, spec: mutating, actions: [] });
      await t.eventually(
        () =>
          t.post(
            `/api/v1/namespaces/${namespace}/configmaps`,
            { metadata: { name: 'x' } },
            { query: { dryRun: 'All' } },
          ),
        ({ body }) => body.metadata.labels?.['typed'] === 'yes',
        { what: `${namespace} being in effect` },
      );
      for (const { apiVersion, kind, path } of kinds)
        await t.eventually(
          () => t.post(path(namespace), { apiVersion, kind, metadata: { name: 'x' } }, { query: { dryRun: 'All' } }),
          ({ status }) => status !== 503,
          { what: `the type of ${apiVersion} ${kind}`, timeoutMs: 120_000 },
        );
      await cleanUp();
    }),
  );
}

interface Place {
  readonly name: string;
  readonly namespace: string;
}

interface Policy extends Place {
  readonly spec: Draft;
  readonly actions: readonly string[];
}

const inside = (namespace: string): Draft => ({
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
});

/** A policy and its binding, which go with the session. */
async function addPolicy(
  { t, installed }: Side,
  type: Type,
  { name, namespace, spec, actions }: Policy,
): Promise<void> {
  const plural = `${type.toLowerCase()}admissionpolicies`;
  const binding = {
    policyName: name,
    matchResources: inside(namespace),
    ...(type === 'Validating' && { validationActions: actions }),
  };
  const parts: readonly [collection: string, kind: string, spec: Draft][] = [
    [`${registration}/${plural}`, `${type}AdmissionPolicy`, spec],
    [`${registration}/${plural.replace('policies', 'policybindings')}`, `${type}AdmissionPolicyBinding`, binding],
  ];
  for (const [collection, kind, fields] of parts) {
    const apiVersion = 'admissionregistration.k8s.io/v1';
    created(await t.post(collection, { apiVersion, kind, metadata: { name }, spec: fields }));
    installed.push(`${collection}/${name}`);
    t.defer(() => t.delete(`${collection}/${name}`));
  }
}

async function install(side: Side, mix: PolicyMix, { name, namespace }: Place): Promise<void> {
  const { t } = side;
  for (const path of side.installed.splice(0)) await t.delete(path);
  const here = inside(namespace);
  const add = (type: Type, own: string, spec: Draft, actions: readonly string[]): Promise<void> =>
    addPolicy(side, type, { name: own, namespace, spec, actions });
  await add('Validating', name, mix.validating, mix.validationActions);
  await add('Mutating', name, mix.mutating, []);
  // Made last: where they are in effect those before them are, and those deleted are not.
  const probes = {
    failurePolicy: 'Fail',
    matchConstraints: {
      ...here,
      objectSelector: { matchLabels: { ready: name } },
      resourceRules: [
        {
          apiGroups: [''],
          apiVersions: ['v1'],
          operations: ['CREATE'],
          resources: ['configmaps'],
          scope: 'Namespaced',
        },
      ],
    },
  };
  const seen = `Object{metadata: Object.metadata{labels: {"seen": "${name}"}}}`;
  await add(
    'Mutating',
    `${name}-probe`,
    {
      ...probes,
      reinvocationPolicy: 'Never',
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: seen } }],
    },
    [],
  );
  const validations = [{ expression: '!("seen" in object.metadata.labels)', message: name }];
  await add('Validating', `${name}-probe`, { ...probes, validations }, ['Deny']);
  const draft = { metadata: { generateName: 'ready-', labels: { ready: name } } };
  await t.eventually(
    () =>
      t.post(`/api/v1/namespaces/${namespace}/configmaps`, draft, { query: { dryRun: 'All' }, headers: sparedHeaders }),
    ({ status }) => status === 422,
    { what: `${name} being in effect` },
  );
}
