// The packages for development and tests refuse a name of an option that they do not have. Each entrance of theirs is called
// with its own arguments: what takes a misspelled name for none writes files, starts servers or runs for minutes.
import { createApiServer, startApiServerWorker } from '@kctl/apiserver';
import { defineResource, generateKinds } from '@kctl/crd';
import { defineOperator } from '@kctl/operator';
import { simulate } from '@kctl/simulation';
import * as testing from '@kctl/testing';
import { describe, expect, it } from 'vitest';
import { entrancesOf, type Entrance } from './entrances.js';
import { real } from './parts.js';

type Call = (options: never) => unknown;
const calls: Readonly<Record<string, Call>> = {
  generateKinds: (options) => generateKinds([], options),
  defineResource,
  defineOperator,
  simulate,
  createEnvironment: testing.createEnvironment,
  objectDifferences: (options) => testing.objectDifferences({}, {}, options),
  equalObject: (options) => testing.equalObject({}, options),
  eventually: (options) => testing.eventually(() => true, options),
  installCrds: (options) => testing.installCrds(real, [], options),
  createOperatorAccess: (options) => testing.createOperatorAccess({} as never, options),
  uninstallCrds: (options) => testing.uninstallCrds(real, [], options),
  startRealApiServer: testing.startRealApiServer,
  startApiServerWorker,
  createApiServer,
};

/** That have no package of checks below them yet, or are called for each object; and commands, whose arguments are parsed. */
const unchecked = new Set([
  ...['checkRules', 'createCelEnvironment', 'createRuleValidator', 'cel', 'writeYaml', 'diffCrd', 'coalesce', 'doctor'],
  ...['addToProject', 'createProject', 'updateProject', 'runOperator'],
]);
/** Methods of what only a running server or environment has; and what hands its options to an entrance above. */
const others = new Set([
  ...['TestEnvironment.addUser', 'TestEnvironment.installWebhooks', 'LocalWebhooks.install', 'Operator.createManager'],
  ...['FakeControllerSource.add', 'FakeControllerSource.modify', 'FakeControllerSource.delete'],
  ...['FakeControllerSource.list', 'FakeControllerSource.watch'],
  ...[
    'ApiServer.kubeconfig',
    'ApiServer.writeKubeconfig',
    'ApiServerWorker.kubeconfig',
    'ApiServerWorker.writeKubeconfig',
  ],
]);

const modules: Readonly<Record<string, object>> = {
  apiserver: await import('@kctl/apiserver'),
  cel: await import('@kctl/cel'),
  cli: await import('@kctl/cli'),
  crd: await import('@kctl/crd'),
  create: await import('@kctl/create'),
  delivery: await import('@kctl/delivery'),
  operator: await import('@kctl/operator'),
  simulation: await import('@kctl/simulation'),
  testing,
  yaml: await import('@kctl/yaml'),
};
const nameOf = ({ of, name }: Entrance): string => (of === undefined ? name : `${of}.${name}`);
const exported = Object.entries(modules).flatMap(([name, module]) =>
  entrancesOf(name).filter(({ of, name: called }) => of === undefined && called in module),
);

async function refusal(call: Call): Promise<string> {
  try {
    await call({ zzzz: 1 } as never);
    return 'taken';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

describe('a misspelled option', () => {
  it('is tried with every exported function that takes options', () => {
    const known = new Set([...Object.keys(calls), ...others, ...unchecked]);
    expect(exported.map(nameOf).filter((name) => !known.has(name))).toEqual([]);
  });

  it.each(Object.entries(calls))('is refused by %s', async (_name, call) => {
    expect(await refusal(call)).toContain('unknown option "zzzz"');
  });
});
