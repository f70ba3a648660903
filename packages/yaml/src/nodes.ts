import {
  EVENT_ID,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
  YAMLException,
  type Event,
  type ScalarEvent,
} from 'js-yaml';
import { asLibyaml } from './as-libyaml.js';
import { YamlError } from './errors.js';

/** A node of a document, before its scalars have values. */
export type YamlNode = ScalarNode | CollectionNode | AliasNode;

/** A scalar as it is written. */
export interface ScalarNode {
  readonly kind: 'scalar';
  readonly line: number;
  /** `tag:yaml.org,2002:int`, `!own`, or `''`. */
  readonly tag: string;
  /** Whether the scalar resolves to a value by its characters. */
  readonly isPlain: boolean;
  readonly source: string;
}

/** A sequence, or a mapping whose items are keys and values in turn. */
export interface CollectionNode {
  readonly kind: 'sequence' | 'mapping';
  readonly line: number;
  readonly items: YamlNode[];
}

/** A reference to a node that has an anchor, which may be one that contains this node. */
export interface AliasNode {
  readonly kind: 'alias';
  readonly line: number;
  readonly name: string;
  readonly target: YamlNode;
}

/** Nesting of collections that go-yaml and the decoder of the API server accept. */
const maxDepth = 10_000;

/** The characters that YAML 1.1 does not allow. */
const controlCharacter =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/**
 * The first document of a string; undefined if there is none. As go-yaml, it ignores what follows the document.
 *
 * @param firstLine line of the stream that the string begins at
 * @throws YamlError
 */
export function parseNodes(source: string, firstLine: number): YamlNode | undefined {
  const control = controlCharacter.exec(source);
  if (control !== null)
    throw new YamlError('control characters are not allowed', lineCounter(source, firstLine)(control.index));
  const text = /:[,\]}]/.test(source) ? asLibyaml(source, { colons: true }) : source;
  try {
    return parse(text, firstLine);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    if (error.reason === 'deficient indentation')
      try {
        return parse(asLibyaml(text, { indentation: true }), firstLine);
      } catch (second) {
        if (second instanceof YAMLException) throw errorOf(second, firstLine);
        throw second;
      }
    throw errorOf(error, firstLine);
  }
}

function parse(source: string, firstLine: number): YamlNode | undefined {
  try {
    return compose(source, parseEvents(source, { maxDepth }), lineCounter(source, firstLine));
  } catch (error) {
    if (error instanceof RangeError) throw new YamlError('exceeded max depth', firstLine, { cause: error });
    throw error;
  }
}

/** Without the cause: it quotes the source, which may have secrets. */
function errorOf({ reason, mark }: YAMLException, firstLine: number): YamlError {
  return new YamlError(reason, (mark?.line ?? 0) + firstLine);
}

/** Builds the tree in a loop: a document may be nested deeper than the stack. */
function compose(source: string, events: readonly Event[], lineAt: (offset: number) => number): YamlNode | undefined {
  const anchors = new Map<string, YamlNode>();
  const open: CollectionNode[] = [];
  let root: YamlNode | undefined;
  let line = lineAt(0);
  const text = (start: number, end: number): string => (start < 0 ? '' : source.slice(start, end));
  const add = (node: YamlNode, anchor: string): void => {
    // Before its content, so that an alias in it finds the collection that contains it.
    if (anchor !== '') anchors.set(anchor, node);
    const parent = open.at(-1);
    if (parent === undefined) root ??= node;
    else parent.items.push(node);
  };
  for (const event of events.slice(1))
    switch (event.type) {
      case EVENT_ID.DOCUMENT:
        return root;
      case EVENT_ID.SEQUENCE:
      case EVENT_ID.MAPPING: {
        line = lineAt(event.start);
        const kind = event.type === EVENT_ID.SEQUENCE ? 'sequence' : 'mapping';
        const node: CollectionNode = { kind, line, items: [] };
        add(node, text(event.anchorStart, event.anchorEnd));
        open.push(node);
        break;
      }
      case EVENT_ID.SCALAR: {
        if (event.valueStart >= 0) line = lineAt(event.valueStart);
        const node: ScalarNode = {
          kind: 'scalar',
          line,
          tag: tagOf(text(event.tagStart, event.tagEnd)),
          isPlain: event.style === SCALAR_STYLE.PLAIN,
          source: scalarOf(source, event),
        };
        add(node, text(event.anchorStart, event.anchorEnd));
        break;
      }
      case EVENT_ID.ALIAS: {
        line = lineAt(event.anchorStart);
        const name = text(event.anchorStart, event.anchorEnd);
        const target = anchors.get(name);
        if (target === undefined) throw new YamlError(`unknown anchor '${name}' referenced`, line);
        add({ kind: 'alias', line, name, target }, '');
        break;
      }
      case EVENT_ID.POP:
        open.pop();
        break;
    }
  return root;
}

/** A block scalar whose last line the string ends in has no line break there. */
function scalarOf(source: string, event: ScalarEvent): string {
  if (event.style === SCALAR_STYLE.DOUBLE_QUOTED) requireEscapes(source, event);
  const value = getScalarValue(source, event);
  const isBlock = event.style === SCALAR_STYLE.LITERAL_BLOCK || event.style === SCALAR_STYLE.FOLDED_BLOCK;
  return isBlock && event.valueEnd >= source.length && !source.endsWith('\n') ? value.replace(/\n$/, '') : value;
}

/** go-yaml refuses escapes of surrogates, also in pairs, and beyond Unicode. @throws YAMLException */
function requireEscapes(source: string, { valueStart, valueEnd }: ScalarEvent): void {
  const text = source.slice(valueStart, valueEnd);
  if (!/\\[uU]/.test(text)) return;
  for (const match of text.matchAll(/\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|[^])/g)) {
    const digits = match[1] ?? match[2];
    const value = Number.parseInt(digits ?? '0', 16);
    if ((value >= 0xd800 && value <= 0xdfff) || value > 0x10ffff)
      YAMLException.throwAt(source, valueStart + match.index, 'found invalid Unicode character escape code');
  }
}

function tagOf(written: string): string {
  if (written.startsWith('!<')) return written.slice(2, -1);
  return written.startsWith('!!') ? `tag:yaml.org,2002:${written.slice(2)}` : written;
}

/** Lines of offsets that mostly grow. */
function lineCounter(source: string, firstLine: number): (offset: number) => number {
  let at = 0;
  let line = firstLine;
  return (offset) => {
    if (offset < at) {
      at = 0;
      line = firstLine;
    }
    for (let next = source.indexOf('\n', at); next !== -1 && next < offset; next = source.indexOf('\n', at)) {
      line++;
      at = next + 1;
    }
    return line;
  };
}
