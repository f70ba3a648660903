import { requireOptionsObject } from '@kctl/client/internal';
import { certificateBundleProblem } from '@kctl/client/internal/connection';
import type {
  MutatingWebhook,
  MutatingWebhookConfiguration,
  RuleWithOperations,
  ValidatingWebhook,
  ValidatingWebhookConfiguration,
  WebhookClientConfig,
} from '@kctl/apimachinery/kinds/admissionregistration.k8s.io/v1';
import { type LabelSelector } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import type { OptionNames } from '@kctl/options';
import { requireOptions, shownValue } from '@kctl/options';
import { WebhookServerError } from '../errors.js';
import type { WebhookHandler } from '../handler/handler.js';
import {
  checkRegistration,
  isCoreKind,
  isInNamespaces,
  nameLabel,
  type AdmissionTarget,
} from '../handler/registration.js';

/**
 * The address of the webhook server for the API server, which is a Service, or a URL for an operator outside the
 * cluster.
 */
export type WebhookAddress =
  | {
      readonly service: {
        readonly name: string;
        readonly namespace: string;
        /** @default 443 */
        readonly port?: number;
      };
    }
  | { readonly url: string };

/** How the API server trusts the webhook server. */
export interface WebhookTrust {
  /** CA certificates as PEM. @default none, for an injector that writes it, or a server certificate of a public CA */
  readonly caBundle?: string;
  /** `<namespace>/<name>` of cert-manager's Certificate, whose CA it is to inject. */
  readonly injectCaFrom?: string;
}

/** Options of {@link webhookConfigurations}. */
export interface WebhookConfigurationsOptions extends WebhookTrust {
  /** Names the configurations: `<name>-mutating` and `<name>-validating`. */
  readonly name: string;
  readonly address: WebhookAddress;
  /** Namespace that the operator runs in; webhooks that fail closed leave it alone. @default that of the Service */
  readonly operatorNamespace?: string;
  /** Labels of the configurations. */
  readonly labels?: Readonly<Record<string, string>>;
}

const optionNames: OptionNames<WebhookConfigurationsOptions> = {
  name: true,
  address: true,
  operatorNamespace: true,
  labels: true,
  caBundle: true,
  injectCaFrom: true,
};

/** The webhooks of a server by their paths, as `WebhookServer.webhooks` has them. */
export type RegisteredWebhooks = Iterable<readonly [path: string, handler: WebhookHandler]>;

/** Result of {@link webhookConfigurations}, with only the configurations that have webhooks. */
export type WebhookConfiguration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration;

/**
 * Returns the Mutating- and ValidatingWebhookConfiguration that make the API server call the registered typed webhooks;
 * raw handlers do not state what they serve and are omitted. Pure, so apply the result with `applyWebhookManifests`,
 * print it with `printManifests`, or pass it to a client.
 *
 * @throws WebhookServerError for a registration that is not valid, or dangerous and not confirmed; for a name, an
 * address or a trust that the API server refuses or that has no effect
 *
 * @example
 * ```ts
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import { createWebhookServer, printManifests, validatingWebhook, webhookConfigurations } from '@kctl/webhook';
 *
 * const server = createWebhookServer();
 * server.register('/validate-settings', validatingWebhook(
 *   ConfigMap,
 *   { validateCreate: () => undefined },
 *   { registration: { objectSelector: { matchLabels: { app: 'settings' } } } },
 * ));
 * const configurations = webhookConfigurations(server.webhooks ?? [], {
 *   name: 'settings',
 *   address: { service: { name: 'settings-webhook', namespace: 'settings-system' } },
 * });
 * console.log(printManifests(configurations));
 * ```
 */
