import {
  cloneJson,
  ensureObject,
  isObject,
  objectsOf,
  setDefault,
  stringOf,
  type JsonObject,
} from '@kctl/crd/internal/engine';

/** The tag of an image reference, which is `latest` if neither tag nor digest is given, '' if only a digest is. */
function imageTag(image: string): string {
  if (image.includes('@')) {
    const name = image.slice(0, image.indexOf('@'));
    return /:([^/:]+)$/.exec(name)?.[1] ?? '';
  }
  return /:([^/:]+)$/.exec(image)?.[1] ?? 'latest';
}

function setText(target: JsonObject, name: string, value: unknown): void {
  if (stringOf(target[name]) === '') target[name] = value;
}

function container(value: JsonObject): void {
  setText(value, 'terminationMessagePath', '/dev/termination-log');
  setText(value, 'terminationMessagePolicy', 'File');
  setText(value, 'imagePullPolicy', imageTag(stringOf(value['image'])) === 'latest' ? 'Always' : 'IfNotPresent');
}

function podSpec(value: JsonObject): void {
  setText(value, 'restartPolicy', 'Always');
  setDefault(value, 'terminationGracePeriodSeconds', 30);
  setText(value, 'dnsPolicy', 'ClusterFirst');
  setDefault(value, 'securityContext', {});
  setText(value, 'schedulerName', 'default-scheduler');
  // serviceAccount is the old name of serviceAccountName, and the server shows both.
  const account = stringOf(value['serviceAccountName']) || stringOf(value['serviceAccount']);
  if (account !== '') {
    value['serviceAccountName'] = account;
    value['serviceAccount'] = account;
  }
}

function requestsFromLimits(value: JsonObject): void {
  const { resources } = value;
  if (!isObject(resources) || !isObject(resources['limits'])) return;
  const requests = ensureObject(resources, 'requests');
  for (const [name, limit] of Object.entries(resources['limits'])) setDefault(requests, name, limit);
}

function hostPorts(value: JsonObject): void {
  for (const port of objectsOf(value['ports'])) {
    if (port['hostPort'] === undefined || port['hostPort'] === 0) port['hostPort'] = port['containerPort'];
  }
}

/** The first of several addresses stands in a separate field, too. A writer of one gets both. */
function bothForms(status: JsonObject, one: string, many: string): void {
  const [first] = objectsOf(status[many]);
  const ip = stringOf(status[one]);
  if (first === undefined && ip !== '') status[many] = [{ ip }];
  else if (first !== undefined) status[one] = first['ip'];
}

function podStatus(status: JsonObject): void {
  bothForms(status, 'podIP', 'podIPs');
  bothForms(status, 'hostIP', 'hostIPs');
}

function pod(value: JsonObject): void {
  const { spec } = value;
  if (!isObject(spec)) return;
  const containers = [...objectsOf(spec['containers']), ...objectsOf(spec['initContainers'])];
  for (const each of containers) requestsFromLimits(each);
  setDefault(spec, 'enableServiceLinks', true);
  if (spec['hostNetwork'] === true) for (const each of containers) hostPorts(each);
}

const volumeSources = (value: JsonObject): string[] => Object.keys(value).filter((name) => name !== 'name');

function volume(value: JsonObject): void {
  if (volumeSources(value).length === 0) value['emptyDir'] = {};
  const { image } = value;
  if (isObject(image)) {
    setText(image, 'pullPolicy', imageTag(stringOf(image['reference'])) === 'latest' ? 'Always' : 'IfNotPresent');
  }
}

function mode(value: JsonObject): void {
  setDefault(value, 'defaultMode', 0o644);
}

function probe(value: JsonObject): void {
  for (const [name, given] of Object.entries({
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  })) {
    if (value[name] === undefined || value[name] === 0) value[name] = given;
  }
}

function httpGet(value: JsonObject): void {
  setText(value, 'path', '/');
  setText(value, 'scheme', 'HTTP');
}

function limitRangeItem(value: JsonObject): void {
  if (value['type'] !== 'Container') return;
  const defaults = ensureObject(value, 'default');
  const requests = ensureObject(value, 'defaultRequest');
  const fill = (target: JsonObject, source: unknown): void => {
    if (isObject(source)) for (const [name, quantity] of Object.entries(source)) setDefault(target, name, quantity);
  };
  fill(defaults, value['max']);
  fill(requests, defaults);
  fill(requests, value['min']);
  for (const name of ['default', 'defaultRequest']) {
    if (Object.keys(ensureObject(value, name)).length === 0) delete value[name];
  }
}

/** Defaults of pods and what is in them. */
export const podDefaults: readonly [string, (value: JsonObject) => void][] = [
  ['v1.Container', container],
  ['v1.EphemeralContainer', container],
  ['v1.PodSpec', podSpec],
  ['v1.Pod', pod],
  ['v1.PodStatus', podStatus],
  ['v1.Volume', volume],
  ['v1.SecretVolumeSource', mode],
  ['v1.ConfigMapVolumeSource', mode],
  ['v1.DownwardAPIVolumeSource', mode],
  ['v1.ProjectedVolumeSource', mode],
  ['v1.ServiceAccountTokenProjection', (value) => setDefault(value, 'expirationSeconds', 3600)],
  ['v1.HostPathVolumeSource', (value) => setDefault(value, 'type', '')],
  ['v1.ObjectFieldSelector', (value) => setText(value, 'apiVersion', 'v1')],
  ['v1.Probe', probe],
  ['v1.HTTPGetAction', httpGet],
  ['v1.LimitRangeItem', limitRangeItem],
];

/** The labels of a pod template, copied; undefined if it has no labels. */
export function templateLabels(spec: JsonObject): JsonObject | undefined {
  const { template } = spec;
  if (!isObject(template) || !isObject(template['metadata'])) return undefined;
  const { labels } = template['metadata'];
  return isObject(labels) ? cloneJson(labels) : undefined;
}
