import { spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { defineKind } from '@kctl/apimachinery';
import type { OperatorGraph, OperatorResource } from '@kctl/operator';
import type { WebhookHandler } from '@kctl/webhook';
import { isManifest } from '../deploy/apply-objects.js';
import type { CliIo } from '../io.js';
import type { Project } from '../project.js';
import type { HookedOperator } from './webhook-tunnel.js';

const program = `
const { operator } = await import(process.env.KCTL_MAIN_URL);
const { resources, webhooks } = await operator.graph();
const kindOf = ({ group, version, kind, plural, scope }) => ({ group, version, kind, plural, scope });
const hooks = [...webhooks].map(([path, { type, target }]) =>
  [path, type, target === undefined ? undefined : { ...target, kind: kindOf(target.kind) }]);
process.send({ manifests: resources.map(({ manifest }) => manifest), hooks }, () => process.exit());
`;

/**
 * Loads an operator from its current files, in another process, since modules imported by this one stay as they were.
 * Undefined if it cannot be imported, such as in the middle of an edit; the operator reports the reason.
 */
export async function reloadOperator(
  { environment, signal }: CliIo,
  { main, folder }: Project,
  before: Pick<OperatorGraph, 'name' | 'namespace'>,
): Promise<HookedOperator | undefined> {
  const child = spawn(process.execPath, [...process.execArgv, '--input-type=module', '--eval', program], {
    cwd: folder,
    env: { ...environment, KCTL_MAIN_URL: pathToFileURL(main).href },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    signal,
    killSignal: 'SIGKILL',
  });
  const answer = await new Promise<unknown>((resolve) => {
    child.once('message', resolve);
    for (const event of ['error', 'disconnect']) child.once(event, () => resolve(undefined));
  });
  if (!isAnswer(answer)) return undefined;
  const resources = answer.manifests
    .filter((each) => isManifest(each))
    .map((manifest): OperatorResource => ({ kind: manifest.kind, manifest }));
  return {
    ...before,
    resources,
    webhooks: answer.hooks.map(([path, type, target]) => [path, described(type, target)]),
  };
}

interface Answer {
  readonly manifests: readonly unknown[];
  readonly hooks: readonly (readonly [path: string, type: WebhookHandler['type'], target: WebhookHandler['target']])[];
}

/** The program above sends nothing else. */
function isAnswer(value: unknown): value is Answer {
  if (typeof value !== 'object' || value === null) return false;
  return ['manifests', 'hooks'].every((field) => Array.isArray(Reflect.get(value, field)));
}

/** A handler as far as configurations follow from it; requests reach the one in the other process. */
function described(type: WebhookHandler['type'], target: WebhookHandler['target']): WebhookHandler {
  const elsewhere = (): never => {
    throw new TypeError('unreachable: the webhook runs in another process');
  };
  return {
    maxBodyBytes: 0,
    ...(type === undefined || type === null ? {} : { type }),
    ...(target === undefined || target === null ? {} : { target: { ...target, kind: defineKind()(target.kind) } }),
    handle: elsewhere,
    reject: elsewhere,
  };
}
