/** The same seeded random calls on a real and on the embedded server; their answers must be the same. */
import { createContext, type Run } from '../harness/context.js';
import { connect, type Connection } from '../harness/http.js';
import type { Target } from '../harness/target.js';
import { steadyConnection } from '../harness/hook.js';
import { createWidgetCrd } from '../harness/widgets.js';
import { explanations } from './explained.js';
import { randomKinds } from './kinds.js';
import { createRandom } from './random.js';
import { sparedHeaders, startPoliced, typesAreKnown } from './policies/policed.js';
import { runSession, together, type Finding, type Pair, type SessionExtension } from './session.js';
import { createRuled } from './ruled.js';
import { createRoles, randomUser } from './users.js';
import { createGadgets } from './webhooks/gadgets.js';
import { startHooked } from './webhooks/hooked.js';

export interface DifferentialOptions {
  readonly calls: number;
  readonly seed: number;
  /** Sequences at once, each in its own namespace. */
  readonly sessions: number;
  /** Plays one of the sequences alone: to look into a difference. @default all */
  readonly session?: number;
  /** Whether writes pass random webhooks, and a custom resource is converted by one. @default false */
  readonly webhooks?: boolean;
  /** Whether some calls are made as other users, and about a custom resource with rules. @default false */
  readonly users?: boolean;
  /** Whether some calls about built-in kinds are sent and answered in protobuf. @default false */
  readonly protobuf?: boolean;
  /** Whether writes pass random admission policies. @default false */
  readonly policies?: boolean;
  /** Whether some calls have random options, most of them bad. @default false */
  readonly oddOptions?: boolean;
  readonly log: (line: string) => void;
}

export interface DifferentialResult {
  readonly calls: number;
  readonly unexplained: number;
  readonly explained: number;
  /** How many differences each explanation covers. */
  readonly byReason: Readonly<Record<string, number>>;
  /** How many calls there were of each kind and each part of the mix. */
  readonly counts: Readonly<Record<string, number>>;
}

const SHOWN = 6;