export function webhookConfigurations(
  webhooks: RegisteredWebhooks,
  options: WebhookConfigurationsOptions,
): readonly WebhookConfiguration[] {
  requireOptions('webhookConfigurations', options, optionNames);
  requireOptionsObject('webhookConfigurations: address', options.address, 'url or service');
  requireAddress(options.address);
  requireNames(options);
  requireTrust('webhookConfigurations', options);
  const service = 'service' in options.address ? options.address.service : undefined;
  const own = options.operatorNamespace ?? service?.namespace;
  const mutating: MutatingWebhook[] = [];
  const validating: ValidatingWebhook[] = [];
  const names = new Set<string>();
  for (const [path, { target }] of webhooks) {
    if (target === undefined) continue;
    checkRegistration(target, own);
    const webhook = webhookOf(target, { path, own, options });
    if (names.has(webhook.name))
      throw new WebhookServerError(
        `webhookConfigurations: two webhooks have the name ${webhook.name}: name one of them`,
      );
    names.add(webhook.name);
    const { reinvocationPolicy = 'Never' } = target.registration;
    if (target.type === 'mutating') mutating.push({ ...webhook, reinvocationPolicy });
    else validating.push(webhook);
  }
  const apiVersion = 'admissionregistration.k8s.io/v1' as const;
  return [
    ...(mutating.length === 0
      ? []
      : [
          {
            apiVersion,
            kind: 'MutatingWebhookConfiguration' as const,
            metadata: metadataOf('mutating', options),
            webhooks: mutating,
          },
        ]),
    ...(validating.length === 0
      ? []
      : [
          {
            apiVersion,
            kind: 'ValidatingWebhookConfiguration' as const,
            metadata: metadataOf('validating', options),
            webhooks: validating,
          },
        ]),
  ];
}

/** cert-manager's annotation that requests a CA. */
export const injectCaAnnotation = 'cert-manager.io/inject-ca-from';

function metadataOf(
  suffix: string,
  { name, labels, injectCaFrom }: WebhookConfigurationsOptions,
): WebhookConfiguration['metadata'] {
  return {
    name: `${name}-${suffix}`,
    ...(labels === undefined ? {} : { labels: { ...labels } }),
    ...(injectCaFrom === undefined ? {} : { annotations: { [injectCaAnnotation]: injectCaFrom } }),
  };
}

function webhookOf(
  target: AdmissionTarget,
  { path, own, options }: { path: string; own: string | undefined; options: WebhookConfigurationsOptions },
): ValidatingWebhook {
  const { kind, registration } = target;
  const {
    failurePolicy = 'Fail',
    matchPolicy = 'Equivalent',
    timeoutSeconds = 10,
    sideEffects = 'None',
  } = registration;
  const { objectSelector, matchConditions } = registration;
  const namespaceSelector = namespaceSelectorOf(target, own);
  return {
    name: registration.name ?? defaultName(target),
    clientConfig: clientConfig(options.address, path, options.caBundle),
    rules: [ruleOf(target)],
    failurePolicy,
    matchPolicy,
    sideEffects,
    timeoutSeconds,
    admissionReviewVersions: ['v1'],
    ...(namespaceSelector === undefined || !isInNamespaces(kind) ? {} : { namespaceSelector }),
    ...(objectSelector === undefined ? {} : { objectSelector }),
    ...(matchConditions === undefined ? {} : { matchConditions: [...matchConditions] }),
  };
}

/** As given; by default, everything but the operator's namespace if the webhook fails closed. */
function namespaceSelectorOf({ registration }: AdmissionTarget, own: string | undefined): LabelSelector | undefined {
  const { namespaceSelector, failurePolicy = 'Fail', confirm = [] } = registration;
  if (namespaceSelector !== undefined) return namespaceSelector;
  if (own === undefined || failurePolicy === 'Ignore' || confirm.includes('own-namespace')) return undefined;
  return { matchExpressions: [{ key: nameLabel, operator: 'NotIn', values: [own] }] };
}

function ruleOf({ kind, operations, registration: { subResources = [] } }: AdmissionTarget): RuleWithOperations {
  return {
    apiGroups: [kind.group],
    apiVersions: [kind.version],
    operations: [...operations],
    resources: [kind.plural, ...subResources.map((name) => `${kind.plural}/${name}`)],
    scope: kind.scope === 'Namespaced' ? 'Namespaced' : 'Cluster',
  };
}

