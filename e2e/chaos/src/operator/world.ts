import { isAlreadyExists, isConflict, isDeleting, isNotFound, isStatusError, formatKey } from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { Service } from '@kctl/apimachinery/kinds/core/v1';
import { addFinalizer, ignoreNotFound, isObjectDeleting, removeFinalizer } from '@kctl/client';
import { isTransportError, type HttpClient } from '@kctl/client-http';
import { sleep } from '@kctl/wait';
import { Application, type ApplicationSpec } from '@kctl/example-application-operator/application.js';
import type { Dice } from '../dice.js';

/** Where an Application is. */
export interface Place {
  readonly namespace: string;
  readonly name: string;
}

/** The users of the cluster: they change what they want, and meddle with what is not theirs. */
export interface World {
  /** What Applications shall be there in the end, by `namespace/name`. */
  readonly wanted: ReadonlyMap<string, Required<ApplicationSpec>>;
  /** How many edits were made. */
  readonly edits: number;
  /** The last edits. */
  readonly history: readonly string[];
  create(place: Place): Promise<void>;
  /** One random edit. */
  edit(): Promise<void>;
  /** Removes what keeps objects from their end: users' own finalizers, and creations that wait for a deletion. */
  settle(timeoutMs: number): Promise<void>;
}

/** A finalizer that is none of the operator's business. */
const foreignFinalizer = 'chaos.kctl.dev/hold';

export interface WorldOptions {
  readonly client: HttpClient;
  readonly dice: Dice;
  readonly places: readonly Place[];
}

type Edit = (place: Place) => Promise<void>;

