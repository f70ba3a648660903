import { messageOf } from '@kctl/telemetry';
import { decodeEnvelope, protobufType, unwrapMessage } from '../protobuf/envelope.js';
import type { JsonObject } from '../registry/json.js';
import { badRequest, unsupportedMediaType } from '../registry/status.js';
import { maxDepth, scanJson } from './strict-json.js';

/** A request body, read. */
export interface ParsedBody {
  readonly value: unknown;
  readonly text: string;
  /** `duplicate field "spec.size"`, in the order of the text. */
  readonly duplicates: readonly string[];
}

const decoder = new TextDecoder();
const textTypes = ['application/json', 'application/yaml'];
const bodyTypes = [...textTypes, protobufType];

/** The media type of a Content-Type header, without parameters; JSON where there is none. */
export function mediaTypeOf(contentType: string | undefined): string {
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  return type === '' ? 'application/json' : type;
}

/**
 * Reads a JSON, YAML or protobuf body. `expected` is the kind of a protobuf body that does not say it; where it is
 * absent, protobuf is not taken.
 *
 * @throws StatusError 415 for other types, 400 for protobuf of another kind; JsonSyntaxError, ProtobufError where the
 * bytes are not what the type says
 */
export async function parseBody(
  bytes: Uint8Array,
  contentType: string | undefined,
  expected: ProtobufBody | undefined,
): Promise<ParsedBody> {
  switch (mediaTypeOf(contentType)) {
    case 'application/json':
      return parseJsonBody(decoder.decode(bytes));
    case 'application/yaml':
      return parseYamlBody(decoder.decode(bytes));
    case protobufType:
      if (expected === undefined) throw unsupportedMediaType(textTypes);
      return { value: parseProtobufBody(bytes, expected), text: '', duplicates: [] };
    default:
      throw unsupportedMediaType(bodyTypes);
  }
}

/** What a protobuf body is where it does not say it, and how its failures are put. */
export interface ProtobufBody {
  readonly apiVersion: string;
  readonly kind: string;
  /** The failure of a message whose kind is known. */
  readonly fail: (given: { readonly apiVersion: string; readonly kind: string }, why: string) => Error;
}

function parseProtobufBody(bytes: Uint8Array, expected: ProtobufBody): JsonObject {
  const envelope = unwrapMessage(bytes);
  const apiVersion = envelope.apiVersion || expected.apiVersion;
  const kind = envelope.kind || expected.kind;
  let object: JsonObject | undefined;
  try {
    object = decodeEnvelope({ ...envelope, apiVersion, kind });
  } catch (error) {
    throw expected.fail({ apiVersion, kind }, messageOf(error));
  }
  if (object !== undefined) return object;
  const scheme = 'pkg/runtime/scheme.go:111';
  throw expected.fail(
    { apiVersion, kind },
    `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme ${JSON.stringify(scheme)}`,
  );
}

/** Reads a JSON body. @throws JsonSyntaxError */
export function parseJsonBody(text: string): ParsedBody {
  const { value, duplicates } = scanJson(text);
  return { value, text, duplicates: duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`) };
}

/** Reads YAML by way of JSON, as the API server does. The library is loaded with the first YAML body: few need it. */
export async function parseYamlBody(text: string): Promise<ParsedBody> {
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text, { intAsBigInt: true, uniqueKeys: false, merge: false, schema: 'yaml-1.1' });
  const [error] = document.errors;
  if (error !== undefined) throw invalidYaml(error.message);
  return { value: plain(read(() => document.toJS({ maxAliasCount: 100 }))), text, duplicates: [] };
}

/** Reads the values out of a document; anchors that contain themselves and alias bombs are the client's mistakes. */
function read(values: () => unknown): unknown {
  try {
    return values();
  } catch (error) {
    if (error instanceof ReferenceError) throw invalidYaml('document contains excessive aliasing');
    if (error instanceof RangeError) throw invalidYaml('exceeded max depth');
    throw invalidYaml(messageOf(error));
  }
}

function invalidYaml(problem: string): Error {
  return badRequest(`error converting YAML to JSON: yaml: ${problem}`);
}

/** Renders an answer as YAML. */
export async function toYaml(json: string): Promise<string> {
  const { stringify } = await import('yaml');
  const { value } = scanJson(json);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return stringify(value);
  // Members in alphabetical order, as upstream's YAML has them.
  return stringify(value, { sortMapEntries: true });
}

/** Integers that a double holds become numbers; dates become the text they were. @throws StatusError for a cycle */
function plain(value: unknown, depth = 0): unknown {
  if (depth > maxDepth) throw invalidYaml('exceeded max depth');
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member, depth + 1)]));
}
