// Calls of entrances whose object of options stands among other arguments, or whose errors come later, as a builder's do.
import { labelSelectorFrom } from '@kctl/apimachinery';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createApiServer } from '@kctl/apiserver';
import * as builder from '@kctl/builder';
import * as client from '@kctl/client';
import * as connections from '@kctl/client/internal/connection';
import * as http from '@kctl/client-http';
import * as controller from '@kctl/controller';
import * as events from '@kctl/events';
import * as informer from '@kctl/informer';
import { listerWatcherFromClientNode } from '@kctl/informer/client-node';
import { createInspection } from '@kctl/inspection';
import { createLeaseLock } from '@kctl/leader-election';
import * as manager from '@kctl/manager';
import * as testing from '@kctl/testing';
import { FakeClock } from '@kctl/wait/testing';
import * as webhook from '@kctl/webhook';
import { KubeConfig } from '@kubernetes/client-node';
import type { Call } from './calls-of-tools.js';
import { key, object, ownCache, real, shared } from './parts.js';

const nothing = (): void => undefined;
const kubeConfig = new KubeConfig();
kubeConfig.loadFromClusterAndUser({ name: 'here', server: 'https://127.0.0.1:1', skipTLSVerify: true }, { name: 'me' });
const reconciler = async (): Promise<undefined> => await Promise.resolve(undefined);
const host = (): manager.Manager =>
  manager.createManager({ cluster: manager.createCluster({ client: real, apiReader: real, cache: ownCache }) });

const server = createApiServer();