export async function runDifferential(
  targets: Pair<Target>,
  options: DifferentialOptions,
): Promise<DifferentialResult> {
  const { log } = options;
  // The group's name is part of messages: it must be the same on both sides.
  const id = 'diff';
  const runs = targets.map(
    (target): Run => ({ target, id, count: 0, connection: connect(target.url, target.caPem, target.credentials) }),
  ) as unknown as Pair<Run>;
  const [widgets] = await Promise.all(runs.map((run) => createWidgetCrd(createContext(run).context, id)));
  if (widgets === undefined) throw new Error('no custom resource');
  const contexts = runs.map((run) => createContext(run));
  const [ruled] = options.users ? await Promise.all(contexts.map(({ context }) => createRuled(context))) : [];
  if (options.users) await Promise.all(contexts.map(({ context }) => createRoles(context)));
  const gadgets = options.webhooks ? await Promise.all(contexts.map(({ context }) => createGadgets(context))) : [];
  const connections = runs.map(({ connection, target }) =>
    options.webhooks && target.name === 'real' ? steadyConnection(connection) : connection,
  ) as unknown as Pair<Connection>;

  const kinds = [...randomKinds(widgets), ...(ruled === undefined ? [] : [ruled]), ...(gadgets[0] ?? [])];
  if (options.policies)
    await typesAreKnown(
      runs,
      kinds.flatMap(([, kind]) => (kind.isCustom ? [kind] : [])),
    );

  const groups = new Map<string, Finding[]>();
  const explainedBy = new Map<string, number>();
  const onFinding = (finding: Finding): void => {
    const left = finding.divergences.filter((divergence) => {
      const explanation = explanations.find((candidate) => candidate.covers(divergence, finding.request, finding));
      if (explanation !== undefined)
        explainedBy.set(explanation.reason, (explainedBy.get(explanation.reason) ?? 0) + 1);
      return explanation === undefined;
    });
    if (left.length === 0) return;
    const signature = signatureOf(finding, left[0]?.path ?? '', left[0]?.real, left[0]?.embedded);
    const group = groups.get(signature) ?? [];
    groups.set(signature, group);
    group.push({ ...finding, divergences: left });
    // The first of each group, when it is found.
    if (group.length === 1) for (const line of described(signature, { ...finding, divergences: left })) log(line);
  };

  const counts = new Map<string, number>();
  const count = (what: string, times = 1): void => void counts.set(what, (counts.get(what) ?? 0) + times);
  let taken = 0;
  const takeCall = () => (taken < options.calls ? taken++ : undefined);
  await Promise.all(
    Array.from({ length: options.sessions }, async (_unused, index) => {
      if (options.session !== undefined && options.session !== index) return;
      const namespace = `diff-${index}`;
      for (const connection of connections) {
        const made = await connection.send('POST', '/api/v1/namespaces', { body: { metadata: { name: namespace } } });
        if (made.status !== 201) throw new Error(`namespace ${namespace}: ${made.status} ${made.text}`);
      }
      const hooked = options.webhooks
        ? await startHooked(runs, namespace, createRandom(options.seed * 1000 + 500 + index))
        : undefined;
      const policed = options.policies
        ? startPoliced(runs, namespace, createRandom(options.seed * 1000 + 800 + index))
        : undefined;
      const extensions: SessionExtension[] = [policed, hooked].filter((each) => each !== undefined);
      try {
        await runSession({
          connections,
          namespace,
          kinds,
          random: createRandom(options.seed * 1000 + index),
          takeCall,
          onFinding,
          count,
          ...(options.users && { randomUser }),
          ...(options.protobuf !== undefined && { protobuf: options.protobuf }),
          ...(options.oddOptions !== undefined && { oddOptions: options.oddOptions }),
          ...(extensions.length > 0 && { extension: together(extensions) }),
          ...(policed !== undefined && { ownHeaders: sparedHeaders }),
        });
      } finally {
        await hooked?.stop();
        await policed?.stop();
      }
    }),
  );
  await Promise.all(contexts.map(({ cleanUp }) => cleanUp()));
  for (const connection of connections) await connection.close();

  const sorted = [...groups.entries()].toSorted(([, a], [, b]) => b.length - a.length);
  if (sorted.length > 0) log('');
  for (const [signature, findings] of sorted) log(`${findings.length} × ${signature}`);
  for (const [reason, count] of explainedBy) log(`explained ${count}: ${reason}`);
  const unexplained = sorted.reduce((sum, [, findings]) => sum + findings.length, 0);
  const explained = [...explainedBy.values()].reduce((sum, count) => sum + count, 0);
  const byCount = Object.fromEntries([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  for (const [what, times] of Object.entries(byCount)) log(`counted ${times}: ${what}`);
  return { calls: taken, unexplained, explained, byReason: Object.fromEntries(explainedBy), counts: byCount };
}

/** A difference, with the calls that led there. */
function described(signature: string, finding: Finding): string[] {
  const important = (path: string): number => (path === '/status' || path === '/body/message' ? 0 : 1);
  const ordered = finding.divergences.toSorted((a, b) => important(a.path) - important(b.path));
  const body = finding.body === undefined ? '' : JSON.stringify(finding.body).slice(0, 700);
  return [
    `\n${signature}`,
    `  call ${finding.call}: ${finding.request} ${body}`,
    ...ordered
      .slice(0, SHOWN)
      .flatMap(({ path, real, embedded }) => [
        `    ${path}`,
        `      real:     ${JSON.stringify(real)?.slice(0, 500) ?? 'absent'}`,
        `      embedded: ${JSON.stringify(embedded)?.slice(0, 500) ?? 'absent'}`,
      ]),
    ...(finding.events ?? []).map((side, index) => `    ${index === 0 ? 'real' : 'embedded'}: ${side.join(', ')}`),
    ...finding.before.slice(-8).map((line) => `    before: ${line.slice(0, 900)}`),
  ];
}

/** What differences of one cause have in common. */
function signatureOf(finding: Finding, path: string, real: unknown, embedded: unknown): string {
  const [verb = '', url = ''] = finding.request.split(' ');
  const kind = /namespaces\/[^/]+\/(\w+)/.exec(url)?.[1] ?? url;
  const subresource = /namespaces\/[^/]+\/\w+\/[^/]+\/(\w+)/.exec(url)?.[1];
  const place = path.replaceAll(/\/\d+/g, '/*').replace(/(\/(data|map|labels|annotations))\/.*/, '$1/…');
  const values = path === '/status' ? ` ${String(real)}≠${String(embedded)}` : '';
  return `${verb} ${kind}${subresource === undefined ? '' : `/${subresource}`} ${place}${values}`;
}