export function createWorld({ client, dice, places }: WorldOptions): World {
  const wanted = new Map<string, Required<ApplicationSpec>>();
  /** Creations that met the object's predecessor in deletion. */
  const waiting = new Map<string, Place>();
  const held = new Map<string, Place>();
  const history: string[] = [];
  let edits = 0;

  const drawSpec = (): Required<ApplicationSpec> => ({
    image: `registry.example/app:${dice.between(1, 1_000_000)}`,
    replicas: dice.between(0, 9),
    port: dice.between(1024, 65_535),
  });

  async function ensure(place: Place): Promise<void> {
    const key = formatKey(place);
    const spec = wanted.get(key);
    if (spec === undefined) return;
    waiting.delete(key);
    try {
      await insist(() => client.create(Application, { metadata: { ...place }, spec }));
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const present = await insist(() => ignoreNotFound(client.get(Application, place)));
      if (present === undefined || isDeleting(present)) waiting.set(key, place);
      else await patch(place, { spec });
    }
  }

  async function patch(place: Place, body: object): Promise<boolean> {
    const done = await insist(() => ignoreNotFound(client.patch(Application, place, { type: 'merge', body })));
    return done !== undefined;
  }

  const changeSpec: Edit = async (place) => {
    const key = formatKey(place);
    const before = wanted.get(key);
    if (before === undefined) return create(place);
    const drawn = drawSpec();
    const { image, replicas, port } = drawn;
    const spec = dice.pick([drawn, { ...before, image }, { ...before, replicas }, { ...before, port }]);
    wanted.set(key, spec);
    if (waiting.has(key)) return ensure(place);
    await patch(place, { spec });
  };

  const remove: Edit = async (place) => {
    const key = formatKey(place);
    wanted.delete(key);
    waiting.delete(key);
    const propagationPolicy = dice.weighted<'Background' | 'Foreground'>([
      [3, 'Background'],
      [1, 'Foreground'],
    ]);
    await insist(() => ignoreNotFound(client.delete(Application, place, { propagationPolicy })));
  };

  const recreate: Edit = async (place) => {
    await remove(place);
    await create(place);
  };

  const annotate: Edit = async (place) => {
    await patch(place, { metadata: { annotations: { 'chaos.kctl.dev/note': String(edits) } } });
  };

  const hold: Edit = async (place) => {
    const present = await insist(() => ignoreNotFound(client.get(Application, place)));
    if (present === undefined) return;
    held.set(formatKey(place), place);
    try {
      await insist(() => addFinalizer(client, Application, present, foreignFinalizer));
    } catch (error) {
      if (!isObjectDeleting(error) && !isNotFound(error)) throw error;
    }
  };

  const release = async (place: Place): Promise<void> => {
    const present = await insist(() => ignoreNotFound(client.get(Application, place)));
    if (present !== undefined) await insist(() => removeFinalizer(client, Application, present, foreignFinalizer));
    held.delete(formatKey(place));
  };

  const deleteChild: Edit = async (place) => {
    const propagationPolicy = dice.pick(['Background', 'Foreground'] as const);
    const kind = dice.pick([Deployment, Service]);
    await insist(() => ignoreNotFound(client.delete(kind, place, { propagationPolicy })));
  };

  const editDeployment: Edit = async (place) => {
    const image = `registry.example/tampered:${edits}`;
    const body = dice.pick<object>([
      { spec: { replicas: 77 } },
      { spec: { template: { spec: { containers: [{ name: 'application', image, ports: [{ containerPort: 1 }] }] } } } },
      { metadata: { labels: { 'app.kubernetes.io/managed-by': 'somebody-else' } } },
      { metadata: { labels: { 'app.kubernetes.io/managed-by': null } } },
    ]);
    await insist(() => ignoreNotFound(client.patch(Deployment, place, { type: 'merge', body })));
  };

  const editService: Edit = async (place) => {
    const body = dice.pick<object>([
      { spec: { ports: [{ name: 'http', port: 80, targetPort: 1, protocol: 'TCP' }] } },
      { spec: { selector: { tampered: 'yes' } } },
      { metadata: { labels: { 'app.kubernetes.io/name': 'tampered' } } },
    ]);
    await insist(() => ignoreNotFound(client.patch(Service, place, { type: 'merge', body })));
  };

  const makeReady: Edit = async (place) => {
    const readyReplicas = dice.between(0, 9);
    const body = { status: { replicas: 9, readyReplicas } };
    await insist(() => ignoreNotFound(client.status(Deployment).patch(place, { type: 'merge', body })));
  };

  const kinds: readonly (readonly [number, readonly [string, Edit]])[] = [
    [6, ['change the spec of', changeSpec]],
    [3, ['delete', remove]],
    [2, ['delete and recreate', recreate]],
    [2, ['annotate', annotate]],
    [1, ['hold', hold]],
    [3, ['delete a child of', deleteChild]],
    [2, ['edit the Deployment of', editDeployment]],
    [2, ['edit the Service of', editService]],
    [3, ['set readiness of', makeReady]],
  ];

  async function create(place: Place): Promise<void> {
    wanted.set(formatKey(place), drawSpec());
    await ensure(place);
  }

  return {
    wanted,
    get edits() {
      return edits;
    },
    history,
    create,
    edit: async () => {
      edits++;
      const [what, edit] = dice.weighted(kinds);
      const place = dice.pick(places);
      history.push(`edit ${edits}: ${what} ${formatKey(place)}`);
      await edit(place);
      if (dice.chance(0.2) && waiting.size > 0) await ensure(dice.pick([...waiting.values()]));
      if (dice.chance(0.2) && held.size > 0) await release(dice.pick([...held.values()]));
    },
    settle: async (timeoutMs) => {
      const deadline = performance.now() + timeoutMs;
      for (const place of held.values()) await release(place);
      while (waiting.size > 0 && performance.now() < deadline) {
        for (const place of waiting.values()) await ensure(place);
        await sleep(100);
      }
    },
  };
}

/** Repeats a call while the server is away: users come back, and what they did before counts. */
async function insist<T>(call: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const isAway =
        isTransportError(error) || isConflict(error) || (isStatusError(error) && (error.status.code ?? 0) >= 429);
      if (!isAway || isAlreadyExists(error) || performance.now() > deadline) throw error;
      await sleep(20);
    }
  }
}
