// The API reference shows by an example what users meet most: the hundred exports that occur most often in examples, pages
// and READMEs (`node scripts/docs/most-used.mjs`). scripts/check-snippets.mjs compiles the examples.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

interface Export {
  readonly name: string;
  readonly package: string;
  readonly file: string;
}
const root = join(import.meta.dirname, '..', '..', '..');
const counted = execFileSync(process.execPath, ['scripts/docs/most-used.mjs', '--json'], {
  cwd: root,
  encoding: 'utf8',
});
const exported = JSON.parse(counted) as Export[];

const hundred: Readonly<Record<string, string>> = {
  '@kctl/apimachinery':
    'Condition DeepReadonly Kind KubeObject NamespacedKey canonicalQuantity controllerOf createJsonPatch createScheme defineKind formatKey isConditionTrue isConflict isNotFound isSameJson keyOf labelSelectorFrom metadataOnly mutableCopy parseKey setCondition setControllerReference stripped untyped',
  '@kctl/apiserver': 'createApiServer',
  '@kctl/builder': 'controllerManagedBy webhookManagedBy',
  '@kctl/cache': 'createCache',
  '@kctl/cache-index': 'createIndexer',
  '@kctl/cel': 'CelEvaluationError createCelEnvironment',
  '@kctl/client':
    'Client FrameReader ReadObject addFinalizer apply applyIfChanged createOrUpdate ignoreNotFound listAll mergeFrom removeFinalizer retryOnConflict waitFor',
  '@kctl/client-delegating': 'createOwnEvents',
  '@kctl/client-http': 'createHttpClient loadConnection',
  '@kctl/controller':
    'ReconcileFunction annotationChanged asReconciler channelSource createController createEventChannel createWebhookReceiver enqueueRequestForObject enqueueRequestForOwner enqueueRequestsFromMapFunc finalizing funcSource generationChanged inject kindSource pollingSource terminalError',
  '@kctl/informer': 'createDeltaController createDeltaFifo createSharedInformer listerWatcherFor',
  '@kctl/leader-election': 'Lease createLeaderElector createLeaseLock',
  '@kctl/manager': 'createAccessFilter createManager',
  '@kctl/runtime': 'RuntimeManager RuntimeManagerOptions createManager setupSignalHandler',
  '@kctl/telemetry': 'Logger createConsoleLogger noopLogger',
  '@kctl/testing': 'createEnvironment eventually',
  '@kctl/wait': 'Clock anySignal createBackoff poll sleep systemClock',
  '@kctl/wait/testing': 'FakeClock',
  '@kctl/webhook':
    'applyWebhookManifests certificateRules createWebhookServer invalidError invalidField spoke validatingWebhook webhookConfigurations',
  '@kctl/workqueue': 'createDelayingQueue createRateLimitingQueue exponentialRateLimiter',
};

const listed = Object.entries(hundred).flatMap(([from, names]) => names.split(' ').map((name) => ({ from, name })));

/** The TSDoc above the declaration of an export. */
function commentOf(name: string, from: string): string {
  const { file } = exported.find((each) => each.name === name && each.package === from) ?? { file: undefined };
  if (file === undefined) throw new Error(`${from} does not export ${name}`);
  const source = readFileSync(join(root, file), 'utf8');
  const declaration = new RegExp(`^export (?:async )?(?:const|function\\*?|class|interface|type) ${name}\\b`, 'm');
  const before = source.slice(0, declaration.exec(source)?.index);
  return before.slice(before.lastIndexOf('/**'));
}

describe('the API reference', () => {
  it('lists a hundred exports', () => {
    expect(new Set(listed.map(({ from, name }) => `${from} ${name}`)).size).toBe(100);
  });

  it.each(listed)('$name of $from has an example that imports it', ({ from, name }) => {
    const comment = commentOf(name, from);
    const example = /@example\n \* ```ts\n([\s\S]*?) \* ```/.exec(comment)?.[1] ?? '';
    expect(example).toMatch(new RegExp(`import (?:type )?\\{[^}]*\\b${name}\\b[^}]*\\} from '${from}'`));
  });

  it('has those that are used most now: an export that becomes popular gets an example', () => {
    const now = exported.slice(0, 60);
    const missing = now.filter((each) => !/@example/.test(commentOf(each.name, each.package)));
    expect(missing.map((each) => `${each.package} ${each.name}`)).toEqual([]);
  });
});
