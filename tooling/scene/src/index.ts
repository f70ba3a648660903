/**
 * Plays the scene of an example: starts an embedded API server (or uses the cluster of KUBECONFIG, after asking), runs
 * the example's program as a process of its own, and lets a short story happen in which it has something to do.
 */
import { isNotFound, type Kind } from '@kctl/apimachinery';
import type { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { CustomResourceDefinition as CustomResourceDefinitionKind } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { createEnvironment, eventually, type TestEnvironment } from '@kctl/testing';
import { startActor, type Actor } from './actor.js';
import { confirmCluster } from './confirm.js';
import { createNarrator, type Narrator } from './narrator.js';

export { createNarrator, type Narrator } from './narrator.js';
export type { Actor } from './actor.js';

/** What an example shows. */
export interface Scene {
  /** Name of the example's folder; also the prefix of the namespace that is created. */
  readonly name: string;
  /** Path or URL of the program that is started by {@link Stage.start}. */
  readonly program: URL;
  readonly crds?: readonly CustomResourceDefinition[];
  /** Environment variables that the program gets besides KUBECONFIG and POD_NAMESPACE. */
  readonly env?: Readonly<Record<string, string>>;
  /** What happens; returns when the story is told. */
  play(stage: Stage): Promise<void>;
}

/** Where a scene is played. */
export interface Stage extends Narrator {
  readonly environment: TestEnvironment;
  readonly client: TestEnvironment['client'];
  /** The scene's own namespace. */
  readonly namespace: string;
  /** Whether the server is a real cluster. */
  readonly isCluster: boolean;
  /** Starts the example's program once more; its lines appear with `name` before them. */
  start(options?: { readonly name?: string; readonly env?: Readonly<Record<string, string>> }): Actor;
  /** Repeats until nothing is thrown; fails with the last error after 30 s (120 s on a cluster). */
  until<T>(attempt: () => T | Promise<T>): Promise<T>;
  /** Waits until an object is gone. */
  gone(kind: Kind, read: () => Promise<unknown>): Promise<void>;
}

const flags = new Set(['--keep', '--cluster', '--yes']);

/**
 * Plays a scene as the main program of a process; sets the exit code. Arguments: `--keep` stays up afterwards and prints
 * how to point kubectl at the server; `--cluster` (or a KUBECONFIG) uses that cluster and asks first, `--yes` does not
 * ask.
 */
export async function playScene(scene: Scene): Promise<void> {
  const args = process.argv.slice(2).filter((argument) => argument !== '--');
  const unknown = args.find((argument) => !flags.has(argument));
  if (unknown !== undefined) {
    console.error(`unknown argument ${JSON.stringify(unknown)}: use ${[...flags].join(', ')}`);
    process.exitCode = 2;
    return;
  }
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  try {
    await play(scene, { args, signal: stop.signal });
  } catch (error) {
    if (!stop.signal.aborted) {
      console.error(`${scene.name}: ${error instanceof Error ? error.message : String(error)}`);
      process.exitCode = 1;
    }
  }
}

async function play(
  scene: Scene,
  { args, signal }: { readonly args: readonly string[]; readonly signal: AbortSignal },
): Promise<void> {
  const isCluster = args.includes('--cluster') || (process.env['KUBECONFIG'] ?? '') !== '';
  if (isCluster && !args.includes('--yes') && !(await confirmCluster(scene))) return;
  const narrator = createNarrator((text) => console.log(text));
  const { step, line } = narrator;
  step(isCluster ? 'A cluster' : 'An API server');
  await using environment = await createEnvironment({
    server: isCluster ? 'existing' : 'embedded',
    crds: [...(scene.crds ?? [])],
  });
  line(`${isCluster ? 'the cluster of KUBECONFIG' : 'embedded, in this process'}: ${environment.connection.server}`);
  for (const { metadata } of scene.crds ?? []) line(`CustomResourceDefinition ${metadata.name ?? ''} is established`);
  const namespace = await environment.createNamespace(scene.name);
  const actors: Actor[] = [];
  try {
    await scene.play({
      ...narrator,
      environment,
      client: environment.client,
      namespace,
      isCluster,
      start({ name = 'program', env = {} } = {}) {
        const actor = startActor(scene.program, {
          write: (text) => line(`  ${name} | ${text}`),
          env: { ...scene.env, POD_NAMESPACE: namespace, ...env, KUBECONFIG: environment.kubeconfigPath },
        });
        actors.push(actor);
        return actor;
      },
      until: (attempt) => eventually(async () => attempt(), { timeoutMs: isCluster ? 120_000 : 30_000, signal }),
      gone: async (kind, read) => {
        await eventually(
          async () => {
            if (await exists(read)) throw new Error(`${kind.kind} is still there`);
          },
          { timeoutMs: 120_000, signal },
        );
      },
    });
    if (args.includes('--keep')) await keep(narrator, environment, signal);
  } finally {
    step('The end');
    for (const actor of actors) await actor.stop();
    line('every process has stopped');
    if (isCluster) await leaveCluster(environment, scene, namespace);
  }
}

async function exists(read: () => Promise<unknown>): Promise<boolean> {
  try {
    await read();
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

async function keep({ step, line }: Narrator, environment: TestEnvironment, signal: AbortSignal): Promise<void> {
  step('It stays up (Ctrl-C ends it)');
  line(`export KUBECONFIG=${environment.kubeconfigPath}`);
  line('kubectl get all -A');
  if (!signal.aborted)
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

async function leaveCluster({ client }: TestEnvironment, scene: Scene, namespace: string): Promise<void> {
  const { Namespace } = await import('@kctl/apimachinery/kinds/core/v1');
  await client.delete(Namespace, { name: namespace });
  for (const { metadata } of scene.crds ?? [])
    await client.delete(CustomResourceDefinitionKind, { name: metadata.name ?? '' }).catch(() => undefined);
}
