import { goQuoted } from '@kctl/crd/internal/engine';
import { isBadRequest } from '@kctl/apimachinery';
import { messageOf } from '@kctl/telemetry/internal';
import type { JsonObject } from '@kctl/crd/internal/engine';
import { decodeEnvelope, protobufType, unwrapMessage } from '../protobuf/envelope.js';
import { unsupportedMediaType } from '../protocol/status.js';
import type { Offload } from '../offload/offload.js';
import { JsonSyntaxError, scanJson, TooDeepError, type NumberLiteral } from '../json/strict-json.js';
import { duplicateKeys, readYaml, toYaml, YamlProblem } from '../json/yaml.js';

/** A request body, read. */
export interface ParsedBody {
  readonly value: unknown;
  readonly text: string;
  /** `duplicate field "spec.size"`, in the order of the body. */
  readonly duplicates: readonly string[];
  /** Numbers of a JSON body that are not written as integers; empty for other bodies. @default [] */
  readonly literals?: readonly NumberLiteral[];
  /** Members of a document in JSON that a later one of the same key replaces, each as an object. @default [] */
  readonly overwritten?: readonly JsonObject[];
}

const decoder = new TextDecoder();
const textTypes = ['application/json', 'application/yaml'];
const bodyTypes = [...textTypes, protobufType];

/** The media type of a Content-Type header, without parameters; JSON if there is no header. */
export function mediaTypeOf(contentType: string | undefined): string {
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  return type === '' ? 'application/json' : type;
}

/**
 * Reads a JSON, YAML or protobuf body. `expected` is the kind of a protobuf body that does not name its kind; if it is
 * absent, protobuf is refused.
 *
 * @throws StatusError 415 for other types, 400 for protobuf of another kind; JsonSyntaxError, ProtobufError if the
 * bytes do not match the type
 */
export async function parseBody(
  bytes: Uint8Array,
  contentType: string | undefined,
  { expected, ...elsewhere }: { readonly expected: ProtobufBody | undefined } & OtherThread,
): Promise<ParsedBody> {
  switch (mediaTypeOf(contentType)) {
    case 'application/json':
      return parseJsonBody(decoder.decode(bytes), elsewhere.offload.depth);
    case 'application/yaml':
      return parseYamlBody(decoder.decode(bytes), elsewhere);
    case protobufType:
      if (expected === undefined) throw unsupportedMediaType(textTypes);
      return { value: parseProtobufBody(bytes, expected), text: '', duplicates: [] };
    default:
      throw unsupportedMediaType(bodyTypes);
  }
}

/** Kind of a protobuf body that does not name one, and the errors for its failures. */
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
    `no kind ${goQuoted(kind)} is registered for version ${goQuoted(apiVersion)} in scheme ${goQuoted(scheme)}`,
  );
}

/** Reads a JSON body. @throws JsonSyntaxError */
export function parseJsonBody(text: string, depth: number): ParsedBody {
  const { value, duplicates, literals, overwritten = [] } = scanJson(text, depth);
  return {
    value,
    text,
    literals,
    overwritten,
    duplicates: duplicates.map((path) => `duplicate field ${goQuoted(path)}`),
  };
}

/** YAML from this length on goes to another thread, since reading 1 KB takes about 1 ms. */
const inlineYamlLength = 8 * 1024;

/** Thread that reads and writes long strings, and its client. */
export interface OtherThread {
  readonly offload: Offload;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
}

/**
 * Reads YAML by way of JSON, as the API server does, and long YAML in another thread if there is one.
 *
 * @throws YamlProblem
 */
export async function parseYamlBody(text: string, elsewhere: OtherThread | undefined): Promise<ParsedBody> {
  if (elsewhere === undefined || text.length < inlineYamlLength) {
    const { value, duplicates } = await readYaml(text);
    return { value, text, duplicates: duplicateKeys(duplicates) };
  }
  const result = await elsewhere.offload.run({ type: 'yaml', text }, elsewhere.signal);
  if ('problem' in result) throw new YamlProblem(result.problem);
  return { value: scanJson(result.json).value, text, duplicates: result.duplicates };
}

/** Whether reading failed because of the body, not because of a lack of time, room, stack or client. */
export function isUnreadable(error: unknown): boolean {
  if (error instanceof TooDeepError) return false;
  return error instanceof JsonSyntaxError || error instanceof YamlProblem || isBadRequest(error);
}

/** Problem of a YAML body that is converted to JSON first. */
export function problemOfYaml(error: unknown): string {
  return error instanceof YamlProblem ? `error converting YAML to JSON: ${error.message}` : messageOf(error);
}

/** Renders an answer as YAML, a long one in another thread if there is one. */
export async function renderYaml(json: string, elsewhere: OtherThread | undefined): Promise<string> {
  if (elsewhere === undefined || json.length < inlineYamlLength) return toYaml(json);
  return elsewhere.offload.run({ type: 'toYaml', json }, elsewhere.signal);
}
