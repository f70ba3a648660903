/** Requests that are nearly right, and bytes that are not. */
import type { Chooser } from './random.js';

const methods = ['GET', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'get', 'FOO'];
const paths = [
  '/api',
  '/apis',
  '/version',
  '/openapi/v3',
  '/openapi/v3/apis/apps/v1?hash=AB',
  '/openapi/v2',
  '/openid/v1/jwks',
  '/api/v1/namespaces',
  '/api/v1/namespaces/default',
  '/api/v1/namespaces/default/configmaps',
  '/api/v1/namespaces/default/configmaps/a',
  '/api/v1/namespaces/default/secrets/a',
  '/api/v1/namespaces/default/pods',
  '/api/v1/namespaces/default/pods/a/status',
  '/api/v1/namespaces/default/pods/a/eviction',
  '/api/v1/namespaces/default/pods/a/binding',
  '/api/v1/namespaces/default/pods/a/log',
  '/api/v1/namespaces/default/services/a',
  '/api/v1/namespaces/default/serviceaccounts/default/token',
  '/api/v1/nodes/a',
  '/apis/apps/v1/namespaces/default/deployments/a',
  '/apis/apps/v1/namespaces/default/deployments/a/scale',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
  '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
  '/apis/authentication.k8s.io/v1/tokenreviews',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles/a',
  '/apis/coordination.k8s.io/v1/namespaces/default/leases/a',
];
const queries = [
  'limit=1',
  'limit=-1',
  'limit=x',
  'continue=abc',
  'watch=true&timeoutSeconds=1',
  'watch=true&resourceVersion=1&timeoutSeconds=1',
  'resourceVersion=99999999999999999999',
  'resourceVersion=-1',
  'fieldSelector=metadata.name=a',
  'fieldSelector=====',
  'labelSelector=a in (b',
  'labelSelector=!!!',
  'dryRun=All',
  'dryRun=x',
  'fieldManager=f&force=true',
  'fieldValidation=Strict',
  'timeout=1s',
  'timeout=zz',
  'pretty=true',
  'propagationPolicy=Foreground',
];
const types = [
  'application/json',
  'application/yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'application/vnd.kubernetes.protobuf',
  'text/plain',
  '',
];
const accepts = [
  'application/json',
  'application/yaml',
  '*/*',
  'application/vnd.kubernetes.protobuf',
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'x/y',
];
const bodies = [
  '{"metadata":{"name":"a"},"data":{"a":"b"}}',
  '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","labels":{"a":"b"},"finalizers":["x/y"]}}',
  '{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1"}}}]}}',
  '{"metadata":{"name":"a"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}',
  '{"metadata":{"name":"a"},"spec":{"ports":[{"port":80,"targetPort":"http"}],"selector":{"a":"b"}}}',
  '{"metadata":{"name":"ws.fuzz.test"},"spec":{"group":"fuzz.test","scope":"Namespaced","names":{"plural":"ws","kind":"W"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","x-kubernetes-validations":[{"rule":"self == self"}]}}}}}]}}',
  '{"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}',
  '{"spec":{"token":"a.b.c"}}',
  '[{"op":"add","path":"/data/x","value":"y"},{"op":"remove","path":"/data/q"}]',
  '{"data":{"a":null,"b":"c"}}',
  'kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: a\ndata: {a: &x b, c: *x}\n',
  '{"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}],"metadata":{"name":"a"}}',
];
const values = [
  'null',
  '{}',
  '[]',
  '""',
  '-1',
  '1e999',
  '0.1',
  '18446744073709551616',
  'true',
  '"\\ud800"',
  '"\\u0000"',
];

/** A body with some of its parts replaced, removed or doubled. */
function mutated(random: Chooser, body: string): string {
  let text = body;
  for (let rounds = random.below(4); rounds > 0; rounds--) {
    const at = random.below(text.length + 1);
    const kind = random.below(6);
    if (kind === 0) text = text.slice(0, at) + String.fromCodePoint(random.below(0xd7ff)) + text.slice(at);
    else if (kind === 1) text = text.slice(0, at) + text.slice(at + 1 + random.below(8));
    else if (kind === 2) text = text.replace(/"[^"]*"(?!:)/, () => random.one(values));
    else if (kind === 3) text = text.replace(/\{[^{}]*\}/, () => random.one(values));
    else if (kind === 4) text = text.slice(0, at) + text.slice(random.below(text.length + 1)) + text.slice(at);
    else text = `${'[{"a":'.repeat(random.below(500))}${text}`;
  }
  return text;
}

/** A request line with headers and a body. */
export interface FuzzRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

export function fuzzRequest(random: Chooser): FuzzRequest {
  const path = random.chance(0.1) ? mutated(random, random.one(paths)) : random.one(paths);
  const query = random.chance(0.4)
    ? `?${random.one(queries)}${random.chance(0.2) ? `&${random.one(queries)}` : ''}`
    : '';
  const target = encodeURI(`${path}${query}`.toWellFormed());
  const hasBody = random.chance(0.7);
  const body = hasBody ? Buffer.from(mutated(random, random.one(bodies))) : undefined;
  if (body !== undefined && random.chance(0.1)) body[random.below(body.length)] = random.below(256);
  const headers: Record<string, string> = { accept: random.one(accepts) };
  if (hasBody) headers['content-type'] = random.one(types);
  if (random.chance(0.05)) headers['impersonate-user'] = random.one(['jane', 'system:anonymous', 'system:node:a']);
  if (random.chance(0.05)) headers['impersonate-group'] = 'g';
  if (random.chance(0.05)) headers['authorization'] = random.one(['Bearer x', 'Basic eDp5', 'Bearer a.b.c', 'Bearer ']);
  return { method: random.one(methods), target, headers, body };
}

/** Bytes for a socket: a request that is cut, doubled or broken, or no request at all. */
export function fuzzBytes(random: Chooser, token: string): Buffer {
  if (random.chance(0.2)) return Buffer.from(Array.from({ length: random.below(4000) }, () => random.below(256)));
  const { method, target, headers, body = Buffer.alloc(0) } = fuzzRequest(random);
  const length = random.chance(0.8) ? body.length : random.below(5000) - 100;
  const lines = Object.entries({
    host: 'x',
    authorization: `Bearer ${token}`,
    ...headers,
    'content-length': `${length}`,
  });
  if (random.chance(0.1)) lines.push(['transfer-encoding', 'chunked']);
  const head = `${method} ${target} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
  const bytes = Buffer.concat([Buffer.from(head), body]);
  return random.chance(0.2) ? bytes.subarray(0, random.below(bytes.length)) : bytes;
}