export const objectCalls: Readonly<Record<string, Call>> = {
  'apimachinery.labelSelectorFrom': (options) => labelSelectorFrom({ matchLabels: {}, ...(options as object) }),
  'controller.labelSelectorMatches': (options) =>
    controller.labelSelectorMatches({ matchLabels: {}, ...(options as object) }),
  'ControllerBuilder.for': (options) =>
    builder.controllerManagedBy(host()).for(ConfigMap, options).complete(reconciler),
  'ControllerBuilder.owns': (options) =>
    builder.controllerManagedBy(host()).for(ConfigMap).owns(ConfigMap, options).complete(reconciler),
  'ControllerBuilder.watches': (options) =>
    builder
      .controllerManagedBy(host())
      .for(ConfigMap)
      .watches(ConfigMap, controller.enqueueRequestForObject(), options)
      .complete(reconciler),
  'ControllerBuilder.watchesMetadata': (options) =>
    builder
      .controllerManagedBy(host())
      .for(ConfigMap)
      .watchesMetadata(ConfigMap, controller.enqueueRequestForObject(), options)
      .complete(reconciler),
  'ControllerBuilder.withOptions': (options) =>
    builder.controllerManagedBy(host()).for(ConfigMap).withOptions(options).complete(reconciler),
  'ControllerBuilder.needs': (options) =>
    builder.controllerManagedBy(host()).for(ConfigMap).needs(ConfigMap, ['get'], options).complete(reconciler),
  'ControllerBuilder.onlyNeeds': (options) =>
    builder.controllerManagedBy(host()).for(ConfigMap).onlyNeeds(ConfigMap, ['get'], options).complete(reconciler),
  'ControllerBuilder.reconcile': (options) =>
    builder.controllerManagedBy(host()).for(ConfigMap).reconcile(reconciler, options),
  'NamespacedSubResourceClient.update': (options) =>
    client
      .inNamespace(real, 'default')
      .subResource(ConfigMap, 'scale')
      .update(key, object as never, options),
  'SubResourceClient.update': (options) => real.subResource(ConfigMap, 'scale').update(key, object as never, options),
  'client.findConnection': (options) => Reflect.apply(Reflect.get(connections, 'findConnection'), undefined, [options]),
  'client.findContexts': (options) => Reflect.apply(Reflect.get(connections, 'findContexts'), undefined, [options]),
  'client.inClusterConnection': (options) =>
    Reflect.apply(Reflect.get(connections, 'inClusterConnection'), undefined, [options]),
  'client.requireConnection': (options) =>
    Reflect.apply(Reflect.get(connections, 'requireConnection'), undefined, [
      { server: 'https://a', user: { token: 't', ...(options as object) } },
    ]),
  'client.requireImpersonation': (options) =>
    Reflect.apply(Reflect.get(connections, 'requireImpersonation'), undefined, [
      'x',
      { userName: 'a', ...(options as object) },
    ]),
  'client-http.createTransport': (options) =>
    http.createTransport({ server: 'https://a', user: { token: 't', ...(options as object) } }),
  'createHttpClient.impersonate': (options) =>
    http.createHttpClient({
      connection: { server: 'https://a' },
      impersonate: { userName: 'a', ...(options as object) },
    }),
  'controller.handlerFuncs': (options) => controller.handlerFuncs(options),
  'EventRecorder.event': (options) =>
    events.createFakeRecorder().event(object, { type: 'Normal', reason: 'A', note: 'a', ...(options as object) }),
  'informer.filterEvents': (options) => informer.filterEvents(() => true, options),
  'SharedInformer.addEventHandler': (options) => shared.addEventHandler(options),
  'informer.listerWatcherFromClientNode': (options) => listerWatcherFromClientNode(kubeConfig, ConfigMap, options),
  'informer.listerWatcherFor': (options) => informer.listerWatcherFor(real, ConfigMap, options),
  'DeltaFifo.replace': (options) => informer.createDeltaFifo().replace([], '1', options),
  'RealFifo.replace': (options) => informer.createRealFifo().replace([], '1', options),
  'Inspection.keys': (options) => createInspection().keys(options),
  'Inspection.timeline': (options) => createInspection().timeline({ controller: 'a', ...(options as object) } as never),
  'ResourceLock.get': (options) => createLeaseLock({ client: real, ...key, identity: 'me' }).get(options),
  'manager.createCluster': (options) =>
    manager.createCluster({ client: real, apiReader: real, cache: ownCache, ...(options as object) }),
  'webhook.applyWebhookManifests': (options) =>
    webhook.applyWebhookManifests(real, [], { fieldOwner: 'a', ...(options as object) }),
  'webhook.validatingWebhook': (options) => webhook.validatingWebhook(ConfigMap, options),
  'webhook.validationRule': (options) =>
    webhook.validationRule(ConfigMap, { operations: ['CREATE'], ...(options as object) } as never, nothing),
  'testing.findBinaries': (options) => Reflect.apply(Reflect.get(testing, 'findBinaries'), undefined, [options]),
  'wait.FakeClock': (options) => new FakeClock(options),

  'Faults.add, match': (options) => server.faults.add({ action: { type: 'conflict' }, match: options }),
  'WebhookBuilder.withDefaulter': (options) =>
    builder.webhookManagedBy(host()).for(ConfigMap).withDefaulter(nothing, options).complete(),
  'WebhookBuilder.withValidator': (options) =>
    builder.webhookManagedBy(host()).for(ConfigMap).withValidator({}, options).complete(),
  'WebhookBuilder.validate': (options) =>
    builder
      .webhookManagedBy(host())
      .for(ConfigMap)
      .validate({ on: ['CREATE'], ...(options as object) } as never, nothing as never)
      .complete(),
  'WebhookBuilder.mutate': (options) =>
    builder
      .webhookManagedBy(host())
      .for(ConfigMap)
      .mutate({ on: ['CREATE'], ...(options as object) } as never, nothing as never)
      .complete(),
  'Faults.failover': (options) => server.faults.failover(options),
  'Faults.add': (options) => server.faults.add({ action: { type: 'conflict' }, ...(options as object) }),
  'PodScripts.script': (options) => server.pods.script(options, {}),
  'client-http.connection': (options) =>
    http.createHttpClient({ connection: { server: 'https://a', user: { token: 't', ...(options as object) } } }),
};
