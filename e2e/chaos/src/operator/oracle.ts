import {
  controllerOf,
  findCondition,
  formatKey,
  hasFinalizer,
  isDeleting,
  type DeepReadonly,
} from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { Service } from '@kctl/apimachinery/kinds/core/v1';
import type { Reader } from '@kctl/client';
import { Application, type ApplicationSpec } from '@kctl/example-application-operator/application.js';
import { cleanupFinalizer } from '@kctl/example-application-operator/reconciler.js';

/** Something that is not as it should be. */
export interface Finding {
  /** `namespace/name` of the object concerned. */
  readonly key: string;
  readonly message: string;
}

/** What shall be so. */
export interface Expectation {
  readonly namespaces: readonly string[];
  readonly wanted: ReadonlyMap<string, Required<ApplicationSpec>>;
  readonly directory: ReadonlyMap<string, string>;
}

type App = DeepReadonly<Application>;
type Child = DeepReadonly<Deployment> | DeepReadonly<Service>;

/** Compares the cluster with what its users want. Nothing found: all is as it should be. */
export async function inspect(reader: Reader, { namespaces, wanted, directory }: Expectation): Promise<Finding[]> {
  const findings: Finding[] = [];
  const applications: App[] = [];
  const deployments: DeepReadonly<Deployment>[] = [];
  const services: DeepReadonly<Service>[] = [];
  for (const namespace of namespaces) {
    applications.push(...(await reader.list(Application, { namespace })).items);
    deployments.push(...(await reader.list(Deployment, { namespace })).items);
    services.push(...(await reader.list(Service, { namespace })).items);
  }
  const present = new Map(applications.map((application) => [keyFor(application), application]));
  const living = new Set(applications.map(({ metadata }) => metadata.uid));
  for (const key of wanted.keys()) if (!present.has(key)) findings.push({ key, message: 'the Application is missing' });
  for (const [key, application] of present) {
    const spec = wanted.get(key);
    if (isDeleting(application)) {
      const finalizers = application.metadata.finalizers?.join(', ') ?? 'none';
      findings.push({ key, message: `the Application is stuck in deletion (finalizers: ${finalizers})` });
    } else if (spec === undefined) findings.push({ key, message: 'the Application is there though it was deleted' });
    else {
      const owned = (child: Child): boolean => controllerOf(child)?.uid === application.metadata.uid;
      const problems = checkApplication(application, spec, {
        deployments: deployments.filter(owned),
        services: services.filter(owned),
        entry: directory.get(key),
      });
      findings.push(...problems.map((message) => ({ key, message })));
    }
  }
  for (const [kind, children] of [
    ['Deployment', deployments],
    ['Service', services],
  ] as const)
    for (const child of children) {
      const owner = controllerOf(child);
      if (owner === undefined || !living.has(owner.uid))
        findings.push({
          key: keyFor(child),
          message: `the ${kind} is an orphan: its owner ${owner?.uid ?? ''} is gone`,
        });
      else if (isDeleting(child)) findings.push({ key: keyFor(child), message: `the ${kind} is stuck in deletion` });
    }
  for (const key of directory.keys())
    if (!wanted.has(key)) findings.push({ key, message: 'its entry in the directory was never removed' });
  return findings;
}

interface Belongings {
  readonly deployments: readonly DeepReadonly<Deployment>[];
  readonly services: readonly DeepReadonly<Service>[];
  readonly entry: string | undefined;
}

function checkApplication(
  application: App,
  wanted: Required<ApplicationSpec>,
  { deployments, services, entry }: Belongings,
): string[] {
  const problems: string[] = [];
  const expect = (what: string, actual: unknown, expected: unknown): void => {
    const [found, right] = [JSON.stringify(actual), JSON.stringify(expected)];
    if (found !== right) problems.push(`${what} is ${found ?? 'unset'} instead of ${right ?? 'unset'}`);
  };
  const { spec, status, metadata } = application;
  const { image, replicas, port } = wanted;
  expect('spec', [spec.image, spec.replicas, spec.port], [image, replicas, port]);
  if (!hasFinalizer(application, cleanupFinalizer)) problems.push('the finalizer is missing');
  expect('the number of Deployments', deployments.length, 1);
  expect('the number of Services', services.length, 1);
  const [deployment] = deployments;
  const [service] = services;
  const labels = { name: metadata.name, by: 'application-operator' };
  const labelsOf = (child: Child | undefined): object => ({
    name: child?.metadata.labels?.['app.kubernetes.io/name'],
    by: child?.metadata.labels?.['app.kubernetes.io/managed-by'],
  });
  if (deployment !== undefined) {
    const containers = deployment.spec?.template.spec?.containers ?? [];
    expect(
      'the containers',
      containers.map((each) => [each.image, each.ports?.map((one) => one.containerPort)]),
      [[image, [port]]],
    );
    expect('replicas', deployment.spec?.replicas, replicas);
    expect("the Deployment's labels", labelsOf(deployment), labels);
  }
  if (service !== undefined) {
    expect(
      'the ports',
      service.spec?.ports?.map((each) => [each.port, each.targetPort]),
      [[80, port]],
    );
    expect('the selector', service.spec?.selector?.['app.kubernetes.io/name'], metadata.name);
    expect("the Service's labels", labelsOf(service), labels);
  }
  const ready = deployment?.status?.readyReplicas ?? 0;
  const address = `http://${metadata.name ?? ''}.${metadata.namespace ?? ''}.svc`;
  expect('status.observedGeneration', status?.observedGeneration, metadata.generation);
  expect('status.readyReplicas', status?.readyReplicas, ready);
  expect('status.address', status?.address, address);
  const condition = findCondition(status?.conditions ?? [], 'Available');
  expect('condition Available', condition?.status, ready >= replicas ? 'True' : 'False');
  expect('its observedGeneration', condition?.observedGeneration, metadata.generation);
  expect('the number of conditions', status?.conditions?.length, 1);
  expect('its entry in the directory', entry, address);
  return problems;
}

function keyFor({ metadata }: { readonly metadata: { readonly namespace?: string; readonly name?: string } }): string {
  return formatKey({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' });
}
