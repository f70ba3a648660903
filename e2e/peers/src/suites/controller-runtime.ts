/** controller-runtime's own suites, each on a control plane that its envtest starts. */
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareAssets } from '../assets.js';
import { run } from '../command.js';
import { goModule } from '../go-module.js';
import type { Group, SuiteResult, TargetName } from '../result.js';

const version = 'v0.25.2';

/** The packages that have specs and no need of anything else. */
const packages = [
  ...['client', 'cache', 'manager', 'builder', 'controller', 'controller/controllerutil', 'envtest', 'webhook'],
  ...['internal/controller', 'internal/recorder', 'source', 'handler', 'cluster', 'reconcile', 'metrics/filters'],
  'manager/internal/integration',
];

const limitMs = 900_000;

interface SpecReport {
  readonly ContainerHierarchyTexts: readonly string[] | null;
  readonly LeafNodeText: string;
  readonly LeafNodeType: string;
  readonly State: string;
  readonly Failure?: { readonly Message?: string; readonly ForwardedPanic?: string };
}

function nameOf({ ContainerHierarchyTexts, LeafNodeText, LeafNodeType }: SpecReport): string {
  return [...(ContainerHierarchyTexts ?? []), LeafNodeText || LeafNodeType].join(' ');
}

function causeOf({ State, Failure }: SpecReport): string {
  const text = (Failure?.ForwardedPanic || Failure?.Message || State).trim();
  return text.replaceAll(/\s+/g, ' ').slice(0, 300);
}

/** What a report says; a suite that could not begin counts as one failure. */
function readGroup(name: string, report: string, seconds: number): Group {
  const suites = JSON.parse(report) as readonly { readonly SpecReports: readonly SpecReport[] | null }[];
  const reports = suites.flatMap(({ SpecReports }) => SpecReports ?? []);
  const isSpec = ({ LeafNodeType }: SpecReport): boolean => LeafNodeType === 'It';
  const isGood = ({ State }: SpecReport): boolean => State === 'passed';
  const isLeftOut = ({ State }: SpecReport): boolean => State === 'skipped' || State === 'pending';
  const bad = reports.filter((each) => !isGood(each) && !isLeftOut(each));
  return {
    name,
    passed: reports.filter((each) => isSpec(each) && isGood(each)).length,
    failed: bad.map((each) => ({ name: nameOf(each), cause: causeOf(each) })),
    skipped: reports.filter((each) => isSpec(each) && isLeftOut(each)).length,
    seconds,
  };
}

export async function controllerRuntime(
  target: TargetName,
  { only, isBuilt }: { readonly only: readonly string[]; readonly isBuilt: boolean },
): Promise<SuiteResult> {
  const module = await goModule('sigs.k8s.io/controller-runtime', version);
  await using assets = await prepareAssets(target, isBuilt);
  const groups: Group[] = [];
  for (const pkg of packages.filter((name) => only.length === 0 || only.includes(name))) {
    const program = module.testProgram(pkg);
    const report = join(tmpdir(), `kctl-ginkgo-${process.pid}.json`);
    const started = performance.now();
    const { output } = await run(program, [`--ginkgo.json-report=${report}`], {
      cwd: join(module.source, 'pkg', pkg),
      env: {
        KUBEBUILDER_ASSETS: assets.directory,
        KUBEBUILDER_CONTROLPLANE_START_TIMEOUT: '120s',
      },
      timeoutMs: limitMs,
    });
    const seconds = Math.round((performance.now() - started) / 100) / 10;
    const text = await readFile(report, 'utf8').catch(() => undefined);
    await rm(report, { force: true });
    const cause = output.trim().split('\n').at(-1) ?? '';
    const group: Group =
      text === undefined
        ? { name: pkg, passed: 0, failed: [{ name: 'no report', cause }], skipped: 0, seconds }
        : readGroup(pkg, text, seconds);
    console.log(
      `${pkg}: ${group.passed} passed, ${group.failed.length} failed, ${group.skipped} skipped in ${seconds} s`,
    );
    for (const each of group.failed) console.log(`  FAIL ${each.name}\n       ${each.cause}`);
    groups.push(group);
  }
  return { suite: 'controller-runtime', target, version, groups };
}
