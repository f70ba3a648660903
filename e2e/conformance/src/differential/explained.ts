/** Differences that are known and accepted, each with the reason. The list may only shrink. */
import type { Json } from '../harness/doc.js';
import type { Divergence } from './compare.js';
import { PROTOBUF } from './protobuf.js';
import type { Finding } from './session.js';

export interface Explanation {
  readonly reason: string;
  covers(divergence: Divergence, request: string, finding: Finding): boolean;
}

/** JSON inside of a message, and what follows it. */
const VALUE = /\{.*\}/s;

const isText = (value: unknown): value is string => typeof value === 'string';

/** Messages that agree but for a JSON value inside of them. */
function differsInValue(real: unknown, embedded: unknown): boolean {
  return isText(real) && isText(embedded) && real.replace(VALUE, '<value>') === embedded.replace(VALUE, '<value>');
}

/** What is said about a quoted value. */
const afterValue = (text: string): string => text.slice(text.lastIndexOf('": ') + 1);

export const explanations: readonly Explanation[] = [
  {
    reason:
      'of a key of DeleteOptions that is there twice, the first value is checked before the other fields here, in their order there',
    covers: ({ path, real, embedded }, request) =>
      path === '/body/message' &&
      request.startsWith('DELETE ') &&
      [real, embedded].every((message) => isText(message) && message.includes('Go struct field DeleteOptions.')),
  },
  {
    reason:
      'the object of a bookmark of built-ins is an empty one of its Go type there, and has its metadata alone here',
    covers: ({ path, embedded }, request) =>
      request.includes('watch=1') && /^\/body\/object\/(spec|status)$/.test(path) && embedded === undefined,
  },
  {
    reason:
      'what is wrong with a text in YAML is worded by go-yaml there, which also does not read what follows a document in braces',
    covers: (_divergence, request, { divergences }) =>
      request.includes('(application/yaml)') &&
      divergences.some(({ path, embedded }) => path === '/body/message' && /(^|: )yaml: /.test(String(embedded))),
  },
  {
    reason:
      'a custom resource in protobuf makes a handler of the real server panic, which has no strict decoder for it, and its connection ends; without strict decoding it answers 400; here 415, as for any media type that is not read',
    covers: (_divergence, request, { divergences }) =>
      request.includes(PROTOBUF) &&
      divergences.some(
        ({ path, real, embedded }) => path === '/status' && (real === 0 || real === 400) && embedded === 415,
      ),
  },
  {
    reason: 'an empty list of containers, which is never valid, is shown to webhooks as null here, without an owner',
    covers: ({ path, real, embedded }) =>
      path.startsWith('/admission/reviews/') &&
      ((path.endsWith('/spec/containers') && Array.isArray(real) && real.length === 0 && embedded === null) ||
        (path.endsWith('/f:spec/f:containers') && embedded === undefined)),
  },
  {
    reason: 'the real server prints an invalid value of a built-in as the Go struct of its internal version',
    covers: ({ path, real, embedded }) =>
      path.includes('/causes/') && isText(real) && /\{"[A-Z]/.test(real) && differsInValue(real, embedded),
  },
  {
    reason: 'an object or patch that does not decode is printed as text: its fields come in another order there',
    covers: ({ path, real, embedded }) =>
      path.endsWith('/message') &&
      isText(real) &&
      isText(embedded) &&
      /^Invalid value: "(\{|map\[|<object>)/.test(real) &&
      afterValue(real) === afterValue(embedded),
  },
  {
    reason:
      'upstream trips over a deletion that drops the last finalizer of the collector: a dry run answers an empty object, a revision as precondition never matches',
    covers: (_divergence, request, { body, divergences }) =>
      request.startsWith('DELETE') &&
      (body as Json)?.propagationPolicy === 'Background' &&
      divergences.some(
        ({ path, real }) =>
          (isText(real) && real.includes('ResourceVersion in precondition: , ')) ||
          real?.selector === null ||
          (/^\/body\/metadata(\/name)?$/.test(path) && real === undefined) ||
          // The same in protobuf.
          (path === '/body/metadata/creationTimestamp' && real === null),
      ),
  },
  {
    reason:
      'what a webhook renames while a PUT or an apply creates it is stored under the name of the URL there, where its own name does not find it; here it is refused',
    covers: (_divergence, _request, { divergences }) =>
      divergences.some(({ path, real, embedded }) => path === '/status' && real === 201 && embedded === 400) &&
      divergences.some(
        ({ path, embedded }) =>
          path === '/body/message' &&
          isText(embedded) &&
          embedded.startsWith('the name of the object (zz) does not match'),
      ),
  },
  {
    reason:
      "a configuration that is applied is checked in the random order of Go's maps, up to the first unknown field there",
    covers: ({ path, real, embedded }) =>
      path === '/body/message' &&
      [real, embedded].every((text) => isText(text) && text.startsWith('failed to create typed patch object')) &&
      String(embedded).includes('field not declared in schema'),
  },
  {
    reason: 'unknown fields of a patched object are told in the order of its text, which differs',
    covers: ({ path }, request) => path.startsWith('/warnings/') && request.startsWith('PATCH'),
  },
  {
    reason:
      'with fieldValidation=Ignore the real server decodes with another library, whose errors are worded differently',
    covers: ({ path }, request, { divergences }) =>
      request.includes('fieldValidation=Ignore') &&
      (path === '/body/message' ||
        divergences.some(({ real }) => JSON.stringify(real)?.includes("couldn't get version/kind"))),
  },
  {
    reason:
      'the real server allocates addresses and node ports of a Service before it validates the rest, and fails there first',
    covers: ({ path }, request, { divergences }) =>
      path.startsWith('/body/details/causes') &&
      request.includes('/services') &&
      divergences.some(({ real }) => /nodePort|clusterIPs|failed to allocate/.test(JSON.stringify(real) ?? '')),
  },
];