/** As kubebuilder's; a group that is not a domain gets the ending of Kubernetes' own. */
function defaultName({ type, kind }: AdmissionTarget): string {
  const group =
    kind.group === ''
      ? 'core.k8s.io'
      : isCoreKind(kind) && !kind.group.includes('.')
        ? `${kind.group}.k8s.io`
        : kind.group;
  return `${type === 'mutating' ? 'm' : 'v'}${kind.kind.toLowerCase()}-${kind.version}.${group}`;
}

/** @throws WebhookServerError for an address that the API server refuses */
function requireAddress(address: WebhookAddress): void {
  const { url, service }: { readonly url?: unknown; readonly service?: unknown } = address;
  if ((url === undefined) === (service === undefined))
    throw new WebhookServerError('address is not valid: expected url or service, one of them');
  if (url !== undefined && !isWebhookUrl(url))
    throw new WebhookServerError(
      `address.url ${shownValue(url)} is not valid: expected https:// with a host, without a user, a query or a fragment`,
    );
  const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
  if (service !== undefined && !(isJsonObject(service) && isText(service['name']) && isText(service['namespace'])))
    throw new WebhookServerError('address.service is not valid: expected { name, namespace }');
}

/** As names of objects, that is, parts of small letters, digits and dashes, with dots between them. */
const objectName = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

/**
 * @throws WebhookServerError for names that no object has, because the API server refuses one, and a namespace would
 * not be exempt
 */
function requireNames({ name, operatorNamespace }: WebhookConfigurationsOptions): void {
  const given: Readonly<Record<string, unknown>> = {
    name,
    ...(operatorNamespace !== undefined && { operatorNamespace }),
  };
  for (const [option, value] of Object.entries(given))
    if (typeof value !== 'string' || value.length > 240 || !objectName.test(value))
      throw new WebhookServerError(
        `webhookConfigurations: ${option} ${shownValue(value)} is not valid: expected a name of small letters, digits, dashes and dots, at most 240`,
      );
}

/** @throws WebhookServerError for an empty trust, with which the API server could not call the webhooks */
export function requireTrust(what: string, { caBundle, injectCaFrom }: WebhookTrust): void {
  const [bundle, from]: readonly unknown[] = [caBundle, injectCaFrom];
  if (bundle !== undefined && (typeof bundle !== 'string' || bundle.trim() === ''))
    throw new WebhookServerError(`${what}: caBundle ${shownValue(bundle)} is not valid: expected certificates as PEM`);
  // API servers read one in part, as TLS does; without any marker it is a placeholder.
  const problem = typeof bundle === 'string' && bundle.includes('-----') ? certificateBundleProblem(bundle) : undefined;
  if (problem !== undefined) throw new WebhookServerError(`${what}: caBundle ${problem}`);
  if (from !== undefined && (typeof from !== 'string' || !/^[^/\s]+\/[^/\s]+$/.test(from)))
    throw new WebhookServerError(
      `${what}: injectCaFrom ${shownValue(from)} is not valid: expected namespace and name of a Certificate, as "operators/serving"`,
    );
}

/** As the API server validates a URL. */
function isWebhookUrl(text: unknown): boolean {
  if (typeof text !== 'string' || !URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return protocol === 'https:' && `${username}${password}${search}${hash}` === '';
}

/** The part of a configuration that states the address and the trusted CA. */
export function clientConfig(address: WebhookAddress, path: string, caBundle: string | undefined): WebhookClientConfig {
  requireAddress(address);
  const trust = caBundle === undefined ? {} : { caBundle: Buffer.from(caBundle).toString('base64') };
  const service = 'service' in address ? address.service : undefined;
  const url = 'url' in address ? address.url : '';
  if (service === undefined) return { url: `${url.replace(/\/$/, '')}${path}`, ...trust };
  const { name, namespace, port = 443 } = service;
  return { service: { name, namespace, port, path }, ...trust };
}
