// Calls of the entrances of packages for development and tests, each with its own arguments before the options.
import { createApiServer, startApiServerWorker } from '@kctl/apiserver';
import * as cel from '@kctl/cel';
import { doctor } from '@kctl/cli';
import { cel as celMarker, defineResource, diffCrd, generateKinds } from '@kctl/crd';
import { addToProject, createProject, updateProject } from '@kctl/create';
import { coalesce } from '@kctl/delivery';
import { defineOperator } from '@kctl/operator';
import { simulate } from '@kctl/simulation';
import * as testing from '@kctl/testing';
import { startRealApiServer } from '@kctl/testing';
import { writeYaml } from '@kctl/yaml';
import { real } from './parts.js';

export type Call = (options: never) => unknown;

const nothing = (): void => undefined;
const io = { cwd: '/nowhere', out: nothing, err: nothing, signal: new AbortController().signal };
const environment = cel.createCelEnvironment();
const program = environment.compile('true');
const schema: cel.StructuralSchema = {};
const ruled = cel.structuralSchema({ type: 'object', 'x-kubernetes-validations': [{ rule: 'true' }] });

export const calls: Readonly<Record<string, Call>> = {
  createCelEnvironment: cel.createCelEnvironment,
  checkRules: (options) => cel.checkRules(schema, 'a', options),
  createRuleValidator: (options) => cel.createRuleValidator(schema, options),
  'RuleValidator.validate': (options) => cel.createRuleValidator(ruled)?.validate({}, options),
  'CelEnvironment.compile': (options) => environment.compile('true', options),
  'CelProgram.evaluate': (options) => program.evaluate({}, options),
  cel: (options) => celMarker('true', options),
  diffCrd: (options) => diffCrd({}, {}, options),
  writeYaml: (options) => writeYaml({}, options),
  coalesce: (options) => coalesce([], 1, options),
  doctor: async (options) => await doctor(io as never, options),
  addToProject,
  createProject,
  updateProject,
  runOperator: async (options) => await testing.runOperator(options, nothing),
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
  startRealApiServer,
  startApiServerWorker,
  createApiServer,
};

/** Methods of what only a running server or environment has; and what hands its options to an entrance above. */
export const others = new Set([
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
